"""Commands: their declaration, the recognition of one in a line, and the lookup by name."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from terp.errors import StopReason, TerpError
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from terp_cli.repl.context import ReplContext

Group = Literal["Conversation", "Code", "Session", "terp"]
GROUPS: tuple[Group, ...] = ("Conversation", "Code", "Session", "terp")


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One command: what it is called, in which forms, and what it does.

    `argument` is how `/help` shows what may follow the name; `more` is what `/help NAME` adds. One that only
    `shows` something can be done while a question is open; one is done `at_once` when it is entered while a
    turn is running, where others wait for its end. `calls` names
    the function that does it and `completes` the function that completes its argument, both
    as `module.function` of this package: they are imported when they are called, as few talks need many.
    `completes` can also be the words themselves.
    """

    name: str
    argument: str
    does: str
    group: Group
    calls: str
    more: str = ""
    aliases: tuple[str, ...] = ()
    completes: str | tuple[str, ...] = ()
    shows: bool = False
    at_once: bool = False

    @property
    def usage(self) -> str:
        """The name and what may follow it: `/out [N]`."""
        return f"/{self.name} {self.argument}".rstrip()

    async def run(self, context: "ReplContext", argument: str) -> None:
        """Do it.

        Raises:
            TerpError: it cannot be done.
        """
        if argument and not self.argument:
            raise misused(self.name, f"nothing can follow it, and '{one_line(argument)}' did.")
        await function(self.calls)(context, argument)

    def complete(self, context: "ReplContext", begun: str) -> Iterable[str]:
        """The arguments that begin with this text."""
        if isinstance(self.completes, tuple):
            return (word for word in self.completes if word.startswith(begun))
        found: Iterable[str] = function(self.completes)(context, begun)
        return found


def function(name: str) -> Callable[..., Any]:
    """Return the function that a row of the table names, for example `code.out`."""
    module, _, called = name.partition(".")
    found: Callable[..., Any] = getattr(import_module(f"terp_cli.repl.commands.{module}"), called)
    return found


class Misused(TerpError):
    """A command got what it cannot take; the remedy is how it is used."""

    stop_reason: StopReason = "usage"


def misused(command: str, why: str) -> Misused:
    """The error for `/command`."""
    return Misused(f"/{command}: {why}", f"/help {command} shows more.")


def unquoted(argument: str) -> str:
    """Return a name without the quotes around all of it, which `/save` and `@` need if it has spaces."""
    quote = argument[:1]
    whole = quote in ("'", '"') and len(argument) > 2 and argument.endswith(quote)
    return argument[1:-1] if whole else argument


class UnknownCommand(Misused):
    """A line looks like a command that there is not; nothing was done with it."""


class Commands:
    """Looks commands up by what was typed."""

    def __init__(self, table: Sequence[SlashCommand]) -> None:
        self.table = tuple(table)
        self._names = {name: command for command in table for name in (command.name, *command.aliases)}

    @staticmethod
    def are_in(line: str) -> bool:
        """Return True for a command: `/name`, or `%name` as in Open Interpreter; not for a path or `% of`."""
        if line[:1] not in ("/", "%"):
            return False
        name = re.split(r"\s", line[1:], maxsplit=1)[0]
        return name.replace("_", "").isalnum() or line.strip() in ("/", "%")

    @classmethod
    def as_text(cls, line: str) -> str:
        """A message without what kept it from being a command: a blank or another `/` before it."""
        bare = line.lstrip()
        if line[:1].isspace() and cls.are_in(bare):
            return bare
        return line[1:] if line.startswith("//") and cls.are_in(line[1:]) else line

    def named(self, name: str) -> SlashCommand:
        """The command of this name, with or without its slash.

        Raises:
            Misused: there is none; the remedy names the nearest.
        """
        mark = name[:1] if name[:1] in ("/", "%") else "/"
        name = name.strip().lstrip("/%")
        if command := self._names.get(name):
            return command
        from difflib import get_close_matches  # noqa: PLC0415  (for a mistake only)

        near = get_close_matches(name, self._names, n=1, cutoff=0.6)
        hint = f"Did you mean /{near[0]}?" if near else "/help lists all commands."
        raise Misused(f"There is no command '{mark}{one_line(name)}'.", hint)

    async def run(self, context: "ReplContext", line: str, *, asked: bool = False) -> bool:
        """Do what a line says, if it is a command; whether it was.

        While something is `asked`, nothing is done that could change what the question is about.

        Raises:
            UnknownCommand: there is no such command.
            TerpError: it cannot be done.
        """
        if not self.are_in(line):
            return False
        name, argument, *_ = [*line[1:].strip().split(maxsplit=1), "", ""]
        try:
            command = self.named(line[0] + (name or "help"))
        except Misused as error:
            as_text = " As a message it is sent with a blank or another / before it." if argument else ""
            raise UnknownCommand(error.message, error.remedy + as_text) from error
        if asked and not command.shows:
            raise Misused(f"/{command.name} has to wait until the question is answered.")
        await command.run(context, argument)
        return True

    def is_at_once(self, line: str) -> bool:
        """Return True for a command that runs at once during a turn."""
        if not self.are_in(line):
            return False
        command = self._names.get((line[1:].split() or [""])[0])
        return command is not None and command.at_once

    def words(self) -> Iterator[tuple[str, str]]:
        """Every name, without its slash, and what it does, other names last: for the prompt's completion."""
        yield from ((command.name, command.does) for command in self.table)
        yield from ((name, command.does) for command in self.table for name in command.aliases)

    def arguments(self, context: "ReplContext", name: str, begun: str) -> Iterator[tuple[str, str]]:
        """Yield the completions of a command's argument, each with a description."""
        if command := self._names.get(name):
            yield from ((argument, "") for argument in command.complete(context, begun))
