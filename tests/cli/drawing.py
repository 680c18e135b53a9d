"""Events as a person sees them on a terminal."""

from collections.abc import Sequence

from terp.events import CodeFinished, CodeProposed, CodeStarted, Event, Printed, TurnFinished
from terp.events.effects import Effects
from terp.events.outputs import Output
from terp_cli.fronts.terminal import TerminalFront
from tests.cli.screens import Terminal


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def front_on(terminal: Terminal, clock: Clock | None = None) -> TerminalFront:
    return TerminalFront(terminal.screen, clock=clock or Clock())


def drawn(events: Sequence[Event], *, columns: int = 80, cards: bool = False) -> list[str]:
    terminal = Terminal(columns)
    front = front_on(terminal)
    front.cards = cards
    for event in events:
        front.draw(event)
    front.draw(TurnFinished("done", ""))
    return terminal.shown()[1:]


def proposed(code: str, language: str = "python") -> CodeProposed:
    return CodeProposed("c1", language, code, "digest", "/tmp", 0, "none", Effects())


def printed(*outputs: Output) -> list[Event]:
    return [
        CodeStarted("c1", 1),
        *(Printed("c1", output) for output in outputs),
        CodeFinished("c1", "ok", 0.5),
    ]
