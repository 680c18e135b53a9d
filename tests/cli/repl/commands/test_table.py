import inspect
from pathlib import Path

import pytest

from terp_cli.prompt.interface import typed_code
from terp_cli.repl.commands.every import TABLE, all_commands
from terp_cli.repl.commands.help import KEYS, about, overview, page, place
from terp_cli.repl.commands.table import GROUPS, Commands, Misused, SlashCommand, function
from tests.cli.repl.commands.here import Here

MAGICS = (
    "verbose", "reset", "undo", "save_message", "load_message", "tokens", "info", "jupyter", "markdown",
    "auto_run", "debug", "help",
)  # fmt: skip
COMMANDS = (
    "help", "model", "settings", "auto_run", "vars", "out", "reasoning", "restart", "reset", "undo", "retry",
    "rewind", "fork", "compact", "tokens", "cost", "resume", "export", "copy", "edit", "profile",
    "doctor", "allow", "attach", "install", "languages", "open", "python", "quit", "tools", "mcp",
    "trust", "rules", "until", "why", "save", "bg", "detach", "jobs", "code", "approve", "effects", "init",
    "rename", "diff", "skills", "plan", "go", "watch", "checkpoint",
)  # fmt: skip


FIRST = ("model", "auto_run", "vars", "out", "rewind", "resume", "reset", "save", "cost", "settings")
KEY = {"OPENAI_API_KEY": "none"}


def test_the_table_has_every_command_and_every_magic() -> None:
    assert {command.name for command in TABLE} == {*COMMANDS, *MAGICS}


def test_no_two_commands_share_a_name() -> None:
    names = [name for command in TABLE for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_what_a_row_names_is_there(row: SlashCommand) -> None:
    names = list(inspect.signature(function(row.calls)).parameters.values())
    assert (inspect.iscoroutinefunction(function(row.calls)), len(names)) == (True, 2)
    assert isinstance(row.completes, tuple) or callable(function(row.completes))
    assert row.group in GROUPS


def test_the_page_is_the_one_that_the_table_gives() -> None:
    written = place().read_text(encoding="utf-8")
    assert written == page(all_commands()), "write it anew: python -m terp_cli.repl.commands"


def test_help_tells_of_all_commands() -> None:
    told = list(overview(all_commands(), KEYS))
    missing = [command.name for command in TABLE if not any(command.usage in line for line in told)]
    assert missing == ["jupyter", "markdown", "save_message"]


async def test_help_shows_ten_commands_and_the_keys_on_a_screen(tmp_path: Path) -> None:
    told = await Here(tmp_path, environ={"TERM": "xterm"}).does("/help")
    assert len(told) <= 21 and max(map(len, told)) <= 80
    assert [line for line in told if line.endswith("…")] == []
    assert [line.split()[0] for line in told[:10]] == [f"/{name}" for name in FIRST]


async def test_help_names_no_keys_that_a_dumb_terminal_does_not_pass(tmp_path: Path) -> None:
    told = await Here(tmp_path, environ={"TERM": "dumb"}).does("/help")
    assert [line.split()[0] for line in told if line.startswith(("Ctrl", "Alt"))] == ["Ctrl+C", "Ctrl+D"]


async def test_clear_begins_a_new_conversation(tmp_path: Path) -> None:
    here = await Here(tmp_path).asked("one")
    await here.does("/clear")
    assert here.session.turns == ()


def test_help_about_one_command_tells_how_it_is_used() -> None:
    assert list(about(all_commands().named("/quit"))) == ["/quit  leave terp", "Also: /exit"]


async def test_a_command_gets_what_follows_its_name(tmp_path: Path) -> None:
    here = Here(tmp_path, environ=KEY)
    assert await here.does("/model  openai/o3 ") == ["The model is openai/o3."]
    here.picking.picked = 0
    title, first, *_ = await here.does("%model")
    assert (title, first.split("  ")[0]) == ("The model is openai/o3. Use which?", "* openai/o3")


async def test_a_line_end_separates_a_name_from_what_follows_too(tmp_path: Path) -> None:
    assert await Here(tmp_path, environ=KEY).does("/model\nopenai/o3") == ["The model is openai/o3."]


async def test_a_message_is_no_command(tmp_path: Path) -> None:
    for line in (
        "% of people",
        "/ or not",
        "// a note",
        " /usr is full",
        "what is /help?",
        "/usr/bin/env",
        "!ls",
        ">>> x",
        "%% ls",
        "",
    ):
        assert not await all_commands().run(Here(tmp_path), line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/modle", ("There is no command '/modle'.", "Did you mean /model?")),
        ("%vras", ("There is no command '%vras'.", "Did you mean /vars?")),
        ("/purge", ("There is no command '/purge'.", "/help all lists the commands.")),
        ("/xyz", ("There is no command '/xyz'.", "/help all lists the commands.")),
        ("/\u202ex", ("There is no command '/<U+202E>x'.", "/help all lists the commands.")),
        ("/help modle", ("There is no command '/modle'.", "Did you mean /model?")),
    ],
)
async def test_an_unknown_command_suggests_the_nearest(line: str, said: object, tmp_path: Path) -> None:
    with pytest.raises(Misused) as refused:
        await all_commands().named(line.split(maxsplit=1)[0]).run(Here(tmp_path), line.partition(" ")[2])
    assert (refused.value.message, refused.value.remedy) == said


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("//usr is full", "/usr is full"),
        (" /usr is full", "/usr is full"),
        (" %matplotlib inline", "%matplotlib inline"),
        ("// a note", "// a note"),
        ("//share/folder", "//share/folder"),
        (" words", " words"),
    ],
)
def test_what_keeps_a_message_from_being_a_command_is_no_part_of_it(line: str, message: str) -> None:
    assert not Commands.are_in(line)
    assert Commands.as_text(line) == message


