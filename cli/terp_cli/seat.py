"""Where a person sits: the terminal that is drawn on or asked at, and its keyboard."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Self

from terp.person import Person
from terp_cli import tty
from terp_cli.approval import TerminalPerson
from terp_cli.call import STDIN, Call
from terp_cli.terminal import TerminalFront

if TYPE_CHECKING:
    from terp_cli.keyboard import Keyboard


@dataclass(frozen=True)
class Seat:
    """What draws on the terminal, and who sits there; nobody where no key can be read."""

    front: TerminalFront
    person: Person | None
    keyboard: "Callable[[], Keyboard] | None"

    @classmethod
    def of(cls, call: Call, *, once: bool) -> Self:
        """The terminal behind stdout, with the keyboard of stdin or of the controlling terminal."""
        descriptor = STDIN if call.source == "terminal" else tty.controlling()
        front = TerminalFront.on(
            call.out, keyboard=descriptor, environ=call.environ, verbose=call.options.verbose
        )
        if descriptor is None:
            return cls(front, None, None)
        keyboard = _keyboard(descriptor)
        return cls(front, TerminalPerson(front, keyboard, once=once, environ=call.environ), keyboard)


def person_beside(call: Call) -> Person | None:
    """Who can be asked while the turn is written elsewhere; nobody without a controlling terminal."""
    descriptor = tty.controlling()
    if descriptor is None:
        return None
    out = open(descriptor, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    front = TerminalFront.on(out, keyboard=None, environ=call.environ)
    seen = call.notes_code and tty.is_controlling(call.notes)
    return TerminalPerson(front, _keyboard(descriptor), once=True, draws=not seen, environ=call.environ)


def _keyboard(descriptor: int) -> "Callable[[], Keyboard]":
    @cache
    def opened() -> "Keyboard":
        from terp_cli.keyboard import Keyboard  # noqa: PLC0415  (prompt_toolkit is half of a quick start)

        return Keyboard.on(descriptor)

    return opened
