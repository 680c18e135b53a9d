"""The JSON Schema of a profile, with which editors complete, explain and check entries."""

from collections.abc import Mapping
from typing import Any

from terp.settings import Settings
from terp.settings.setting import Setting, table

NAME = "schema.json"
_NO_LIMIT = float("inf")
_TYPES: Mapping[str, Mapping[str, Any]] = {
    "text": {"type": "string"},
    "switch": {"type": "boolean"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "names": {"type": "array", "items": {"type": "string", "minLength": 1}},
    "rules": {
        "type": "array",
        "items": {
            "anyOf": [
                {"type": "string", "pattern": "^ *(shell|effects) *:"},
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"shell": {"type": "string"}, "effects": {"type": "string"}},
                    "minProperties": 1,
                    "maxProperties": 1,
                },
            ]
        },
    },
    "mapping": {"type": "object"},
}


def profile_schema() -> dict[str, Any]:
    """Return the schema, generated from the table of settings."""
    rows = [row for row in table(Settings).values() if row.in_files]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Settings of terp",
        "description": "A profile, a file of a project, or config.yaml.",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "extends": {"type": "string", "description": "The profile that this one extends."},
            "profile": {
                "type": "string",
                "description": "In config.yaml: the profile to use unless the call names another. In a file "
                "of a project: the profile of the user's to use there.",
            },
            "folders": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "In config.yaml: the profile to use in each of these folders and below.",
            },
            **{row.name: _property(row) for row in rows},
        },
    }


def _property(row: Setting) -> dict[str, Any]:
    made = {**_TYPES.get(row.kind, {}), "description": _about(row)}
    if row.choices:
        made["enum"] = list(row.choices)
    if row.kind in ("whole", "number"):
        low, high = row.limits
        made |= {"minimum": low} if high == _NO_LIMIT else {"minimum": low, "maximum": high}
    if row.kind == "mapping":
        return {**made, "additionalProperties": _entry(row)}
    if row.default is not None and row.default in made.get("enum", [row.default]):
        made["default"] = list(row.default) if isinstance(row.default, tuple) else row.default
    return made


def _entry(row: Setting) -> dict[str, Any]:
    """Return one entry of a group."""
    if row.free:
        return {}
    if row.each is None:
        return {"type": "string"}
    fields = {field.name: _property(field) for field in table(row.each).values()}
    return {"type": "object", "additionalProperties": False, "properties": fields}


def _about(row: Setting) -> str:
    facts = [row.about[:1].upper() + row.about[1:]]
    facts += [f"in {row.unit}"] if row.unit else []
    facts += [f"{'0' if row.default == 0 else 'unset'}: {row.unset}"] if row.unset else []
    whose = "" if "project" in row.sources else " A project cannot set it."
    return f"{'; '.join(facts)}.{whose}"
