"""Where a person sits: the terminal that is drawn on or asked at, and what they type on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Self, TextIO

from terp.person import Person
from terp.settings import Settings
from terp_cli import tty
from terp_cli.approval import TerminalPerson
from terp_cli.call import STDIN, Call
from terp_cli.front import PersonalFront
from terp_cli.line_desk import LineDesk
from terp_cli.painter import Painter
from terp_cli.spoken import SpokenFront
from terp_cli.terminal import TerminalFront
from terp_cli.titles import Titles
from terp_cli.window import means_of

if TYPE_CHECKING:
    from terp_cli.reader import Reader


@dataclass(frozen=True)
class Seat:
    """What shows turns on the terminal, and who sits there; nobody where no key can be read."""

    front: PersonalFront
    person: TerminalPerson | None
    desk: "Callable[[], Reader] | None"
    titles: Titles

    @classmethod
    def of(cls, call: Call, settings: Settings, *, once: bool) -> Self:
        """The terminal behind stdout, with the keyboard of stdin or of the controlling terminal.

        Who stays reads the keyboard all the time; a call that is answered `once` reads it for questions.
        """
        descriptor = STDIN if call.source == "terminal" else tty.controlling()
        painter = tty.painter_on(call.out, call.environ)
        titles = _titles(call, settings, painter)
        hushed = descriptor if once else None
        front = _front(call, settings, painter, hushed)
        if descriptor is None:
            return cls(front, None, None, titles)
        desk = _desk(descriptor, painter, call.out, call, settings, titles)
        person = TerminalPerson(
            front,
            desk,
            once=once,
            spoken=settings.screen_reader,
            environ=call.environ,
        )
        person.always = settings.auto_run
        return cls(front, person, desk, titles)


def person_beside(call: Call, settings: Settings) -> Person | None:
    """Who can be asked while the turn is written elsewhere; nobody without a controlling terminal."""
    descriptor = tty.controlling()
    if descriptor is None:
        return None
    encoding = call.notes.encoding
    out = open(descriptor, "w", encoding=encoding, errors=call.notes.errors, closefd=False)  # noqa: SIM115
    painter = tty.painter_on(out, call.environ)
    front = TerminalFront.on(painter, keyboard=None, environ=call.environ)
    seen = call.notes_code and tty.is_controlling(call.notes)
    desk = _desk(descriptor, painter, out, call, settings, None)
    return TerminalPerson(
        front, desk, once=True, draws=not seen, spoken=settings.screen_reader, environ=call.environ
    )


def _front(call: Call, settings: Settings, painter: Painter, keyboard: int | None) -> PersonalFront:
    verbose = call.options.verbose
    if settings.screen_reader:
        return SpokenFront.on(call.out, keyboard=keyboard, environ=call.environ, verbose=verbose)
    return TerminalFront.on(
        painter,
        keyboard=keyboard,
        environ=call.environ,
        images=settings.images,
        theme=settings.theme,
        verbose=verbose,
    )


def _titles(call: Call, settings: Settings, painter: Painter) -> Titles:
    means = means_of(
        call.environ,
        terminal=call.out.isatty(),
        notify=settings.notify,
        screen_reader=settings.screen_reader,
    )
    return Titles(means, painter.send, call.guard)


def _desk(
    descriptor: int, painter: Painter, out: TextIO, call: Call, settings: Settings, titles: Titles | None
) -> "Callable[[], Reader]":
    @cache
    def opened() -> "Reader":
        if settings.screen_reader or not painter.live:
            return LineDesk(descriptor, out, "You: " if settings.screen_reader else "> ")
        from terp_cli.desk import Desk  # noqa: PLC0415  (prompt_toolkit is half of a quick start)

        colours = not call.environ.get("NO_COLOR")
        return Desk.on(descriptor, painter, colours=colours, hold=titles)

    return opened
