"""What keeping variables for /rewind adds to the first run of a turn, and going back itself."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator

from bench.measure import Row, readable, show
from bench.namespace import NAMESPACES
from terp.events.kernel import KeepsPast, Kernel
from terp.events.outputs import RunEnded
from terp.kernels.jupyter.local import LocalKernels

# Each changes what the turn before it has left.
CHANGING = {
    "one number": "x += 1",
    "450 lists": "v0.append(1); v1.append(2)",
    "900 objects": "v0.a = v1",
    "60 tables and arrays": "table0.iloc[0, 0] += 1; array0[0] += 1",
    "100,000 names": "v0 += 1",
    "an array of 1 GB": "big[0] += 1",
    "nested lists, 50,000": "tree[0][0].append(1)",
    "a table of 40 MB": "table.iloc[0, 0] += 1",
}
# The names themselves are noted, the lists looked through until time is up, and the table is copied.
LIMITS_MS = {"100,000 names": 30, "nested lists, 50,000": 20, "a table of 40 MB": 60}
MORE = {
    "nested lists, 50,000": "tree = [[[n] for n in range(50)] for _ in range(1_000)]",
    "a table of 40 MB": "import numpy as np, pandas as pd\ntable = pd.DataFrame(np.ones((500_000, 10)))",
}


async def took_ms(kernel: Kernel, code: str, moment: int) -> float:
    began = time.perf_counter()
    async for item in kernel.execute(code, moment=moment):
        assert not isinstance(item, RunEnded) or item.status == "ok", item
    return (time.perf_counter() - began) * 1e3


async def measured(folder: str, rounds: int) -> list[Row]:
    kernel = LocalKernels(folder).get("python")
    rows, turn = list[Row](), 1
    for name, code in {**NAMESPACES, **MORE}.items():
        await took_ms(kernel, f"%reset -f\n{code}", turn)
        same, new = [], []
        for _ in range(rounds + 1):
            turn += 1
            # The first run of a turn keeps what it may change; the second finds it kept.
            new.append(await took_ms(kernel, CHANGING[name], turn))
            same.append(await took_ms(kernel, CHANGING[name], turn))
        first, second = statistics.median(new[1:]), statistics.median(same[1:])
        detail = f"{readable(first)} ms to {readable(second)} ms"
        limit = LIMITS_MS.get(name, 5)
        rows.append(Row(f"a turn's first run with {name}, more", first - second, "ms", limit, detail))
        assert isinstance(kernel, KeepsPast)
        began = time.perf_counter()
        await kernel.take_back(turn - 2, ())
        rows.append(Row("  three turns back", (time.perf_counter() - began) * 1e3, "ms", 3_000))
    await kernel.aclose()
    return rows


def rows(rounds: int = 30) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(measured(folder, rounds))


if __name__ == "__main__":
    show(str(__doc__), rows())
