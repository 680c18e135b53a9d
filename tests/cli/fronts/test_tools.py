"""`terp tools`, `/tools` and consent to edits at the terminal."""

from pathlib import Path

from terp.tools.files.declared import Parameter, Tool
from terp.tools.toolbox import Toolbox
from tests.cli.repl.commands.here import Here
from tests.cli.running import Terp

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202ename"
TOOLS = "from nowhere import x\n@register_tool\ndef get_weather(city: str, days: int = 1):\n    'Tells it.'\n"
BAD = "@register_tool\ndef bad(x):\n    'Does it.'\n"


async def test_tools_are_listed_with_arguments_and_source(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.session.resources.toolbox = Toolbox(
        (
            Tool("search", "d", (), "terp", missing="a key."),
            Tool("f", "d", (Parameter("x", "int"),), "tools.py:3"),
            Tool("asked", "d", (), "t.yaml:1", "manual"),
        ),
        ("tools.py:9: bad: parameter `x` has no type annotation.",),
    )
    assert await here.does("/tools") == [
        "f       (x: int)  tools.py:3",
        "asked   ()        t.yaml:1, answered by you",
        "search  ()        missing: a key.",
        "tools.py:9: bad: parameter `x` has no type annotation.",
    ]


async def test_without_tools_it_is_said_why(tmp_path: Path) -> None:
    assert await Here(tmp_path).does("/tools") == [
        "There are no tools: they are functions of the Python kernel, and Python does not run here."
    ]


def test_the_command_lists_them_without_running_their_file(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    (terp.home / "tools.py").write_text(TOOLS + BAD)
    result = terp("tools")
    assert result.code == 0
    assert "get_weather  (city: str, days: int = 1)" in result.out
    assert result.notes.endswith("tools.py:6: bad: parameter `x` has no type annotation.\n")


def test_a_tool_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    result = Terp(tmp_path)("tools", "--tools", "gone.py")
    assert (result.code, result.out) == (2, "")
    assert result.notes == "terp: tools: 'gone.py' cannot be read: No such file or directory.\n"


def test_nothing_that_a_tool_file_says_reaches_the_terminal_raw(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    name = terp.cwd / f"{HOSTILE}.py"
    name.write_text(f"@register_tool\ndef f(x: int = {HOSTILE!r}):\n    {HOSTILE!r}\n{BAD}")
    result = terp("tools", "--tools", str(name))
    assert "f " in result.out
    assert "bad" in result.notes
    assert {*result.out, *result.notes} & {"\x1b", "\x07", "\x9b", "\u202e"} == set()


def test_problems_are_told_before_the_answer(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    project = terp.cwd / ".terp"
    project.mkdir()
    (project / "tools.py").write_text("raise SystemExit('ran')")
    result = terp.asked(["hello"], "hi")
    assert (result.code, result.out) == (0, "hello\n")
    assert result.notes == (
        "terp: this project is not trusted, so nothing is taken from it: .terp/tools.py. See: terp trust\n"
    )
