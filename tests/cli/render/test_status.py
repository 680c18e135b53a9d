"""The line that tells what is waited for."""

import pytest

from terp.events import (
    Answered,
    Asked,
    CodeStarted,
    CodeTyped,
    Event,
    KernelChanged,
    ModelCalled,
    ModelRetrying,
    Progress,
    ReasoningDelta,
    TextDelta,
    UsageReported,
)
from terp_cli.render.transcript import DrawnTranscript
from tests.cli.drawing import Clock


def waiting(*events: Event, seconds: float) -> list[str]:
    clock = Clock()
    transcript = DrawnTranscript(lambda: 80, lambda: 12, clock)
    for event in events:
        transcript.show(event)
    clock.now = seconds
    return [row.plain[2:] for row in transcript.tail(12) if row.plain]


@pytest.mark.parametrize(
    ("event", "seconds", "said"),
    [
        (ModelCalled("openai/gpt", 1), 3.0, ["waiting for openai/gpt · 3.0 s"]),
        (ModelCalled("openai/gpt", 1), 0.1, []),
        (ModelRetrying(1, "busy", 5.0), 2.0, ["trying again · in 3 s"]),
        (KernelChanged("python", "starting"), 1.5, ["starting python · 1.5 s"]),
        (CodeStarted("c1", 1), 75.0, ["running · 1 min 15 s"]),
        (
            Progress("installing pandas", 3, 12, 4.0),
            0.5,
            ["installing pandas ━━━╌╌╌╌╌╌╌╌╌ 25% · 3/12 · 4.5 s"],
        ),
        (Progress("downloading", 2_000, 0, 1.0), 0.0, ["downloading · 2,000 · 1.0 s"]),
        (Progress("checking", 0, 0, 1.0), 1.0, ["checking · 2.0 s"]),
        (Progress("installing", 4, 4, 9.0), 1.0, []),
    ],
)
def test_what_is_waited_for_is_told_with_its_time(event: Event, seconds: float, said: list[str]) -> None:
    assert waiting(event, seconds=seconds) == said


def test_a_kernel_that_is_ready_is_not_waited_for() -> None:
    events = (KernelChanged("python", "starting"), KernelChanged("python", "ready"))
    assert waiting(*events, seconds=5.0) == []


def test_a_tool_that_takes_its_time_is_named_until_it_is_over() -> None:
    running, calling = CodeStarted("c1", 1), Progress("calling tool search_web", 0, 0, 0.0)
    assert waiting(running, calling, seconds=2.0) == ["calling tool search_web · 2.0 s"]
    over = Progress("calling tool search_web", 1, 1, 0.0)
    assert waiting(running, calling, over, seconds=2.0) == ["running · 2.0 s"]


def test_nothing_is_waited_for_while_the_person_is_asked() -> None:
    calling = Progress("calling tool edit_file", 0, 0, 0.0)
    asked = Asked("q1", "consent", "Change a.py?")
    assert waiting(CodeStarted("c1", 1), asked, calling, seconds=2.0) == []
    again = (asked, Answered("q1", "yes", "person"), calling)
    assert waiting(CodeStarted("c1", 1), *again, seconds=2.0) == ["calling tool edit_file · 2.0 s"]


def test_code_that_got_its_input_is_running_again() -> None:
    asked, answered = Asked("q1", "input", "Name? "), Answered("q1", "Ann", "person")
    assert waiting(CodeStarted("c1", 1), asked, answered, seconds=2.0) == ["running · 2.0 s"]


def test_code_that_does_not_answer_an_interrupt_is_told_with_what_ends_it() -> None:
    told = waiting(CodeStarted("c1", 1), KernelChanged("python", "interrupting"), seconds=1.0)
    assert told == [
        "interrupting · 3.0 s · the code does not answer",
        "Ctrl-C again ends python and its variables",
    ]


def test_the_line_is_no_row_of_the_text_that_grows() -> None:
    clock = Clock()
    transcript = DrawnTranscript(lambda: 80, lambda: 12, clock)
    transcript.show(TextDelta("Some words"))
    clock.now = 3.0
    rows, passing = transcript.unfinished(12)
    assert ([row.plain for row in rows], [row.plain[2:] for row in passing]) == (
        ["Some words"],
        ["", "answering · 3.0 s · no data for 3.0 s"],
    )


def line(width: int, *events: Event, seconds: float = 2.0) -> str:
    clock = Clock()
    transcript = DrawnTranscript(lambda: width, lambda: 12, clock)
    transcript.status.stops, transcript.status.detaches = "Esc stops", True
    for event in events:
        transcript.show(event)
    clock.now = seconds
    return transcript.tail(12)[-1].plain[2:]


USED = UsageReported(12_300, 250, 0, None)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, "running · 2.0 s · 12,300 in, 250 out · Esc stops · Ctrl-B background"),
        (69, "running · 2.0 s · Esc stops · Ctrl-B background"),
        (40, "running · 2.0 s"),
    ],
)
def test_the_line_names_tokens_and_keys_as_far_as_there_is_room(width: int, shown: str) -> None:
    assert line(width, USED, CodeStarted("c1", 1)) == shown


def test_only_running_code_can_go_to_the_background() -> None:
    assert line(80, USED, TextDelta("Hm")) == "answering · 2.0 s · 12,300 in, 250 out · Esc stops"


@pytest.mark.parametrize(
    ("language", "seconds", "is_said"), [("shell", 4.0, True), ("shell", 2.0, False), ("python", 4.0, False)]
)
def test_a_typed_command_that_takes_its_time_may_want_the_terminal(
    language: str, seconds: float, is_said: bool
) -> None:
    said = line(80, CodeTyped("c1", language, "x"), CodeStarted("c1", 1), seconds=seconds)
    assert said.endswith(" · !!COMMAND has the terminal") is is_said


def test_reasoning_that_is_folded_at_its_end_passes() -> None:
    transcript = DrawnTranscript(lambda: 80, lambda: 12, Clock())
    transcript.show(ReasoningDelta("Some thoughts"))
    rows, passing = transcript.unfinished(12)
    assert ([row.plain for row in rows], [row.plain for row in passing]) == ([], ["Some thoughts"])
