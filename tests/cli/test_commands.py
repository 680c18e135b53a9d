import pytest

from terp_cli.commands import Command, Commands


def commands(ran: list[str]) -> Commands:
    async def note(argument: str) -> None:
        ran.append(argument)

    return Commands([Command("help", "", "show this", note), Command("model", "[NAME]", "change it", note)])


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("/help", True),
        ("%model x", True),
        ("/auto_run", True),
        ("/", True),
        ("help", False),
        ("/usr/bin/env", False),
        ("what is /help?", False),
        ("%% ls", False),
        ("", False),
    ],
)
def test_a_command_is_told_from_a_message(line: str, is_one: bool) -> None:
    assert Commands.are_in(line) is is_one


async def test_a_command_gets_what_follows_its_name() -> None:
    ran: list[str] = []
    assert await commands(ran).run("/model  openai/gpt-4o ") == ""
    assert ran == ["openai/gpt-4o"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/modle", "There is no command '/modle'. Did you mean /model?"),
        ("/xyz", "There is no command '/xyz'. /help lists all commands."),
    ],
)
async def test_an_unknown_command_suggests_the_nearest(line: str, said: str) -> None:
    assert await commands([]).run(line) == said


def test_help_has_a_line_for_each_command() -> None:
    assert commands([]).help() == ["/help          show this", "/model [NAME]  change it"]
