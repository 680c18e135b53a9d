"""What looking at the variables adds to a run, in namespaces of several kinds, and asking for them."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator

from bench.kernel import with_terp
from bench.measure import Row, readable, show
from terp.events.kernel import Kernel
from terp.kernels.jupyter.local import LocalKernels

TABLES = """
import numpy as np, pandas as pd
for n in range(30):
    globals()[f'table{n}'] = pd.DataFrame(np.random.rand(10_000, 12))
    globals()[f'array{n}'] = np.random.rand(200, 200)
"""
WIDE = """
import numpy as np, pandas as pd
wide = pd.DataFrame({str(n): np.random.rand(10**6) for n in range(10)})
"""
NAMESPACES = {
    "one number": "x = 1",
    "450 lists": "for n in range(450): globals()[f'v{n}'] = [n] * 100",
    "900 objects": "class A: pass\nfor n in range(900): globals()[f'v{n}'] = A()",
    "60 tables and arrays": TABLES,
    "100,000 names": "for n in range(100_000): globals()[f'v{n}'] = n",
    "10,000,000 cells, changed": WIDE,
    "an array of 1 GB": "import numpy as np\nbig = np.ones(125_000_000)",
}
MENTIONING = {
    "10,000,000 cells, changed": "wide = wide.copy(deep=False);",
    "60 tables and arrays": "table0.shape, array0.shape;",
    "an array of 1 GB": "big.shape;",
}


async def median_ms(rounds: int, ask: Callable[[], Awaitable[object]]) -> float:
    """The median of several calls, after one that warms up."""
    taken = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        await ask()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[1:]) * 1e3


async def compare(folder: str, rounds: int) -> list[Row]:
    kernels = LocalKernels(folder)
    kernel: Kernel = kernels.get("python")
    await kernel.start()

    def run(code: str) -> Callable[[], Awaitable[object]]:
        return lambda: with_terp(kernel, code)

    empty = await median_ms(rounds, run("1;"))
    rows = []
    for name, code in NAMESPACES.items():
        await with_terp(kernel, f"%reset -f\n{code}")
        took = await median_ms(rounds, run(MENTIONING.get(name, "1;")))
        detail = f"{readable(took)} ms to {readable(empty)} ms"
        rows.append(Row(f"a run with {name}, more", took - empty, "ms", 5, detail))
        listed = await median_ms(max(3, rounds // 10), kernel.variables)
        rows.append(Row("  its variables, listed", listed, "ms", 300))
    rows.append(Row("completion", await median_ms(rounds, lambda: kernel.complete("bi", 2)), "ms", 150))
    rows.append(Row("names", await median_ms(rounds, kernel.names), "ms", 150))
    await kernels.aclose()
    return rows


def rows(rounds: int = 60) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(compare(folder, rounds))


if __name__ == "__main__":
    show(str(__doc__), rows())