@pytest.mark.parametrize("row", [row for row in TABLE if not row.argument], ids=lambda row: row.name)
async def test_a_command_that_takes_nothing_refuses_what_follows_it(
    row: SlashCommand, tmp_path: Path
) -> None:
    here = await Here(tmp_path).asked("one", "two")
    with pytest.raises(Misused) as refused:
        await here.does(f"/{row.name} 3")
    assert refused.value.message == f"/{row.name}: it takes no argument, and got '3'."
    assert (here.out.getvalue(), len(here.session.turns)) == ("", 2)


async def test_a_command_that_changes_something_waits_for_the_end_of_a_question(tmp_path: Path) -> None:
    here = await Here(tmp_path).asked("hello")
    with pytest.raises(Misused) as refused:
        await all_commands().run(here, "/undo", asked=True)
    assert refused.value.message == "/undo has to wait until the question is answered."
    assert len(here.session.turns) == 1


async def test_a_command_that_only_shows_something_runs_during_a_question(tmp_path: Path) -> None:
    here = Here(tmp_path)
    assert await all_commands().run(here, "/cost", asked=True)
    assert here.out.getvalue() == "No model has been called yet.\n"


async def test_a_slash_alone_asks_for_help(tmp_path: Path) -> None:
    assert await Here(tmp_path).does("/") == await Here(tmp_path).does("/help")


def test_names_and_arguments_are_completed(tmp_path: Path) -> None:
    commands, here = all_commands(), Here(tmp_path)
    assert ("tokens", "estimate the tokens of the next request") in list(commands.words())
    assert here.offered("export", "") == ["ipynb", "py", "md", "html"]
    assert list(commands.arguments(here, "auto_run", "of")) == [("off", "")]
    assert list(commands.arguments(here, "nothing", "")) == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("%% ls -l", ("shell", "ls -l")),
        ("%%ls -l", ("shell", "ls -l")),
        ("%%time", None),
        ("%%writefile a.py\nx = 1", None),
        ("%%", None),
    ],
)
def test_open_interpreters_shell_lines_are_code(line: str, code: object) -> None:
    assert typed_code(line, ("python", "shell")) == code
