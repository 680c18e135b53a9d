"""/why and /save with real kernels: what they keep makes the same again."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest
from nbclient import NotebookClient

from terp.errors import TerpError
from terp.kernels.jupyter.local import LocalKernels
from terp.person import AutoRun
from terp.session.session import Session
from terp.testing import ScriptedModel, call
from tests.cli.repl.commands.here import Here

CODE = (
    "rows = [3, 1, 2]",
    "print(rows)",
    "rows.sort()",
    "rows.missing",
    "total = sum(rows) / 4\nprint(total, object())",
    "import random\nluck = random.random()",
    "open('made.txt', 'w').write(str(total))",
)


async def ran(folder: Path, *codes: str) -> Session:
    """A session in which these have run."""
    folder.mkdir()
    calls = [call(code, id=f"c{number}") for number, code in enumerate(codes, 1)]
    made = Session(
        ScriptedModel(*calls, "done"), LocalKernels(str(folder)), AutoRun(), folder=folder / "session"
    )
    async with aclosing(made.turn("add them")) as events:
        async for _ in events:
            pass
    return made


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    async with aclosing(await ran(tmp_path / "work", *CODE)) as made:
        yield made


@pytest.fixture
def here(session: Session, tmp_path: Path) -> Here:
    return Here(tmp_path, session=session)


pytestmark = pytest.mark.filterwarnings("default")  # of nbclient and what it stands on


def shown(book: Any) -> list[str]:
    """The first word of each output of a notebook."""
    code = (cell for cell in book.cells if cell.cell_type == "code")
    return [output.text.partition(" ")[0] for cell in code for output in cell.outputs]


async def test_why_shows_the_code_that_made_a_value(here: Here) -> None:
    assert await here.does("/why total") == [
        "total comes from 3 of 7 runs:",
        "run 1, for rows:",
        "    rows = [3, 1, 2]",
        "run 3, for rows:",
        "    rows.sort()",
        "run 5, for total:",
        "    total = sum(rows) / 4",
        "    print(total, object())",
    ]


async def test_why_says_that_a_later_run_may_need_code_without_names(tmp_path: Path) -> None:
    async with aclosing(
        await ran(tmp_path / "work", "rows = [3]", "print(len(rows))", "eval('rows')")
    ) as made:
        shown = await Here(tmp_path, session=made).does("/why rows")
    assert [line for line in shown if line[:3] == "run"] == [
        "run 1, for rows:",
        "run 2, kept, as a later run may need it:",
        "run 3, kept, as it calls eval:",
    ]


async def test_why_says_that_nothing_made_it(here: Here) -> None:
    with pytest.raises(TerpError, match="No code of this session has made 'nothing'"):
        await here.does("/why nothing")


async def test_a_saved_notebook_runs_with_equal_outputs(here: Here, tmp_path: Path) -> None:
    said = await here.does(f"/save {tmp_path}/out.ipynb total")
    assert [line.rpartition(": ")[2] for line in said] == [
        "3 of 7 runs, kept for total.",
        "in a new kernel it makes and shows the same.",
    ]
    book = cast("Any", nbformat).read(tmp_path / "out.ipynb", as_version=4)
    before = shown(book)
    NotebookClient(book, timeout=60, kernel_name="python3").execute()
    assert (before, shown(book)) == (["1.5"], ["1.5"])
    assert book.cells[1].source.startswith("# /// script")


async def test_what_does_not_reproduce_is_told(here: Here, tmp_path: Path) -> None:
    said = await here.does(f"/save {tmp_path}/luck.py luck")
    assert said[1] == "It does not reproduce. In a new kernel this differs:"
    assert said[2:4] == ["--- luck then", "+++ luck now"]
    assert "luck = random.random()" in (tmp_path / "luck.py").read_text()


async def test_a_saved_script_runs_as_a_program_and_prints_the_same(here: Here, tmp_path: Path) -> None:
    said = await here.does(f"/save {tmp_path}/out.py total")
    assert said[1:] == [
        "It reproduces: as a script it prints the same, and in a new kernel it makes and shows the same."
    ]
    program = await asyncio.create_subprocess_exec(
        sys.executable, str(tmp_path / "out.py"), stdout=subprocess.PIPE
    )
    assert (await program.communicate())[0].startswith(b"1.5 <object object")


@pytest.mark.parametrize(
    ("code", "differs"),
    [
        (
            "value = 'get_ipython' in globals()\nprint('first')\nprint(value)",
            ["--- out.py then", "+++ out.py now", "@@ -1,2 +1,2 @@", " first", "-True", "+False"],
        ),
        (
            "value = get_ipython().execution_count > 0\nprint(value)",
            [
                *("--- out.py then", "+++ out.py now", "@@ -1 +1 @@", "-True", "+"),
                "out.py did not run to its end.",
                "NameError: name 'get_ipython' is not defined",
            ],
        ),
    ],
)
async def test_what_holds_in_a_kernel_alone_is_told_of_the_script(
    tmp_path: Path, code: str, differs: list[str]
) -> None:
    async with aclosing(await ran(tmp_path / "work", code)) as session:
        said = await Here(tmp_path, session=session).does(f"/save {tmp_path}/out.py value")
    began = said.index("It does not reproduce. As a script this differs:")
    assert [line for line in said[began + 1 :] if line == " first" or line[0] not in " T"] == differs


async def test_what_is_displayed_or_put_out_by_a_command_is_printed_by_the_script_too(tmp_path: Path) -> None:
    code = (
        "import pandas as pd\nvalue = pd.DataFrame({'a': [1]})\ndisplay(value)\n!echo out\nprint('é')\nvalue"
    )
    figure = "import matplotlib.pyplot as plt\nplt.plot([len(value)])\nplt.show()\nvalue = value + 1"
    async with aclosing(await ran(tmp_path / "work", code, figure)) as session:
        here = Here(tmp_path, session=session)
        here.user.yes = True
        said = await here.does(f"/save {tmp_path}/out.py value")
    assert said[-1].startswith("It reproduces: as a script")


async def test_code_that_touches_files_runs_again_after_a_question(here: Here, tmp_path: Path) -> None:
    said = await here.does(f"/save {tmp_path}/files.py")
    assert said[1:] == [
        "? Run it once as a script and in a new kernel? It does twice: writes.",
        "It was not run again.",
    ]


@pytest.mark.parametrize(
    "line", ["/save", "/save a.txt", "/save a.py x-y", "/save 'a.py", "/why", "/why a.b"]
)
async def test_what_cannot_be_meant_is_told(tmp_path: Path, line: str) -> None:
    with pytest.raises(TerpError, match=r"^/(save|why): "):
        await Here(tmp_path).does(line)
