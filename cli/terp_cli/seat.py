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
from terp_cli.line_desk import LineDesk
from terp_cli.painter import Painter
from terp_cli.terminal import TerminalFront

if TYPE_CHECKING:
    from terp_cli.reader import Reader


@dataclass(frozen=True)
class Seat:
    """What draws on the terminal, and who sits there; nobody where no key can be read."""

    front: TerminalFront
    person: Person | None
    desk: "Callable[[], Reader] | None"

    @classmethod
    def of(cls, call: Call, settings: Settings, *, once: bool) -> Self:
        """The terminal behind stdout, with the keyboard of stdin or of the controlling terminal.

        Who stays reads the keyboard all the time; a call that is answered `once` reads it for questions.
        """
        descriptor = STDIN if call.source == "terminal" else tty.controlling()
        painter = tty.painter_on(call.out, call.environ)
        front = TerminalFront.on(
            painter,
            keyboard=descriptor if once else None,
            environ=call.environ,
            images=settings.images,
            theme=settings.theme,
            verbose=call.options.verbose,
        )
        if descriptor is None:
            return cls(front, None, None)
        desk = _desk(descriptor, painter, call.out, call)
        return cls(front, TerminalPerson(front, desk, once=once, environ=call.environ), desk)


def person_beside(call: Call) -> Person | None:
    """Who can be asked while the turn is written elsewhere; nobody without a controlling terminal."""
    descriptor = tty.controlling()
    if descriptor is None:
        return None
    out = open(descriptor, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    painter = tty.painter_on(out, call.environ)
    front = TerminalFront.on(painter, keyboard=None, environ=call.environ)
    seen = call.notes_code and tty.is_controlling(call.notes)
    desk = _desk(descriptor, painter, out, call)
    return TerminalPerson(front, desk, once=True, draws=not seen, environ=call.environ)


def _desk(descriptor: int, painter: Painter, out: TextIO, call: Call) -> "Callable[[], Reader]":
    @cache
    def opened() -> "Reader":
        if not painter.live:
            return LineDesk(descriptor, out)
        from terp_cli.desk import Desk  # noqa: PLC0415  (prompt_toolkit is half of a quick start)

        return Desk.on(descriptor, painter, colours=not call.environ.get("NO_COLOR"))

    return opened
