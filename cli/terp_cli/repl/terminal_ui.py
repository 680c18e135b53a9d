"""Where a person sits: the terminal that is drawn on or asked at, and what they type on."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, TextIO

from terp.settings import Settings
from terp_cli.fronts.invocation import STDIN, Invocation
from terp_cli.fronts.titles import Titles
from terp_cli.terminal import tty
from terp_cli.terminal.painter import Painter

if TYPE_CHECKING:
    from terp.person import Person
    from terp_cli.fronts.interactive import InteractiveFront
    from terp_cli.prompt.interface import PromptReader
    from terp_cli.repl.approval import TerminalPerson
    from terp_cli.terminal.window import WindowFeatures


class TerminalUI:
    """The terminal behind stdout, with the keyboard of stdin or of the controlling terminal.

    `titles` keep its window. `desk` opens what is typed on, the same each time; None where no key can be
    read. What shows turns and who is asked are imported when they are wanted: a prompt does without.
    """

    def __init__(self, call: Invocation, settings: Settings, *, once: bool) -> None:
        """Open the terminal; with `once`, the keyboard is read only for questions."""
        self._call = call
        self._settings = settings
        self._once = once
        self._keyboard = STDIN if call.source == "terminal" else tty.controlling()
        self._painter = tty.painter_on(call.out, call.terminal_environ)
        self.objections: list[str] = []
        """Notes for the model with the first message: there may be no session yet."""
        self.titles = _titles(call, settings, self._painter, reads_keys=not once)
        self.desk = (
            None
            if self._keyboard is None
            else _desk(self._keyboard, self._painter, call.out, call, settings, self.titles)
        )

    @property
    def redraws(self) -> bool:
        """Return True if the prompt stays at the bottom, and new output appears above it."""
        return _redraws(self._painter, self._settings)

    @cached_property
    def front(self) -> "InteractiveFront":
        """The front end that shows turns."""
        return _front(self._call, self._settings, self._painter, self._keyboard if self._once else None)

    @cached_property
    def person(self) -> "TerminalPerson | None":
        """The user at the keyboard; None if no key can be read."""
        if self.desk is None:
            return None
        from terp_cli.repl.approval import TerminalPerson  # noqa: PLC0415  (there is a prompt before)

        settings = self._settings
        person = TerminalPerson(
            self.front,
            self.desk,
            once=self._once,
            spoken=settings.screen_reader,
            environ=self._call.terminal_environ,
        )
        person.always = settings.auto_run
        return person


def terminal_ui_of(call: Invocation, settings: Settings, *, once: bool) -> TerminalUI | None:
    """Return the terminal's user interface; None for plain text or JSON."""
    return TerminalUI(call, settings, once=once) if call.draws else None


def person_beside(call: Invocation, settings: Settings) -> "Person | None":
    """Return a person who can be asked while the turn is written elsewhere; None without a terminal."""
    # With -y in a pipe nobody is expected to sit there.
    if settings.auto_run and call.source != "terminal":
        return None
    descriptor = tty.controlling()
    if descriptor is None:
        return None
    from terp_cli.fronts.terminal import TerminalFront  # noqa: PLC0415
    from terp_cli.repl.approval import TerminalPerson  # noqa: PLC0415  (see `TerminalUI.person`)

    encoding = call.notes.encoding
    out = open(descriptor, "w", encoding=encoding, errors=call.notes.errors, closefd=False)  # noqa: SIM115
    painter = tty.painter_on(out, call.terminal_environ)
    front = TerminalFront.on(painter, keyboard=None, environ=call.terminal_environ)
    seen = call.notes_code and tty.is_controlling(call.notes)
    desk = _desk(descriptor, painter, out, call, settings, None)
    return TerminalPerson(
        front, desk, once=True, draws=not seen, spoken=settings.screen_reader, environ=call.terminal_environ
    )


def _front(
    call: Invocation, settings: Settings, painter: Painter, keyboard: int | None
) -> "InteractiveFront":
    verbose = call.options.verbose
    if settings.screen_reader:
        from terp_cli.fronts.spoken import SpokenFront  # noqa: PLC0415  (see `TerminalUI`)

        return SpokenFront(call.out, keyboard=keyboard, verbose=verbose, repeats=not call.stays)
    from terp_cli.fronts.terminal import TerminalFront  # noqa: PLC0415  (see `TerminalUI`)

    return TerminalFront.on(
        painter,
        keyboard=keyboard,
        environ=call.terminal_environ,
        images=settings.images,
        theme=settings.theme,
        verbose=verbose,
    )


def _titles(call: Invocation, settings: Settings, painter: Painter, *, reads_keys: bool) -> Titles:
    def means() -> "WindowFeatures":
        from terp_cli.terminal.window import window_features  # noqa: PLC0415  (there is a prompt before)

        found = window_features(
            call.terminal_environ,
            terminal=call.out.isatty(),
            notify=settings.notify,
            screen_reader=settings.screen_reader,
        )
        # Who does not read keys all the time must not ask for reports of the focus among them.
        return found if reads_keys else replace(found, focus=False)

    return Titles(means, painter.send, call.guard)


def _desk(
    descriptor: int,
    painter: Painter,
    out: TextIO,
    call: Invocation,
    settings: Settings,
    titles: Titles | None,
) -> "Callable[[], PromptReader]":
    @cache
    def opened() -> "PromptReader":
        if not _redraws(painter, settings):
            from terp_cli.prompt.line_prompt import LinePrompt  # noqa: PLC0415  (most terminals redraw)

            return LinePrompt(descriptor, out, "You: " if settings.screen_reader else "> ")
        from terp_cli.prompt.prompt_app import PromptApp  # noqa: PLC0415  (prompt_toolkit is half of a quick start)

        colours = not call.terminal_environ.get("NO_COLOR")
        return PromptApp.on(descriptor, painter, colours=colours, listener=titles)

    return opened


def _redraws(painter: Painter, settings: Settings) -> bool:
    return painter.live and not settings.screen_reader
