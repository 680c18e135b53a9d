"""The commands of the REPL, in one table: what is not in it is not shown, and what is in it works.

    commands = all_commands()                       # terp_cli.commands.every
    if not await commands.run(talk, line):          # not for a message, nor for typed code
        …

`/help`, what the prompt completes and docs/commands.md are made from the table. A command function calls
what a `Talk` offers (`terp_cli.commands.talk`) and contains nothing of its own.

`Command` and `Commands` of this module serve a REPL that brings its own few commands and is no `Talk`.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from terp_cli.sanitise import one_line


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name without the slash, its argument for `/help`, what it does, and doing it."""

    name: str
    argument: str
    does: str
    run: Callable[[str], Awaitable[None]]


class Commands:
    """Looks commands up by what was typed."""

    def __init__(self, table: Sequence[Command]) -> None:
        self._table = {command.name: command for command in table}

    @staticmethod
    def are_in(line: str) -> bool:
        """Whether a line is a command: `/name`, or `%name` as in Open Interpreter; not a path."""
        name = line[1:].split(maxsplit=1)[0] if line[:1] in ("/", "%") and line[1:].strip() else ""
        return name.replace("_", "").isalnum() or line.strip() in ("/", "%")

    def help(self) -> list[str]:
        """A line for each command."""
        table = self._table.values()
        shown = [(f"/{command.name} {command.argument}".rstrip(), command.does) for command in table]
        width = max((len(usage) for usage, _ in shown), default=0)
        return [f"{usage:{width}}  {does}" for usage, does in shown]

    async def run(self, line: str) -> str:
        """Do what `line` says; what to tell the person when there is no such command, else ""."""
        name, _, argument = line[1:].strip().partition(" ")
        command = self._table.get(name)
        if command is not None:
            await command.run(argument.strip())
            return ""
        from difflib import get_close_matches  # noqa: PLC0415  (for a mistake only)

        near = get_close_matches(name, self._table, n=1, cutoff=0.5)
        hint = f" Did you mean /{near[0]}?" if near else " /help lists all commands."
        return f"There is no command '/{one_line(name)}'.{hint}"
