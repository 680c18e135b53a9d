"""Events as JSON, and back: the form of `--output-format stream-json`, of logs and of the server.

An event is an object whose `event` is its class name in snake case; the other keys are its fields.
A value that is one of several kinds, such as an output, is an object with a `kind`.
"""

import builtins
import dataclasses
import re
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from terp import events
from terp.events import Event, outputs
from terp.events.log import Record

VERSION = 1
# Fields of events in logs of before, by their names there and now.
_OLD_FIELDS = {"turn_started": {"goes_on": "continued"}}
# Most fields of most events.
_PLAIN = frozenset((str, int, float, bool, types.NoneType))
_JSON_TYPES: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    types.NoneType: {"type": "null"},
    Any: {},
}


def to_json(event: Event) -> dict[str, Any]:
    """Return the event as an object of JSON types."""
    kind: type = type(event)
    return {"event": _tag(kind), **_fields(event)}


def from_json(data: Mapping[str, Any]) -> Event:
    """Return the event that `to_json` wrote.

    Raises:
        ValueError: it is no event of this version; the message names it.
    """
    kind = event_types().get(data.get("event", ""))
    if kind is None:
        raise ValueError(f"unknown event {data.get('event')!r}")
    if old := _OLD_FIELDS.get(data["event"]):
        data = {old.get(name, name): value for name, value in data.items()}
    event: Event = _build(kind, data)
    return event


def record_to_json(record: Record) -> dict[str, Any]:
    """Return the object of the event with its `number` and its `time` in seconds since the epoch."""
    return {"number": record.number, "time": record.time, **to_json(record.event)}


def record_from_json(data: Mapping[str, Any]) -> Record:
    """Return the record that `record_to_json` wrote.

    Raises:
        ValueError: it is no record of this version.
    """
    return Record(int(data["number"]), float(data["time"]), from_json(data))


@cache
def _tag(kind: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


@cache
def event_types() -> dict[str, type]:
    """Return the classes of events by their names in JSON."""
    return {_tag(kind): kind for kind in typing.get_args(events.Event)}


@cache
def output_types() -> dict[str, type]:
    """Return the classes of outputs by their names in JSON."""
    return {_tag(kind): kind for kind in typing.get_args(outputs.Output)}


def _fields(value: Any) -> dict[str, Any]:
    kind: type = type(value)
    found = {}
    for name in _names(kind):
        part = getattr(value, name)
        found[name] = part if type(part) in _PLAIN else _encode(part)
    return found


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _encode(value: Any) -> Any:
    kind: type = type(value)
    if kind in _PLAIN:
        return value
    if kind in output_types().values():
        return {"kind": _tag(kind), **_fields(value)}
    if dataclasses.is_dataclass(value):
        return _fields(value)
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value


Decoder = Callable[[Any], Any]


@cache
def _decoders(kind: type) -> tuple[tuple[str, Decoder | None], ...]:
    """Return the names of a class's fields, each with the decoder of its values, None for none."""
    hints = typing.get_type_hints(kind)
    return tuple((field.name, _decoder(hints[field.name])) for field in dataclasses.fields(kind))


def _build(kind: type, data: Mapping[str, Any]) -> Any:
    try:
        return kind(
            **{
                name: data[name] if decode is None else decode(data[name])
                for name, decode in _decoders(kind)
                if name in data
            }
        )
    except (TypeError, KeyError) as error:
        raise ValueError(f"{_tag(kind)}: {error}") from error


def _decoder(hint: Any) -> Decoder | None:
    if hint == outputs.Output:
        return _output
    if typing.get_origin(hint) is types.UnionType and types.NoneType in typing.get_args(hint):
        kinds = [kind for kind in typing.get_args(hint) if kind is not types.NoneType]
        decode = None if len(kinds) > 1 else _decoder(kinds[0])
        return decode and (lambda value: value if value is None else decode(value))
    if typing.get_origin(hint) is tuple:
        each = _decoder(typing.get_args(hint)[0])
        return tuple if each is None else lambda values: tuple(map(each, values))
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias) and dataclasses.is_dataclass(hint):
        return partial(_build, hint)
    return None


def _output(value: Mapping[str, Any]) -> Any:
    kind = output_types().get(value.get("kind", ""))
    if kind is None:
        raise ValueError(f"unknown output {value.get('kind')!r}")
    return _build(kind, value)


def schema() -> dict[str, Any]:
    """Return the schema of a record: one of the events, with its number and its time."""
    record = {
        "number": {"type": "integer", "description": "Counted from 1; numbers may have gaps."},
        "time": {"type": "number", "description": "Seconds since the epoch."},
    }
    events = {name: _object(kind, "event", name) for name, kind in event_types().items()}
    for event in events.values():
        event["properties"] |= record
        event["required"] += ["number", "time"]
    shown = {name: _object(kind, "kind", name) for name, kind in output_types().items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An event of terp",
        "version": VERSION,
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in events],
        "$defs": {**events, **{f"output.{name}": one for name, one in shown.items()}},
    }


def _object(kind: type, tag: str = "", name: str = "") -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    properties = {field.name: _of(hints[field.name]) for field in dataclasses.fields(kind)}
    tagged = {tag: {"const": name}} if tag else {}
    return {
        "type": "object",
        "description": (kind.__doc__ or "").partition("\n")[0],
        "properties": {**tagged, **properties},
        "required": [*tagged, *properties],
    }


def _of(hint: Any) -> dict[str, Any]:
    if hint in _JSON_TYPES:
        return dict(_JSON_TYPES[hint])
    if hint == outputs.Output:
        return {"oneOf": [{"$ref": f"#/$defs/output.{name}"} for name in output_types()]}
    if dataclasses.is_dataclass(hint):
        return _object(typing.cast("type", hint))
    arguments = typing.get_args(hint)
    found: dict[str, Any]
    match typing.get_origin(hint):
        case typing.Literal:
            found = {"enum": list(arguments)}
        case builtins.tuple:
            found = {"type": "array", "items": _of(arguments[0])}
        case types.UnionType:
            found = {"anyOf": [_of(one) for one in arguments]}
        case _:
            # What a kernel shows, by MIME type, is whatever JSON it sends.
            found = {"type": "object"}
    return found
