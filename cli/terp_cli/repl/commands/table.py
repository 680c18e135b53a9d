"""Commands: their declaration, the recognition of one in a line, and the lookup by name."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from terp.errors import StopReason, TerpError
from terp.text.dataclasses import dataclass
from terp.text.wording import did_you_mean
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from terp_cli.repl.context import ReplContext

Group = Literal["Yours", "Conversation", "Code", "Session", "terp"]
GROUPS: tuple[Group, ...] = ("Yours", "Conversation", "Code", "Session", "terp")


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One command: its name, its forms and its description.

    `argument` is the placeholder of the argument in `/help`; `more` is the text that `/help NAME` adds. A
    command that only `shows` something also works while a question is open. A command with `at_once` runs
    during a turn; others wait for its end. `calls` names the function that runs it, `completes` the one that
    completes its argument, both as `module.function` of this package. They are imported at their first call,
    because few sessions need many.
    `completes` can also be the words themselves. `/help` leaves out a command that is not `listed`.
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
    listed: bool = True

    @property
    def usage(self) -> str:
        """The name and the argument: `/out [N]`."""
        return f"/{self.name} {self.argument}".rstrip()

    async def run(self, context: "ReplContext", argument: str) -> None:
        """Run the command.

        Raises:
            TerpError: the command failed.
        """
        if argument and not self.argument:
            raise misused(self.name, f"it takes no argument, and got '{one_line(argument)}'.")
        await function(self.calls)(context, argument)

    def complete(self, context: "ReplContext", begun: str) -> Iterable[str]:
        """Return the arguments that begin with this text."""
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
    """A command got a wrong argument; the remedy is its usage."""

    stop_reason: StopReason = "usage"


def misused(command: str, why: str) -> Misused:
    """Return the error for a wrong use of `/command`."""
    return Misused(f"/{command}: {why}", f"/help {command} shows more.")


def unquoted(argument: str) -> str:
    """Return a name without the quotes around all of it, which `/save` and `@` need if it has spaces."""
    quote = argument[:1]
    whole = quote in ("'", '"') and len(argument) > 2 and argument.endswith(quote)
    return argument[1:-1] if whole else argument


class UnknownCommand(Misused):
    """A line looks like a command, but no such command exists; the line was ignored."""


class Commands:
    """The table of commands, with lookup by a typed line."""

    def __init__(self, table: Sequence[SlashCommand]) -> None:
        self.table = tuple(table)
        self._names = {name: command for command in table for name in (command.name, *command.aliases)}

    @staticmethod
    def are_in(line: str) -> bool:
        """Return True for a command: `/name`, or `%name` as in Open Interpreter; not for a path or `% of`."""
        if line[:1] not in ("/", "%"):
            return False
        name = re.split(r"\s", line[1:], maxsplit=1)[0]
        return name.replace("_", "").replace("-", "").isalnum() or line.strip() in ("/", "%")

    @classmethod
    def as_text(cls, line: str) -> str:
        """Return a message without the blank or second `/` before it, which kept it from being a command."""
        bare = line.lstrip()
        if line[:1].isspace() and cls.are_in(bare):
            return bare
        return line[1:] if line.startswith("//") and cls.are_in(line[1:]) else line

    def has(self, name: str) -> bool:
        """Return True if there is a command of this name."""
        return name in self._names

    def named(self, name: str) -> SlashCommand:
        """Return the command of this name, with or without its slash.

        Raises:
            Misused: there is no such command; the remedy names the most similar one.
        """
        mark = name[:1] if name[:1] in ("/", "%") else "/"
        name = name.strip().lstrip("/%")
        if command := self._names.get(name):
            return command
        hint = did_you_mean(name, self._names, "/help all lists the commands.", shown="/{}")
        raise Misused(f"There is no command '{mark}{one_line(name)}'.", hint)

    async def run(self, context: "ReplContext", line: str, *, asked: bool = False) -> bool:
        """Run a line if it is a command; return True if it was one.

        While a question is open (`asked`), a command that could change its subject is refused.

        Raises:
            UnknownCommand: there is no such command.
            TerpError: the command failed.
        """
        if not self.are_in(line):
            return False
        name, argument, *_ = [*line[1:].strip().split(maxsplit=1), "", ""]
        try:
            command = self.named(line[0] + (name or "help"))
        except Misused as error:
            as_text = " To send it as a message, put a blank or another / before it." if argument else ""
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
        """Return names, without slash, and descriptions for completion; aliases come last."""
        rows = sorted(self.table, key=lambda command: not command.listed)
        yield from ((command.name, command.does) for command in rows)
        yield from ((name, command.does) for command in self.table for name in command.aliases)

    def arguments(self, context: "ReplContext", name: str, begun: str) -> Iterator[tuple[str, str]]:
        """Yield the completions of a command's argument, each with a description."""
        if command := self._names.get(name):
            yield from ((argument, "") for argument in command.complete(context, begun))
