"""The JSON Schema of events in their wire form (`terp.events.wire`), from the dataclasses themselves."""

import builtins
import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any

from terp.events import outputs, wire

_PLAIN: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    types.NoneType: {"type": "null"},
    Any: {},
}


def schema() -> dict[str, Any]:
    """The schema of a record: one of the events, with its number and its time."""
    record = {
        "number": {"type": "integer", "description": "Counted from 1; numbers may have gaps."},
        "time": {"type": "number", "description": "Seconds since the epoch."},
    }
    events = {name: _object(kind, "event", name) for name, kind in wire.event_types().items()}
    for event in events.values():
        event["properties"] |= record
        event["required"] += ["number", "time"]
    shown = {name: _object(kind, "kind", name) for name, kind in wire.output_types().items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An event of terp",
        "version": wire.VERSION,
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
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if hint == outputs.Output:
        return {"oneOf": [{"$ref": f"#/$defs/output.{name}"} for name in wire.output_types()]}
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
