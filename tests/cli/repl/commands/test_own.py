"""Commands of the user's own: what becomes of the file, and what is asked before its shell commands run."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.errors import TerpError
from terp.settings.places import Places
from terp.settings.project.files import Project, ProjectFile
from terp.testing import EchoKernel
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.help import KEYS, about, overview
from terp_cli.repl.commands.own import filled, own_commands
from tests.cli.repl.commands.here import Here

REVIEW = """\
---
description: Review a file
argument-hint: [file] [what]
allowed-tools: Bash(git status:*)
---
Review @$1 for $2. State: !`wc $1`
"""


def write(folder: Path, **bodies: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in bodies.items():
        (folder / f"{name}.md").write_text(body)
    return folder


@pytest.mark.parametrize(
    ("body", "argument", "prompt", "commands"),
    [
        ("Do $ARGUMENTS now", "a 'b c'", "Do a 'b c' now", []),
        ("$2 before $1, $3.", "a 'b c'", "b c before a, .", []),
        ("Do it.", "", "Do it.", []),
        ("Do it.", "at once", "Do it.\n\nat once", []),
        ("See !`git log`", "", "See `git log` (you have its output)", ["git log"]),
        ("!`cat $1` and !`wc $ARGUMENTS`", "'a b' c",
         "`cat 'a b'` (you have its output) and `wc 'a b' c` (you have its output)",
         ["cat 'a b'", "wc 'a b' c"]),
        ("$ARGUMENTSX costs $10", "x", "$ARGUMENTSX costs x0", []),
    ],
)  # fmt: skip
def test_arguments_have_their_places(body: str, argument: str, prompt: str, commands: list[str]) -> None:
    assert filled(body, argument) == (prompt, commands)


@given(st.text(alphabet="abc `'\"$;|&\n!\\", max_size=30))
def test_an_argument_adds_no_command_of_the_shell(argument: str) -> None:
    try:
        _, commands = filled("!`echo $1` $ARGUMENTS", argument)
    except TerpError:
        return
    assert len(commands) == 1


def test_a_quote_that_is_not_closed_is_an_error() -> None:
    with pytest.raises(TerpError, match=r"A quote in the argument is not closed\."):
        filled("$1", "it's")


def test_commands_of_the_user_win_over_those_of_a_project(tmp_path: Path) -> None:
    own = write(tmp_path / "config/commands", ship="Mine.", only_mine="Mine.")
    theirs = [ProjectFile(tmp_path / f".terp/commands/{name}.md", b"Theirs.") for name in ("ship", "stop")]
    project = Project(tmp_path, tmp_path, commands=tuple(theirs))
    found, problems = own_commands(Places(own.parent, tmp_path), project, all_commands())
    assert {one.name: one.body for one in found} == {
        "ship": "Mine.",
        "only_mine": "Mine.",
        "stop": "Theirs.",
    }
    assert problems == []


def test_a_file_that_is_no_command_is_named(tmp_path: Path) -> None:
    own = write(tmp_path / "commands", empty="---\ndescription: x\n---\n", help="x")
    (own / "two words.md").write_text("x")
    found, problems = own_commands(Places(tmp_path, tmp_path), Project(tmp_path, tmp_path), all_commands())
    assert found == []
    assert [line.removeprefix(f"{own}/") for line in problems] == [
        "empty.md has no text to send.",
        "help.md has the name of terp's own command /help; rename the file.",
        "two words.md has a name with other characters than letters, digits, - and _.",
    ]


def test_help_lists_the_users_commands_first(tmp_path: Path) -> None:
    write(tmp_path / "terp/commands", **{"review-file": REVIEW})
    commands = all_commands(Here(tmp_path).own_commands)
    lines = list(overview(commands, KEYS))
    assert [lines[0], " ".join(lines[1].split())] == ["Yours", "/review-file [file] [what] Review a file"]
    assert list(about(commands.named("review-file"))) == [
        "/review-file [file] [what]  Review a file",
        f"In {tmp_path}/terp/commands/review-file.md. It asks for Bash(git status:*), which is not granted.",
    ]


class ShellKernel(EchoKernel):
    """A kernel for shell code."""

    language = "shell"
    languages = ("shell",)


async def run(here: Here, line: str) -> None:
    assert await all_commands(here.own_commands).run(here, line)


async def test_a_command_becomes_the_next_prompt_with_its_files(tmp_path: Path) -> None:
    write(tmp_path / "terp/commands", look="Look at @$1.")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    here = Here(tmp_path)
    await run(here, "/look t.csv")
    (prompt, attached), = here.next  # fmt: skip
    assert (prompt, [one.name for one in attached]) == ("Look at @t.csv.", ["t.csv"])


async def test_a_command_of_the_shell_runs_only_after_a_yes(tmp_path: Path) -> None:
    write(tmp_path / "terp/commands", state="State: !`git status`")
    here = Here(tmp_path, kernels=ShellKernel())
    await run(here, "/state")
    assert here.out.getvalue().splitlines() == ["? Run `git status` for /state?", "/state was not sent."]
    kernel = here.session.kernels.get("shell")
    assert isinstance(kernel, ShellKernel)
    assert (kernel.ran, list(here.next)) == ([], [])
    here.user.yes = True
    await run(here, "/state")
    assert kernel.ran == ["git status"]
    assert [prompt for prompt, _ in here.next] == ["State: `git status` (you have its output)"]
