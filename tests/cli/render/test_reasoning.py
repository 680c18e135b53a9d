"""What is seen of the model's reasoning."""

from terp.events import ReasoningDelta, TextDelta
from terp_cli.render.transcript import DrawnTranscript
from tests.cli.drawing import Clock


def transcript(clock: Clock, *, verbose: bool = False) -> DrawnTranscript:
    return DrawnTranscript(lambda: 40, lambda: 12, clock, verbose=verbose)


def finished(drawn: DrawnTranscript, clock: Clock) -> list[str]:
    rows = drawn.show(ReasoningDelta("First,\n"))
    clock.now = 7.0
    rows += [*drawn.show(ReasoningDelta("then this.")), *drawn.show(TextDelta("Yes."))]
    return [str(row) for row in (*rows, *drawn.rest())]


def test_reasoning_becomes_one_line_when_it_has_ended() -> None:
    clock = Clock()
    assert finished(transcript(clock), clock) == [
        "",
        "▸ thought for 7.0 s · 17 characters",
        "",
        "Yes.",
    ]


def test_reasoning_is_whole_when_more_is_asked_for() -> None:
    clock = Clock()
    assert finished(transcript(clock, verbose=True), clock) == ["", "First,", "then this.", "", "Yes."]


def test_the_last_rows_of_reasoning_are_seen_while_it_grows() -> None:
    clock = Clock()
    drawn = transcript(clock)
    for at in range(30):
        drawn.show(ReasoningDelta(f"thought {at}\n"))
    clock.now = 2.0
    assert [row.plain for row in drawn.tail(12)] == [
        "thought 26",
        "thought 27",
        "thought 28",
        "thought 29",
        "",
        "⠦ thinking · 2.0 s",
    ]
