"""The table of commands."""

from terp_cli.line.subcommands import SUBCOMMANDS
from terp_cli.program import COMMANDS, command


def test_each_command_of_the_help_names_a_function() -> None:
    # A shell's completions are answered before the table is imported.
    named = {one.name for one in SUBCOMMANDS} - {"completions"}
    assert named == COMMANDS.keys() - {""}
    assert [name for name in COMMANDS if not callable(command(name))] == []
