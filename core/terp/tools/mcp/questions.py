"""Elicitation: questions of an MCP server to the user, as a form line by line or a URL to open."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from terp.errors import NobodyThere
from terp.person import Choice, Option
from terp.person.dialog import UserDialog

if TYPE_CHECKING:
    import mcp.types

_ANSWERS = (Option("y", "yes"), Option("n", "no"))
_LONGEST = 1_000
_TRIES = 3
_TRUTHS = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


class _Invalid(Exception):
    """A typed line is not a value of its field."""


class ServerQuestions:
    """Asks the user on behalf of servers. A server gets `cancel` if nobody answers."""

    def __init__(self, dialog: UserDialog) -> None:
        self._dialog = dialog

    async def elicit(self, server: str, params: "mcp.types.ElicitRequestParams") -> "mcp.types.ElicitResult":
        """Ask the user; return `accept` with the values typed, `decline`, or `cancel`."""
        from mcp import types  # noqa: PLC0415  (a server runs, so it is installed)

        what = f"MCP server {server} asks: {params.message[:_LONGEST]}"
        if params.mode == "url":
            done = await self._agrees(Choice(what, _ANSWERS, f"Open {params.url[:_LONGEST]} — is that done?"))
            return types.ElicitResult(action="accept" if done else "decline")
        fields = params.requested_schema.get("properties") or {}
        if not await self._agrees(Choice(what, _ANSWERS, _wanted(fields))):
            return types.ElicitResult(action="decline")
        required = params.requested_schema.get("required") or ()
        try:
            given = {name: await self._field(name, one, name in required) for name, one in fields.items()}
        except (NobodyThere, _Invalid):
            return types.ElicitResult(action="cancel")
        content = {name: value for name, value in given.items() if value is not None}
        return types.ElicitResult(action="accept", content=content)

    async def _agrees(self, choice: Choice) -> bool:
        return await self._dialog.choose(choice) == "y"

    async def _field(self, name: str, schema: Mapping[str, Any], required: bool) -> Any:
        """Return the value typed for a field; the default, or None, after an empty line for an optional one.

        Raises:
            NobodyThere: nobody can answer.
            _Invalid: three lines were not valid.
        """
        prompt = f"{schema.get('title') or name} ({_kind(schema)}{'' if required else ', may be empty'}): "
        for _ in range(_TRIES):
            line = await self._dialog.line(prompt)
            if not line.strip() and not required:
                return schema.get("default")
            try:
                return _value(line, schema)
            except (_Invalid, ValueError):
                self._dialog.notify(f"{name} must be {_kind(schema)}.")
        raise _Invalid


def _wanted(fields: Mapping[str, Any]) -> str:
    return f"It asks for {', '.join(fields)}. Answer?" if fields else "Do you agree?"


def _kind(schema: Mapping[str, Any]) -> str:
    if choices := _choices(schema):
        return " | ".join(choices)
    kind = schema.get("type")
    known = {
        "boolean": "yes | no",
        "integer": "a whole number",
        "number": "a number",
        "array": "a list, with commas",
    }
    return known.get(str(kind), str(schema.get("format") or "text"))


def _choices(schema: Mapping[str, Any]) -> list[str]:
    titled = schema.get("oneOf") or ()
    return [*map(str, schema.get("enum") or ()), *(str(one["const"]) for one in titled if "const" in one)]


def _value(line: str, schema: Mapping[str, Any]) -> Any:
    text = line.strip()
    if (choices := _choices(schema)) and text not in choices:
        raise _Invalid
    match schema.get("type"):
        case "boolean":
            if text.lower() not in _TRUTHS:
                raise _Invalid
            return _TRUTHS[text.lower()]
        case "integer":
            return int(text)
        case "number":
            return float(text)
        case "array":
            return [part.strip() for part in text.split(",") if part.strip()]
    if not text:
        raise _Invalid
    return line
