"""The commands of the REPL that make sense in an editor, with their lines sent as text."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from acp.schema import AvailableCommand, AvailableCommandInput, UnstructuredCommandInput

from terp.session.session import Session
from terp.settings import Settings
from terp.text.fences import fenced
from terp_cli.acp.person import EditorPerson
from terp_cli.fronts.invocation import Invocation
from terp_cli.prompt.interface import Pick
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.table import Commands
from terp_cli.repl.context import ReplContext
from terp_cli.terminal.sanitise import readable

if TYPE_CHECKING:
    from rich.text import Text

    from terp_cli.fronts.interactive import InteractiveFront
    from terp_cli.prompt.interface import PromptReader

# Those left out need a terminal, or are a mode or an option of the editor.
_OFFERED = """
    undo retry rewind reset compact tokens cost vars why languages tools mcp install out code effects diff
    jobs restart allow rules until rename fork export save settings info doctor init trust
""".split()  # noqa: SIM905  (a table of names, to be read)
_WIDTH = 100


def offered_commands() -> list[AvailableCommand]:
    """Return the commands, as the editor lists them."""
    rows = map(all_commands().named, _OFFERED)
    return [
        AvailableCommand(
            name=row.name,
            description=row.does,
            input=AvailableCommandInput(UnstructuredCommandInput(hint=row.argument))
            if row.argument
            else None,
        )
        for row in rows
    ]


def command_in(prompt: str) -> bool:
    """Return True if a prompt is one of these commands; another line with a slash is for the model."""
    words = prompt[1:].split()
    return prompt.startswith("/") and Commands.are_in(prompt) and bool(words) and words[0] in _OFFERED


class EditorContext(ReplContext):
    """The object of the commands in an editor; their lines wait for `flush`."""

    def __init__(self, call: Invocation, settings: Settings, session: Session, person: EditorPerson) -> None:
        screen = EditorScreen(self)
        super().__init__(
            call,
            settings,
            session,
            cast("InteractiveFront", screen),
            cast("PromptReader", screen),
            person,
        )
        self.send: Callable[[str], Awaitable[None]]
        """Function that sends Markdown to the editor."""
        self._said: list[str] = []

    async def run(self, line: str) -> None:
        """Run a command.

        Raises:
            TerpError: it failed, or it is none.
        """
        await all_commands().run(self, line)

    async def flush(self) -> None:
        """Send the lines so far."""
        said, self._said = self._said, []
        if said:
            await self.send("\n\n".join(said) + "\n\n")

    def say(self, *lines: str) -> None:
        """Keep lines of terp."""
        self._said += [readable(line) for line in lines]

    def show(self, rows: "Sequence[Text]") -> None:
        """Keep rows, whose columns are aligned."""
        self._said.append(fenced("\n".join(row.plain for row in rows)))

    async def page(self, lines: Iterable[str], name: str = "terp") -> None:
        """Keep lines as they are."""
        self._said.append(fenced("\n".join(map(readable, lines))))

    async def ask(self, question: str) -> bool:
        """Return True if the user says yes."""
        await self.flush()
        return await super().ask(question)


class EditorScreen:
    """The parts of a terminal that these commands use."""

    width = _WIDTH
    verbose = False

    def __init__(self, context: EditorContext) -> None:
        self._context = context

    def say(self, *lines: str) -> None:
        """Keep lines of terp."""
        self._context.say(*lines)

    async def pick(self, title: str, picks: Sequence[Pick], at: int = 0) -> None:
        """List the rows: the user writes the command again, with one of them."""
        self._context.say(f"{title} Write it after the command.")
        self._context.say(*(f"- {'  '.join(pick.cells)}" for pick in picks))

    def prefill(self, text: str) -> None:
        """Show a message that can be changed and sent again."""
        self._context.say(fenced(text))

    def refresh(self) -> None:
        """Do nothing: an editor has no toolbar of terp."""

    async def away(self, do: Callable[[], Any]) -> Any:
        """Run something that needs no terminal."""
        return do()
