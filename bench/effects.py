"""What code would do, read before it runs: 100 lines as a model writes them, and 200 kB of them."""

import time
from collections.abc import Iterator

from bench.measure import Row, medians, readable, show
from terp.effects.analysis import MOST_CHARACTERS, effects_of

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
    began = time.perf_counter()
    effects = effects_of(language, code)
    taken = time.perf_counter() - began
    if "cannot tell" in effects.kinds:
        raise SystemExit(f"{language}: {effects}")
    return taken


def rows(rounds: int = 5) -> Iterator[Row]:
    fill = MOST_CHARACTERS // len(STEP) * 10 - 100
    cases = {
        "100": lambda: seconds("python", python(100)),
        "1000": lambda: seconds("python", python(1_000)),
        "all": lambda: seconds("python", python(fill)),
        "shell": lambda: seconds("shell", COMMANDS * 100),
    }
    taken = medians(rounds, cases)
    yield Row("100 lines of Python", taken["100"] * 1e3, "ms", 5)
    yield Row(
        "1,000 lines", taken["1000"] / taken["100"], "× 100 lines", 12, f"{readable(taken['1000'] * 1e3)} ms"
    )
    yield Row("200 kB of Python", taken["all"] * 1e3, "ms", 1_500)
    yield Row("100 lines of shell", taken["shell"] * 1e3, "ms", 15)


if __name__ == "__main__":
    show(str(__doc__), rows())
