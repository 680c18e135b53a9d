"""Which run a typed line belongs to."""

from terp.events import Asked, Event, Printed
from terp.events.outputs import InputRequest
from terp.session.asked_lines import AskedLines


def wants(call_id: str, prompt: str) -> Printed:
    return Printed(call_id, InputRequest(prompt, secret=False))


def runs(*events: Event) -> list[str]:
    lines = AskedLines()
    for event in events:
        lines.take(event)
    return [lines.run_of(f"q{number}") for number in (1, 2)]


def test_a_line_is_of_the_run_that_wanted_it() -> None:
    assert runs(wants("c1", "a? "), Asked("q1", "input", "a? "), Asked("q2", "approval", "c2")) == ["c1", ""]


def test_a_job_that_had_to_wait_with_its_question_is_told_by_its_prompt() -> None:
    assert runs(
        wants("c1", "a? "),
        wants("c2", "b? "),
        Asked("q1", "input", "b? "),
        Asked("q2", "input", "[job 1, python] a? "),
    ) == ["c2", "c1"]


def test_a_question_without_words_is_not_taken_for_that_of_another_run() -> None:
    assert runs(
        wants("c1", ""),
        wants("c2", "b? "),
        Asked("q1", "input", "b? "),
        Asked("q2", "input", "[job 1, python] "),
    ) == ["c2", "c1"]
