import json
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from terp.events.outputs import Display, Error, Output, Text
from terp.events.run_log import LoggedRun
from terp.store.export.notebook import notebook
from terp.store.export.story import Story
from tests.core.store.export.scripted import story as scripted
from tests.core.store.export.scripted import told


def read(text: str, as_version: int = 4) -> Any:
    return nbformat.reads(text, as_version)  # type: ignore[no-untyped-call]


def cells(*runs: LoggedRun) -> list[Any]:
    """The code cells of a notebook that reads itself back."""
    book = read(notebook(Story("s", runs)).text, as_version=4)
    nbformat.validate(book)
    return [cell for cell in book.cells if cell.cell_type == "code"]


def run(code: str, *outputs: Output, **facts: Any) -> LoggedRun:
    given: dict[str, Any] = {
        "language": "python",
        "code": code,
        "fate": "ok",
        "number": 1,
        "outputs": outputs,
    } | facts
    return LoggedRun("", **given)


def test_the_scripted_session_is_a_valid_notebook() -> None:
    book = read(notebook(scripted()).text, as_version=4)
    nbformat.validate(book)
    assert len(book.cells) == len(scripted().parts) + 1


def test_text_that_utf8_cannot_hold_is_mended() -> None:
    (cell,) = cells(run("x = '\ud800'", Text("stdout", "\ud83d\ude00\udfff")))
    assert (cell.source, cell.outputs[0].text) == ("x = '\ufffd'", "😀\ufffd")


def test_a_type_of_json_stays_json() -> None:
    data = {"application/json": {"a": [1]}, "text/plain": "x", "application/x-odd": 5}
    (cell,) = cells(run("x", Display(data)))
    assert dict(cell.outputs[0].data) == {**data, "application/x-odd": "5"}


def test_code_of_a_language_without_a_magic_is_shown_with_its_output() -> None:
    book = json.loads(notebook(Story("s", (run("1 + 1", Text("stdout", "2"), language="julia"),))).text)
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in book["cells"][1:]] == [
        ("markdown", "```julia\n1 + 1\n```"),
        ("code", ""),
    ]


@pytest.mark.parametrize(
    ("facts", "tags"),
    [
        ({"fate": "ok"}, None),
        ({"fate": "error"}, ["raises-exception"]),
        ({"fate": "ok", "asked": True}, ["raises-exception"]),
        ({"fate": "interrupted"}, ["skip-execution"]),
        ({"fate": "died"}, ["skip-execution"]),
    ],
)
def test_cells_that_cannot_run_again_as_they_did_are_tagged(facts: Any, tags: list[str] | None) -> None:
    (cell,) = cells(run("x", **facts))
    assert cell.metadata.get("tags") == tags


@pytest.mark.filterwarnings("default")  # of nbclient and what it stands on
def test_a_notebook_runs_again_from_the_top() -> None:
    story = Story(
        "s",
        (
            run("x = 6 * 7\nprint(x)"),
            run("x.missing", Error("AttributeError", ""), fate="error", number=2),
            run("rm -rf /", language="shell", fate="declined", number=0),
            run("while True: pass", fate="interrupted", number=3),
            run("echo from bash", language="shell", number=4),
            run("y = input('?')", asked=True, number=5),
            run("x + 1", number=6),
        ),
    )
    book = read(notebook(story).text, as_version=4)
    NotebookClient(book, timeout=60, kernel_name="python3").execute()
    ran = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [[told_by(output) for output in cell.outputs] for cell in ran] == [
        ["42\n"],
        ["AttributeError"],
        [],
        ["from bash\n"],
        ["StdinNotImplementedError"],
        ["43"],
    ]


def told_by(output: Any) -> str:
    return str(output.get("text") or output.get("ename") or output.data["text/plain"])


def test_an_empty_story_is_a_notebook_too() -> None:
    assert read(notebook(told()).text, as_version=4).cells[0].source == "# 2026-11-21-abcd"
