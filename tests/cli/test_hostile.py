"""What was written to harm a terminal does not, wherever it stands in an event."""

import io
import re

import pytest

from terp.events import Event, TurnFinished
from terp.events.wire import to_json
from terp_cli.fronts.json import write_json
from terp_cli.fronts.plain import PlainFront
from terp_cli.fronts.spoken import SpokenFront
from terp_cli.render.transcript import DrawnTranscript
from tests.cli.drawing import Clock
from tests.cli.hostile import CORPUS, events_with
from tests.cli.screens import Terminal

OURS = re.compile(r"\x1b\[[\d;]*m|\x1b\[\d*[ABCLM]|\x1b\[[JK]|\x1b\[\?7[lh]|\r\n|\r")
UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064"
    "\ufeff\u00ad\u034f\u115f\u3164\uffa0\u180e\ufff9-\ufffb\U000e0001-\U000e007f\ud800-\udfff]"
)
STACKED = re.compile("[\u0300-\u036f\u20d0-\u20ff]{9}")
# Blinking, hiding, another font.
FORBIDDEN = {"5", "6", "8", *map(str, range(10, 20))}


def drawn(events: list[Event], columns: int, *, verbose: bool) -> str:
    terminal, clock = Terminal(columns), Clock()
    screen = terminal.screen()
    transcript = DrawnTranscript(lambda: screen.width, lambda: screen.tail_rows, clock, verbose=verbose)
    for event in events:
        screen.update(transcript.show(event), transcript.tail(screen.tail_rows))
        clock.now += 10
        screen.update([], transcript.tail(screen.tail_rows))
    screen.update(transcript.rest())
    return terminal.getvalue()


def unsafe(written: str) -> list[str]:
    bare = OURS.sub("|", written)
    for parameters in re.findall(r"\x1b\[([\d;]*)m", written):
        codes = parameters.split(";")
        if codes[0] not in ("38", "48") and FORBIDDEN & set(codes[:1]):
            return [parameters]
    return UNSAFE.findall(bare) + STACKED.findall(bare)


@pytest.mark.parametrize("name", CORPUS)
@pytest.mark.parametrize("verbose", [False, True])
def test_nothing_harmful_is_drawn(name: str, verbose: bool) -> None:
    found = {
        f"{type(event).__name__} {getattr(event, 'output', '')!r:.40}": harm
        for event in events_with(CORPUS[name])
        if (harm := unsafe(drawn([event, TurnFinished("done", "")], 60, verbose=verbose)))
    }
    assert found == {}


@pytest.mark.parametrize("columns", [20, 200])
def test_nothing_harmful_is_drawn_when_all_comes_together(columns: int) -> None:
    events = [event for text in CORPUS.values() for event in events_with(text)]
    assert unsafe(drawn(events, columns, verbose=False)) == []


@pytest.mark.parametrize("name", CORPUS)
def test_nothing_harmful_is_written_without_colours(name: str) -> None:
    notes = io.StringIO()
    front = PlainFront(Terminal(), notes, "verbose")
    for event in events_with(CORPUS[name]):
        front.take(event)
    assert UNSAFE.findall(notes.getvalue().replace("\t", "")) + STACKED.findall(notes.getvalue()) == []


@pytest.mark.parametrize("name", CORPUS)
def test_nothing_harmful_is_said(name: str) -> None:
    terminal = Terminal()
    front = SpokenFront(terminal, verbose=True)
    for event in events_with(CORPUS[name]):
        front.draw(event)
    assert UNSAFE.findall(terminal.getvalue().replace("\t", "")) == []


@pytest.mark.parametrize("name", CORPUS)
def test_json_is_safe_on_a_terminal(name: str) -> None:
    terminal = Terminal()
    for event in events_with(CORPUS[name]):
        write_json(terminal, to_json(event))
    assert UNSAFE.findall(terminal.getvalue()) == []


@pytest.mark.parametrize("name", CORPUS)
def test_an_answer_is_safe_on_a_terminal_without_colours(name: str) -> None:
    terminal = Terminal()
    PlainFront(terminal, io.StringIO()).take(TurnFinished("done", CORPUS[name]))
    assert UNSAFE.findall(terminal.getvalue().replace("\t", "")) == []
