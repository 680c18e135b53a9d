"""The least that a cell of the shell costs, beside one of Python."""

import asyncio
import tempfile
from collections.abc import Iterator

from bench.kernel import in_turns, with_terp
from bench.measure import Row, ratio, show
from terp.kernels.jupyter.local import LocalKernels


async def compare(folder: str, rounds: int) -> list[Row]:
    kernels = LocalKernels(folder)
    python, shell = kernels.get("python"), kernels.get("shell")
    took = await in_turns(
        rounds, {"shell": lambda: with_terp(shell, ":"), "python": lambda: with_terp(python, "pass")}
    )
    await kernels.aclose()
    return [ratio(":", "pass", took["shell"], took["python"], 1.5)]


def rows(rounds: int = 300) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(compare(folder, rounds))


if __name__ == "__main__":
    show(str(__doc__), rows())
