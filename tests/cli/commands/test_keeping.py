"""/why and /save with real kernels: what they keep makes the same again."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest
from nbclient import NotebookClient

from terp.errors import TerpError
from terp.kernels.local import LocalKernels
from terp.person import AutoRun
from terp.session import Session
from terp.testing import ScriptedModel, call
from tests.cli.commands.talking import Noted

CODE = (
    "rows = [3, 1, 2]",
    "print(rows)",
    "rows.sort()",
    "rows.missing",
    "total = sum(rows) / 4\nprint(total, object())",
    "import random\nluck = random.random()",
    "open('made.txt', 'w').write(str(total))",
)


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    folder = tmp_path / "work"
    folder.mkdir()
    calls = [call(code, id=f"c{number}") for number, code in enumerate(CODE, 1)]
    made = Session(
        ScriptedModel(*calls, "done"), LocalKernels(str(folder)), AutoRun(), folder=folder / "session"
    )
    async with aclosing(made.turn("add them")) as events:
        async for _ in events:
            pass
    yield made
    await made.aclose()


@pytest.fixture
def talk(session: Session, tmp_path: Path) -> Noted:
    noted = Noted(tmp_path)
    noted.session = cast("Any", session)
    return noted


pytestmark = pytest.mark.filterwarnings("default")  # of nbclient and what it stands on


def shown(book: Any) -> list[str]:
    """The first word of each output of a notebook."""
    code = (cell for cell in book.cells if cell.cell_type == "code")
    return [output.text.partition(" ")[0] for cell in code for output in cell.outputs]


async def test_why_shows_the_code_that_made_a_value(talk: Noted) -> None:
    assert await talk.does("/why total") == [
        "total comes from 3 of 7 runs:",
        "run 1, for rows:",
        "    rows = [3, 1, 2]",
        "run 3, for rows:",
        "    rows.sort()",
        "run 5, for total:",
        "    total = sum(rows) / 4",
        "    print(total, object())",
    ]


async def test_why_says_that_nothing_made_it(talk: Noted) -> None:
    with pytest.raises(TerpError, match="No code of this session has made 'nothing'"):
        await talk.does("/why nothing")


async def test_a_saved_notebook_runs_with_equal_outputs(talk: Noted, tmp_path: Path) -> None:
    said = await talk.does(f"/save {tmp_path}/out.ipynb total")
    assert [line.rpartition(": ")[2] for line in said] == [
        "3 of 7 runs, kept for total.",
        "in a new kernel it makes and shows the same.",
    ]
    book = cast("Any", nbformat).read(tmp_path / "out.ipynb", as_version=4)
    before = shown(book)
    NotebookClient(book, timeout=60, kernel_name="python3").execute()
    assert (before, shown(book)) == (["1.5"], ["1.5"])
    assert book.cells[1].source.startswith("# /// script")


async def test_what_does_not_reproduce_is_told(talk: Noted, tmp_path: Path) -> None:
    said = await talk.does(f"/save {tmp_path}/luck.py luck")
    assert said[1] == "It does not reproduce. In a new kernel this differs:"
    assert said[2:4] == ["--- luck then", "+++ luck now"]
    assert "luck = random.random()" in (tmp_path / "luck.py").read_text()


async def test_code_that_touches_files_runs_again_after_a_question(talk: Noted, tmp_path: Path) -> None:
    said = await talk.does(f"/save {tmp_path}/files.py")
    assert said[1:] == [
        ("ask", "Run it once in a new kernel? It does again: writes."),
        "It was not run again.",
    ]


@pytest.mark.parametrize(
    "line", ["/save", "/save a.txt", "/save a.py x-y", "/save 'a.py", "/why", "/why a.b"]
)
async def test_what_cannot_be_meant_is_told(tmp_path: Path, line: str) -> None:
    with pytest.raises(TerpError, match=r"^/(save|why): "):
        await Noted(tmp_path).does(line)
