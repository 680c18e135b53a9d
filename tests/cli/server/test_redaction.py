"""Secrets in what clients are told, where other things happen between their pieces."""

from terp.events import CodeDelta, CodeFinished, Event, LateOutput, Printed, Progress, TextDelta, TurnFinished
from terp.events.log import Record
from terp.events.outputs import InputRequest, Output, Text
from terp.secrets.scrubbing import Scrubber
from terp_cli.server.redaction import Redaction

SECRET = "p4ssw0rd-of-mine"
HALF, REST = SECRET[:8], SECRET[8:]
END = CodeFinished("c1", "ok", 0.1)


def told(*events: Event) -> list[Event]:
    redaction = Redaction(lambda: Scrubber((SECRET,)))
    records = [Record(number, 0.0, event) for number, event in enumerate(events, 1)]
    return [one.event for record in records for one in redaction.passed(record)]


def said(text: str, call_id: str = "c1") -> Printed:
    return Printed(call_id, Text("stdout", text))


def late(text: str) -> LateOutput:
    return LateOutput("c1", Text("stdout", text))


def test_what_happens_besides_does_not_part_a_secret_of_a_run() -> None:
    loading = Progress("loading", 1, 2, 0.1)
    assert told(said(HALF), loading, said(REST), END) == [loading, said("[redacted]"), END]


def test_the_end_of_another_run_does_not_part_a_secret() -> None:
    other = CodeFinished("c2", "ok", 0.1)
    assert told(said(HALF), other, said(REST), END) == [other, said("[redacted]"), END]


def test_late_output_goes_on_beside_what_a_turn_does() -> None:
    loading = Progress("loading", 1, 2, 0.1)
    done = TurnFinished("done", "")
    assert told(late(HALF), loading, late(REST), done) == [loading, late("[redacted]"), done]


def test_what_begins_a_secret_and_goes_on_otherwise_is_told_at_the_end_of_its_run() -> None:
    assert told(said(HALF), END) == [said(HALF), END]


def test_late_output_that_began_a_secret_is_told_when_a_turn_ends() -> None:
    done = TurnFinished("done", "")
    assert told(late(HALF), done) == [late(HALF), done]


def test_a_question_of_a_run_comes_after_what_it_has_said() -> None:
    question: Output = InputRequest("go? ", secret=False)
    assert told(said(HALF), Printed("c1", question)) == [said(HALF), Printed("c1", question)]


def test_text_of_the_model_is_told_before_anything_else_happens() -> None:
    loading = Progress("loading", 1, 2, 0.1)
    assert told(TextDelta(HALF), loading) == [TextDelta(HALF), loading]


def test_text_of_the_model_is_told_before_the_code_that_follows() -> None:
    code = CodeDelta("c1", "python", "print()")
    assert told(TextDelta(f"It is {HALF}"), code) == [TextDelta("It is "), TextDelta(HALF), code]
