"""Telling what code would do, in CPU time: 100 lines as a model writes them, and 200 kB of them."""

import ast
import time
from collections.abc import Iterator

from bench.measure import Row, medians, ratio, show
from terp.analysis.effects.cells import MOST_CHARACTERS, effects_of

HEAD = "import pandas as pd\nimport matplotlib.pyplot as plt\nfrom pathlib import Path\n"
STEP = """df{0} = pd.read_csv(Path("data") / f"part_{{year}}_{0}.csv")
df{0} = df{0}.dropna(subset=["price"]).rename(columns={{"old": "new"}})
df{0}["total"] = df{0}["price"] * df{0}["count"]
means{0} = df{0}.groupby("kind").agg({{"total": ["mean", "sum"], "count": "max"}})
for name, row in means{0}.iterrows():
    print(f"{{name:>12}}: {{row['total']:.2f}}")
def share{0}(value, total=1.0):
    return round(100 * value / total, 2) if total else 0.0
fig, ax = plt.subplots(figsize=(8, 4))
ax.bar([str(n) for n in means{0}.index], [share{0}(v) for v in means{0}["count"]])
"""
COMMANDS = 'for f in data/*.csv; do head -n 1 "$f" | cut -d, -f1-3 | sort -u >> heads.txt; done\n'


def python(lines: int) -> str:
    return HEAD + "year = 2024\n" + "".join(STEP.format(at) for at in range(lines // 10))


def seconds(language: str, code: str) -> float:
    began = time.process_time()
    effects = effects_of(language, code)
    taken = time.process_time() - began
    if "cannot tell" in effects.kinds:
        raise SystemExit(f"{language}: {effects}")
    return taken


def parsing(code: str) -> float:
    began = time.process_time()
    ast.parse(code)
    return time.process_time() - began


def rows(rounds: int = 5) -> Iterator[Row]:
    most = MOST_CHARACTERS // len(STEP) * 10 - 100
    cases = {
        "100": lambda: seconds("python", python(100)),
        "parse": lambda: parsing(python(100)),
        "1000": lambda: seconds("python", python(1_000)),
        "most": lambda: seconds("python", python(most)),
        "shell": lambda: seconds("shell", COMMANDS * 100),
    }
    taken = medians(rounds, cases)
    yield ratio("100 lines of Python", "ast.parse", taken["100"], taken["parse"], 7)
    yield ratio(f"{most:,} lines", "1,000 lines", taken["most"], taken["1000"], 1.2 * most / 1_000)
    yield Row("100 lines of shell", taken["shell"] * 1e3, "ms", 25)


if __name__ == "__main__":
    show(str(__doc__), rows())
