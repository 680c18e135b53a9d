"""`out[N]` in a kernel: what an earlier run of the session put out."""

from pathlib import Path
from typing import Any

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import BackCall, Display, Error, RunStarted
from tests.core.kernels.running import Ran, ran
from tests.core.kernels.test_asking import answering

LINES = "".join(f"line {n}\n" for n in range(5_000)) + "\x1b[31mERR\x1b[0mOR: größe\n"


def found(path: Path | None, **more: Any) -> dict[str, Any]:
    return {"number": 4, "path": str(path or ""), "status": "ok", "language": "python", "images": [], **more}


@pytest.fixture
def spooled(tmp_path: Path) -> Path:
    path = tmp_path / "c4.txt"
    path.write_text(LINES, encoding="utf-8")
    return path


ASKED = [
    ("len(out[4].text)", str(len(LINES) - len("\x1b[31m\x1b[0m"))),
    ("out[4].tail(2)", "line 4999\nERROR: größe"),
    ("out[4].head(2)", "line 0\nline 1"),
    ("out[4].grep('^ERR|499$')", "500: line 499\n1500: line 1499\n2500: line 2499\n3500: line 3499\n"
     "4500: line 4499\n5001: ERROR: größe"),
    ("out[4].grep('line', most=1)", "1: line 0"),
    ("out[4].grep('nothing')", ""),
    ("type(out[4].text.splitlines()).__name__", "'list'"),
    ("out[4].images", "['/p.png']"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "shown"), ASKED)
async def test_an_output_can_be_searched_and_cut(
    kernel: Kernel, spooled: Path, code: str, shown: str
) -> None:
    run = await answering(kernel, code, found(spooled, images=["/p.png"]))
    assert BackCall("run_output", {"number": 4}) in run.items
    assert run.results == [shown]


async def test_an_output_tells_in_short_what_it_is(kernel: Kernel, spooled: Path) -> None:
    whole = await answering(kernel, "out[4]", found(spooled))
    size = f"{spooled.stat().st_size:,}"
    asked = ".text .grep(pattern) .head(n) .tail(n) .images"
    assert whole.results == [f"<output of run 4: {size} bytes, python ok; {asked}>"]
    long = await answering(kernel, "out[4].text", found(spooled))
    assert len(long.results[0]) < 4_100
    nothing = await answering(kernel, "out[4].text, out[4].tail(), len(out[4])", *[found(None)] * 3)
    assert nothing.results == ["(, , 0)"]


async def test_a_run_that_is_not_there_is_a_key_error_with_those_that_are(kernel: Kernel) -> None:
    run = await answering(kernel, "out[9]", ValueError("There is no run 9. There are 1, 2."))
    error = next(item for item in run.items if isinstance(item, Error))
    assert (error.name, error.value) == ("KeyError", "'There is no run 9. There are 1, 2.'")
    assert not any("terp_home" in part for part in error.traceback)
    assert "takes the number of a run, not str" in str((await ran(kernel, "out['x']")).items)


async def test_out_is_no_variable_and_a_variable_of_its_name_comes_first(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    assert "out" not in await kernel.names()
    assert (await ran(kernel, "out = 3\nout")).results == ["3"]
    assert list(await kernel.names()) == ["out"]
    assert (await ran(kernel, "del out\nprint(out)")).stdout.startswith(
        "<outputs of earlier runs: out[N].text"
    )


async def numbered(kernel: Kernel, code: str, number: int) -> Ran:
    return Ran([item async for item in kernel.execute(code, number=number)])


async def test_a_kernel_counts_as_its_session_does(kernel: Kernel) -> None:
    await kernel.restart()
    run = await numbered(kernel, "kept = 1\nkept", 7)
    assert run.items[0] == RunStarted(7)
    assert "line 1" in str((failed := await numbered(kernel, "1/0", 9)).items)
    assert "In[9]" in str(failed.items).replace("\\x1b[32m", "")
    run = await numbered(kernel, "In[7], Out[7]", 10)
    assert [item.data["text/plain"] for item in run.items if isinstance(item, Display)] == [
        "('kept = 1\\nkept', 1)"
    ]


async def test_a_run_tells_how_its_output_is_read_again(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    assert (await numbered(kernel, "1", 500)).ended.recall == "out[500]"
    assert (await numbered(kernel, "out = 1", 501)).ended.recall == ""
    assert (await numbered(kernel, "del out", 502)).ended.recall == "out[502]"
    assert (await ran(kernel, "1")).ended.recall == ""
