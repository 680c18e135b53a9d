import json
from importlib import import_module
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from terp.events import Event, wire
from terp.events.log import Record
from terp.events.wire_schema import schema
from tests.core.events.drawn import events

jsonschema = import_module("jsonschema")


def problems(told: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(schema()).iter_errors(told)]


@given(event=events, number=st.integers(1))
def test_every_event_in_its_wire_form_is_one_of_the_schema(event: Event, number: int) -> None:
    told = json.loads(json.dumps(wire.record_to_json(Record(number, 1.5, event))))
    assert problems(told) == []


def test_what_is_no_event_is_none_of_the_schema() -> None:
    assert problems({"number": 1, "time": 1.5, "event": "text_delta"}) != []
    assert problems({"number": 1, "time": 1.5, "event": "nothing"}) != []
