"""Secrets that come in pieces, as they are written."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events import (
    CodeDelta,
    CodeFinished,
    CodeProposed,
    CodeStarted,
    Event,
    LateOutput,
    Printed,
    Progress,
    TextDelta,
    TurnFinished,
)
from terp.events.log import Record
from terp.events.outputs import InputRequest, Output, StreamName, Text
from terp.secrets.redactor import Redactor, StreamRedactor
from terp.store.journal import NAME
from terp.store.keeping import Keeper
from terp.store.reading import read
from tests.core.store.keeping import SECRET, header, redactor

KEY = "sk-" + "a1B2" * 8
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
BLOCK = f"-----BEGIN PRIVATE KEY-----\n{'MIIEvQ' * 10}\n{'AkEAx0' * 10}\n-----END PRIVATE KEY-----\n"
AMAZON = f"aws_secret_access_key = {'aB3/' * 10}"
ADDRESS = "postgres://me:p4ssw0rd-of-mine@db.example/x"


def written(*events: Event, secrets: tuple[str, ...] = (SECRET,)) -> list[Event]:
    redactor = StreamRedactor(lambda: Redactor(secrets))
    records = [Record(number, 0.0, event) for number, event in enumerate(events, 1)]
    return [one.event for record in records for one in redactor.passed(record)]


def said(text: str, stream: StreamName = "stdout", call_id: str = "c1") -> Printed:
    return Printed(call_id, Text(stream, text))


def late(text: str) -> LateOutput:
    return LateOutput("c1", Text("stdout", text))


END = CodeFinished("c1", "ok", 0.1)
HALF, REST = SECRET[:8], SECRET[8:]


def test_text_in_which_no_secret_begins_is_written_as_it_comes() -> None:
    assert written(said("one\n"), said("two")) == [said("one\n"), said("two")]


def test_the_beginning_of_a_secret_is_written_with_what_follows() -> None:
    assert written(said("it is p4ss"), said("ing by")) == [said("it is "), said("p4ssing by")]


def test_the_beginning_of_a_secret_is_written_when_the_run_ends() -> None:
    assert written(said("it is p4ss"), END) == [said("it is "), said("p4ss"), END]


@pytest.mark.parametrize("end", [END, TurnFinished("done", "")], ids=["of a run", "of a turn"])
def test_the_end_of_something_else_does_not_write_half_of_a_secret(end: Event) -> None:
    half, rest = said("p4ss", call_id="c2"), said("w0rd of the database\n", call_id="c2")
    assert written(half, end, rest) == [end, said("[redacted]\n", call_id="c2")]


def test_the_streams_of_a_run_are_read_apart() -> None:
    events = (said("p4ss"), said("oh\n", "stderr"), said("w0rd of the database\n"))
    assert written(*events) == [said("oh\n", "stderr"), said("[redacted]\n")]


def test_what_the_model_writes_is_held_back_until_it_does_something_else() -> None:
    proposed = CodeProposed("c1", "python", "1", "d", "/w", 0, "none")
    events = (TextDelta("it is p4ss"), CodeDelta("c1", "python", "p4ss"), proposed)
    assert written(*events) == [
        TextDelta("it is "),
        TextDelta("p4ss"),
        CodeDelta("c1", "python", "p4ss"),
        proposed,
    ]


def test_a_long_private_key_is_found_however_it_comes() -> None:
    lines = [f"{number:064}\n" for number in range(200)]
    events = ["-----BEGIN RSA PRIVATE KEY-----\n", *lines, "-----END RSA PRIVATE KEY-----\n", "after\n"]
    told = written(*map(said, events), END)
    whole = "".join(
        one.output.text for one in told if isinstance(one, Printed) and isinstance(one.output, Text)
    )
    assert Redactor().redacted(whole) == "[redacted]\nafter\n"


def test_what_only_begins_as_a_key_is_not_held_back_for_ever() -> None:
    events = [said("-----BEGIN RSA PRIVATE KEY-----\n"), *[said("x " * 1000)] * 12]
    assert [bool(one.output.text) for one in written(*events)][-2:] == [True, True]  # type: ignore[union-attr]


def test_what_comes_after_a_run_is_read_in_one_too() -> None:
    late = [LateOutput("c1", Text("stdout", text)) for text in ("p4ss", "w0rd of the database\n")]
    assert written(*late) == [LateOutput("c1", Text("stdout", "[redacted]\n"))]


@pytest.mark.parametrize(
    "secret", [SECRET, KEY, TOKEN, BLOCK, f"Bearer {'x9' * 8}", AMAZON, f"\\n{KEY}", f"\\n{TOKEN}", ADDRESS]
)
@given(cuts=st.lists(st.integers(0, 400), max_size=6))
def test_a_secret_is_found_wherever_it_is_cut(secret: str, cuts: list[int]) -> None:
    text = f"the key = {secret} and more\n"
    ends = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [said(text[start:end]) for start, end in pairwise(ends)]
    found = [event.output for event in written(*pieces, END) if isinstance(event, Printed)]
    assert all(isinstance(output, Text) for output in found)
    texts = [redactor().redacted(output.text) for output in found if isinstance(output, Text)]
    assert "".join(texts) == redactor().redacted(text)


def test_a_secret_that_is_put_out_in_two_pieces_is_not_written(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    keeper = Keeper(folder, header(folder), redactor)
    events: list[Event] = [CodeStarted("c1", 1), said("key: p4ssw0rd of"), said(" the database\n"), END]
    for number, event in enumerate(events, 1):
        keeper.event(Record(number, 0.0, event))
    keeper.close()
    content = (folder / NAME).read_text()
    assert ("p4ss" in content, "database" in content) == (False, False)
    assert [record.event for record in read(folder).events.records] == [
        events[0],
        said("key: "),
        said("[redacted]\n"),
        END,
    ]


def test_what_is_held_back_is_written_when_the_session_ends(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    keeper = Keeper(folder, header(folder), redactor)
    late = LateOutput("c1", Text("stdout", "and p"))
    events: list[Event] = [CodeStarted("c1", 1), TurnFinished("done", ""), late]
    for number, event in enumerate(events, 1):
        keeper.event(Record(number, 0.0, event))
    keeper.close()
    stored = read(folder).events
    assert [(record.number, record.event) for record in stored.records[2:]] == [
        (3, LateOutput("c1", Text("stdout", "and "))),
        (3, LateOutput("c1", Text("stdout", "p"))),
    ]
    assert stored.last == 3


def test_a_value_that_was_put_into_an_answer_stays_apart_from_the_text_around_it() -> None:
    events = (TextDelta("key: sk-"), TextDelta("42", "{{n}}"), TextDelta("."), TurnFinished("done", ""))
    assert written(*events) == [
        TextDelta("key: "),
        TextDelta("sk-"),
        TextDelta("42", "{{n}}"),
        TextDelta("."),
        TurnFinished("done", ""),
    ]


def test_what_happens_besides_does_not_part_a_secret_of_a_run() -> None:
    loading = Progress("loading", 1, 2, 0.1)
    assert written(said(HALF), loading, said(REST), END) == [loading, said("[redacted]"), END]


def test_the_end_of_another_run_does_not_part_a_secret() -> None:
    other = CodeFinished("c2", "ok", 0.1)
    assert written(said(HALF), other, said(REST), END) == [other, said("[redacted]"), END]


def test_late_output_goes_on_beside_what_a_turn_does() -> None:
    loading = Progress("loading", 1, 2, 0.1)
    done = TurnFinished("done", "")
    assert written(late(HALF), loading, late(REST), done) == [loading, late("[redacted]"), done]


def test_what_begins_a_secret_and_goes_on_otherwise_is_written_at_the_end_of_its_run() -> None:
    assert written(said(HALF), END) == [said(HALF), END]


def test_late_output_that_began_a_secret_is_written_when_a_turn_ends() -> None:
    done = TurnFinished("done", "")
    assert written(late(HALF), done) == [late(HALF), done]


def test_a_question_of_a_run_comes_after_what_it_has_said() -> None:
    question: Output = InputRequest("go? ", secret=False)
    assert written(said(HALF), Printed("c1", question)) == [said(HALF), Printed("c1", question)]


def test_text_of_the_model_is_written_before_anything_else_happens() -> None:
    loading = Progress("loading", 1, 2, 0.1)
    assert written(TextDelta(HALF), loading) == [TextDelta(HALF), loading]


def test_text_of_the_model_is_written_before_the_code_that_follows() -> None:
    code = CodeDelta("c1", "python", "print()")
    assert written(TextDelta(f"It is {HALF}"), code) == [TextDelta("It is "), TextDelta(HALF), code]
