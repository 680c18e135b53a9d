"""The commands of the REPL that make sense in an editor, with their lines sent as text."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from acp import schema

from terp.session.session import Session
from terp.settings import Settings
from terp.text.fences import fenced
from terp_cli.acp.person import EditorPerson
from terp_cli.fronts.invocation import Invocation
from terp_cli.prompt.interface import Pick
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.context import ReplContext
from terp_cli.terminal.sanitise import readable

if TYPE_CHECKING:
    from rich.text import Text

# Those left out need a terminal, or are a mode or an option of the editor.
_OFFERED = """
    undo retry rewind reset compact tokens cost vars why languages tools mcp install out code effects diff
    jobs restart allow rules until watch plan go rename fork export save settings info doctor init trust
""".split()  # noqa: SIM905  (a table of names, to be read)


def offered_commands() -> list[schema.AvailableCommand]:
    """Return the commands, as the editor lists them."""
    rows = [(row, row.argument and {"hint": row.argument}) for row in map(all_commands().named, _OFFERED)]
    fields = ({"name": row.name, "description": row.does, "input": hint or None} for row, hint in rows)
    return [schema.AvailableCommand.model_validate(one) for one in fields]


def command_in(prompt: str) -> bool:
    """Return True if a prompt is one of these commands; another line with a slash is for the model."""
    return prompt.startswith("/") and (prompt[1:].split() or [""])[0] in _OFFERED


class EditorContext(ReplContext):
    """The object of the commands in an editor, and the parts of a terminal that they use.

    Their lines wait for `flush`, which sends them with `send`.
    """

    send: Callable[[str], Awaitable[None]]
    width = 100

    def __init__(self, call: Invocation, settings: Settings, session: Session, person: EditorPerson) -> None:
        screen = cast("Any", self)
        super().__init__(call, settings, session, screen, screen, person)
        self.person = person
        self._said: list[str] = []

    async def run(self, line: str) -> None:
        """Run a command.

        Raises:
            TerpError: it failed.
        """
        await all_commands().run(self, line)

    async def flush(self) -> None:
        """Send the lines so far."""
        said, self._said = self._said, []
        if said:
            await self.send("\n\n".join([*said, ""]))

    def say(self, *lines: str) -> None:
        """Keep lines of terp."""
        self._said += map(readable, lines)

    def show(self, rows: "Sequence[Text]") -> None:
        """Keep rows, whose columns are aligned."""
        self._said.append(fenced("\n".join(row.plain for row in rows)))

    async def page(self, lines: Iterable[str], name: str = "terp", *, few: int = 0) -> None:
        """Keep lines as they are."""
        self._said.append(fenced("\n".join(map(readable, lines))))

    async def ask(self, question: str) -> bool:
        """Return True if the user says yes."""
        await self.flush()
        return await super().ask(question)

    async def pick(self, title: str, picks: Sequence[Pick], at: int = 0) -> None:
        """List the rows: the user writes the command again, with one of them."""
        self.say(f"{title} Write it after the command.", *(f"- {'  '.join(pick.cells)}" for pick in picks))

    def prefill(self, text: str) -> None:
        """Show a message that can be changed and sent again."""
        self._said.append(fenced(readable(text)))

    def refresh(self) -> None:
        """Do nothing: an editor has no toolbar of terp."""
