"""What a job puts out comes in one piece, when nothing else is being shown."""

from terp.events import (
    CodeFinished,
    CodeStarted,
    CodeTyped,
    Event,
    JobChanged,
    ModelCalled,
    Printed,
    Progress,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp.events.outputs import Display, Omitted, Text
from terp_cli.fronts.event_order import JobsAside

LEFT = JobChanged("c1", 1, "python", "background", 12.0)
ENDED = JobChanged("c1", 1, "python", "ended", 40.0)
STEP = Printed("c1", Text("stdout", "step\n"))
FINISHED = CodeFinished("c1", "ok", 40.0)
OVER = TurnFinished("done", "")
TURN = (TurnStarted("go"), CodeStarted("c1", 1), STEP, LEFT)


def shown(*events: Event) -> list[Event]:
    aside = JobsAside()
    return [one for event in events for one in aside.passed(event)]


def test_between_turns_a_job_is_shown_when_it_has_ended() -> None:
    assert shown(*TURN, OVER, STEP) == [*TURN, OVER]
    assert shown(*TURN, OVER, STEP, FINISHED, ENDED) == [*TURN, OVER, ENDED, STEP, FINISHED]


def test_a_job_that_ends_while_the_model_writes_waits_for_the_end_of_its_answer() -> None:
    text = TextDelta("words ")
    assert shown(*TURN, text, STEP, FINISHED, text, ENDED, text, OVER) == [
        *TURN, text, text, text, OVER, ENDED, STEP, FINISHED,
    ]  # fmt: skip


def test_a_job_that_ends_while_a_run_prints_comes_after_that_run() -> None:
    started, line, over = (
        CodeStarted("c2", 2),
        Printed("c2", Text("stdout", "x\n")),
        CodeFinished("c2", "ok", 1.0),
    )
    assert shown(*TURN, started, STEP, FINISHED, ENDED, line, over) == [
        *TURN, started, line, over, ENDED, STEP, FINISHED,
    ]  # fmt: skip


def test_a_job_that_was_waited_for_comes_before_the_code_that_waited() -> None:
    waits, over = Progress("waiting for job 1", 0, 0, 0.0), Progress("waiting for job 1", 1, 1, 0.0)
    assert shown(*TURN, waits, FINISHED, ENDED, over) == [*TURN, waits, over, ENDED, FINISHED]


def test_a_job_that_ends_between_two_replies_comes_before_the_next_one() -> None:
    called = ModelCalled("m", 2)
    assert shown(*TURN, FINISHED, ENDED, called) == [*TURN, ENDED, FINISHED, called]


def test_typed_code_that_went_to_the_background_leaves_the_prompt_free() -> None:
    typed = CodeTyped("c1", "python", "work()")
    events = shown(typed, CodeStarted("c1", 1), LEFT, STEP, FINISHED, ENDED)
    assert events[2:] == [LEFT, ENDED, STEP, FINISHED]


def test_of_much_text_the_end_is_shown_and_the_rest_is_counted() -> None:
    lines = [Printed("c1", Text("stdout", f"step {number}\n")) for number in range(100)]
    picture = Printed("c1", Display({}, path="/s/1.png"))
    block = shown(*TURN, OVER, picture, *lines, FINISHED, ENDED)[len(TURN) + 1 :]
    left_out = sum(len(f"step {number}\n") for number in range(80))
    assert block == [
        ENDED, Printed("c1", Omitted(left_out, 80, spooled=True)), picture, *lines[80:], FINISHED,
    ]  # fmt: skip


def test_of_one_long_line_the_end_is_shown() -> None:
    block = shown(*TURN, OVER, Printed("c1", Text("stdout", "x" * 9_000)), FINISHED, ENDED)[len(TURN) + 1 :]
    assert block[1:-1] == [
        Printed("c1", Omitted(5_000, 0, spooled=True)),
        Printed("c1", Text("stdout", "x" * 4_000)),
    ]
