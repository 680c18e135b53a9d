"""What a server wants to know of the person."""

from pathlib import Path
from typing import Any

import pytest
from mcp.types import ElicitRequestFormParams, ElicitRequestURLParams

from terp.events import Asked
from terp.testing import ScriptedPerson
from terp.tools.mcp.questions import ServerQuestions
from tests.core.tools.mcp.serving import Nobody, Room


def form(*required: str, **fields: Any) -> ElicitRequestFormParams:
    schema = {"type": "object", "properties": fields, "required": list(required)}
    return ElicitRequestFormParams(message="What now?", requested_schema=schema)


async def answered(tmp_path: Path, person: ScriptedPerson, params: Any) -> tuple[str, Any, list[str]]:
    room = Room(tmp_path, person)
    result = await ServerQuestions(room.dialog).elicit("shop", params)
    events = (record.event for record in room.log.since(0))
    return result.action, result.content, [event.what for event in events if isinstance(event, Asked)]


async def test_a_form_is_asked_field_by_field(tmp_path: Path) -> None:
    asked = form("name", name={"type": "string", "title": "Name"}, age={"type": "integer"})
    action, content, questions = await answered(tmp_path, ScriptedPerson("y", "Ada", "36"), asked)
    assert (action, content) == ("accept", {"name": "Ada", "age": 36})
    assert questions == [
        "MCP server shop asks: What now?",
        "Name (text): ",
        "age (a whole number, may be empty): ",
    ]


@pytest.mark.parametrize(
    ("schema", "line", "value"),
    [
        ({"type": "boolean"}, "Yes", True),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "string", "enum": ["a", "b"]}, "b", "b"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "X"}]}, "x", "x"),
        ({"type": "array", "items": {"enum": ["p", "q"]}}, "p, q", ["p", "q"]),
        ({"type": "string", "default": "d"}, "", "d"),
    ],
)
async def test_a_line_becomes_what_the_field_wants(
    tmp_path: Path, schema: dict[str, Any], line: str, value: Any
) -> None:
    _, content, _ = await answered(tmp_path, ScriptedPerson("y", line), form(field=schema))
    assert content == {"field": value}


async def test_what_is_no_value_is_asked_again(tmp_path: Path) -> None:
    person = ScriptedPerson("y", "old", "36")
    assert (await answered(tmp_path, person, form(age={"type": "integer"})))[1] == {"age": 36}


async def test_an_empty_line_leaves_out_what_may_be(tmp_path: Path) -> None:
    person = ScriptedPerson("y", "")
    assert (await answered(tmp_path, person, form(age={"type": "integer"})))[:2] == ("accept", {})


async def test_who_does_not_want_to_answer_declines(tmp_path: Path) -> None:
    assert (await answered(tmp_path, ScriptedPerson("n"), form(a={"type": "string"})))[:2] == (
        "decline",
        None,
    )


async def test_where_nobody_types_it_is_cancelled(tmp_path: Path) -> None:
    assert (await answered(tmp_path, Nobody("y"), form("a", a={"type": "string"})))[:2] == ("cancel", None)


@pytest.mark.parametrize(("letter", "action"), [("y", "accept"), ("n", "decline"), ("", "decline")])
async def test_an_address_is_shown_and_never_opened_by_terp(tmp_path: Path, letter: str, action: str) -> None:
    asked = ElicitRequestURLParams(message="Sign in", url="https://example.com/in")
    assert (await answered(tmp_path, ScriptedPerson(letter), asked))[:2] == (action, None)
