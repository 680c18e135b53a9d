"""The user interface at a terminal: the front end that shows turns, and the user who answers questions."""

from terp.person import Person
from terp.settings import Settings
from terp_cli.fronts.interactive import InteractiveFront
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.spoken import SpokenFront
from terp_cli.fronts.terminal import TerminalFront
from terp_cli.repl.approval import TerminalPerson
from terp_cli.repl.first_prompt import PromptTerminal, prompt_on
from terp_cli.terminal import tty


class TerminalUI:
    """The user interface at a terminal. `person` and `prompt` are None if no key can be read."""

    def __init__(self, call: Invocation, settings: Settings, terminal: PromptTerminal) -> None:
        self.titles = terminal.titles
        self.prompt = terminal.prompt
        self.front = _front(call, settings, terminal)
        self.person: TerminalPerson | None = None
        self.objections: list[str] = []
        """Notes for the model with the first message: there may be no session yet."""
        if terminal.prompt is not None:
            self.person = TerminalPerson(
                self.front,
                terminal.prompt,
                once=terminal.once,
                spoken=settings.screen_reader,
                environ=call.terminal_environ,
            )
            self.front.asks = not settings.auto_run
            self.front.cards = terminal.redraws


def terminal_ui_of(call: Invocation, settings: Settings, *, once: bool) -> TerminalUI:
    """Return the user interface of a call that draws."""
    return TerminalUI(call, settings, PromptTerminal(call, settings, once=once))


def person_at(descriptor: int, call: Invocation, settings: Settings) -> Person:
    """Return the person at a terminal where only questions are drawn."""
    encoding = call.notes.encoding
    out = open(descriptor, "w", encoding=encoding, errors=call.notes.errors, closefd=False)  # noqa: SIM115
    painter = tty.painter_on(out, call.terminal_environ)
    return TerminalPerson(
        TerminalFront.on(painter, keyboard=None, environ=call.terminal_environ),
        prompt_on(descriptor, painter, out, call, settings, None),
        once=True,
        draws=not (call.notes_code and tty.is_controlling(call.notes)),
        spoken=settings.screen_reader,
        environ=call.terminal_environ,
    )


def _front(call: Invocation, settings: Settings, terminal: PromptTerminal) -> InteractiveFront:
    keyboard = terminal.keyboard if terminal.once else None
    if settings.screen_reader:
        return SpokenFront(call.out, keyboard=keyboard, verbose=call.options.verbose, repeats=not call.stays)
    return TerminalFront.on(
        terminal.painter,
        keyboard=keyboard,
        environ=call.terminal_environ,
        images=settings.images,
        theme=settings.theme,
        verbose=call.options.verbose,
    )
