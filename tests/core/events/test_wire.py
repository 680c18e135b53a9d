import json
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events import CodeFinished, Event, Printed, TurnFinished, TurnStarted, wire
from terp.events.log import Record
from terp.events.outputs import Display, FileChange
from terp.events.wire import schema
from tests.core.events.drawn import events

jsonschema = import_module("jsonschema")


@given(event=events, number=st.integers(1), time=st.floats(0, 2e9).map(lambda t: round(t, 6)))
def test_every_event_comes_back_from_its_json(event: Event, number: int, time: float) -> None:
    record = Record(number, time, event)
    assert wire.record_from_json(json.loads(json.dumps(wire.record_to_json(record)))) == record


def test_an_event_is_named_in_snake_case() -> None:
    assert wire.to_json(TurnFinished("done", "42")) == {
        "event": "turn_finished",
        "reason": "done",
        "answer": "42",
        "error": "",
        "remedy": "",
    }


def test_an_output_says_what_kind_it_is() -> None:
    assert wire.to_json(Printed("c1", Display({"text/plain": "4"}, is_result=True)))["output"] == {
        "kind": "display",
        "data": {"text/plain": "4"},
        "metadata": {},
        "display_id": None,
        "is_result": True,
        "path": "",
    }


def test_files_of_a_run_are_objects() -> None:
    finished = CodeFinished("c1", "ok", 0.5, (FileChange("/a", "created", 3),))
    assert wire.to_json(finished)["files"] == [
        {"path": "/a", "action": "created", "size": 3, "host": "", "copy": "", "source": ""}
        | {"added": 0, "removed": 0, "diff": ""}
    ]


@pytest.mark.parametrize(
    "data", [{}, {"event": "nope"}, {"event": "text_delta"}, {"event": "text_delta", "text": "x", "more": 1}]
)
def test_what_is_no_event_is_refused_or_read_without_its_extra_fields(data: dict[str, Any]) -> None:
    if "more" in data:
        assert wire.to_json(wire.from_json(data)) == {"event": "text_delta", "text": "x", "reference": ""}
        return
    with pytest.raises(ValueError, match=r"unknown event|text_delta"):
        wire.from_json(data)


def problems(told: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(schema()).iter_errors(told)]


@given(event=events, number=st.integers(1))
def test_every_event_in_its_wire_form_is_one_of_the_schema(event: Event, number: int) -> None:
    told = json.loads(json.dumps(wire.record_to_json(Record(number, 1.5, event))))
    assert problems(told) == []


def test_what_is_no_event_is_none_of_the_schema() -> None:
    assert problems({"number": 1, "time": 1.5, "event": "text_delta"}) != []
    assert problems({"number": 1, "time": 1.5, "event": "nothing"}) != []


def test_a_field_that_was_renamed_is_read_by_its_old_name() -> None:
    before = {"event": "turn_started", "prompt": "go", "attachments": [], "goes_on": True}
    assert wire.from_json(before) == TurnStarted("go", continued=True)
