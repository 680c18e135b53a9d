"""Calls of servers from code: who is asked, and what is shown of a call."""

from pathlib import Path
from typing import Any

import pytest

from terp.errors import TerpError
from terp.events import Asked
from terp.person import AutoRun, Choice, Decline, Nobody, Person
from terp.testing import ScriptedPerson
from terp.tools.mcp.servers import ServerCalls
from tests.core.tools.mcp.serving import TIME, Room, program

ADD = {"server": "shop", "function": "add", "given": {"a": 1}}


class Noting(ScriptedPerson):
    """Keeps the choices."""

    def __init__(self, *letters: str) -> None:
        super().__init__(*letters)
        self.choices: list[Choice] = []

    async def choose(self, choice: Choice) -> str | Decline:
        self.choices.append(choice)
        return await super().choose(choice)


async def called(room: Room, **arguments: Any) -> Any:
    return await ServerCalls(room.servers, room.dialog).call({**ADD, **arguments})


def asked(room: Room) -> list[str]:
    events = (record.event for record in room.log.since(0))
    return [event.what for event in events if isinstance(event, Asked)]


async def test_a_call_is_shown_with_its_arguments_and_runs_with_consent(tmp_path: Path) -> None:
    async with Room(tmp_path, ScriptedPerson("y"), shop=program("workshop")) as room:
        assert await called(room, given={"a": 1, "b": 5}) == {"value": 6, "parts": []}
    assert asked(room) == ["Call mcp.shop.add with\n  a = 1\n  b = 5"]


@pytest.mark.parametrize("person", [ScriptedPerson("n"), ScriptedPerson(""), Nobody(), AutoRun()])
async def test_without_consent_the_server_hears_nothing(tmp_path: Path, person: Person) -> None:
    async with Room(tmp_path, person, shop=program("workshop")) as room:
        if isinstance(person, AutoRun):
            assert await called(room) == {"value": 3, "parts": []}
            return
        with pytest.raises(TerpError) as failed:
            await called(room, function="die", given={})
        assert room.only.state == "ready"
    assert failed.value.message == "The user declined to have mcp.shop.die called."


async def test_always_holds_for_that_function_and_no_other(tmp_path: Path) -> None:
    async with Room(tmp_path, ScriptedPerson("a", "n"), shop=program("workshop")) as room:
        calls = ServerCalls(room.servers, room.dialog)
        await calls.call(ADD)
        await calls.call(ADD)
        with pytest.raises(TerpError, match="declined"):
            await calls.call({**ADD, "function": "plain", "given": {"what": "x"}})
    assert len(asked(room)) == 2


async def test_what_a_server_claims_of_a_tool_is_told_and_asked_about_all_the_same(tmp_path: Path) -> None:
    person = Noting("n")
    async with Room(tmp_path, person, time=TIME) as room:
        with pytest.raises(TerpError, match="declined"):
            await called(room, server="time", function="get_current_time", given={"timezone": "UTC"})
    assert [choice.why for choice in person.choices] == ["The server says that it only reads."]


async def test_a_long_call_is_shown_with_the_number_of_what_is_not(tmp_path: Path) -> None:
    async with Room(tmp_path, ScriptedPerson("n"), shop=program("workshop")) as room:
        with pytest.raises(TerpError):
            await called(room, function="plain", given={"what": "x" * 5_000})
    assert asked(room)[0].endswith("x\n  … 3,011 more characters")


async def test_a_function_that_is_not_there_is_told(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        with pytest.raises(TerpError) as failed:
            await called(room, function="nope")
    assert failed.value.message == "MCP server shop has no 'nope'."


async def test_the_kernel_is_told_the_functions_that_are_there_now(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        calls = ServerCalls(room.servers, room.dialog)
        before = await calls.functions({"server": "shop"})
        await room.gives("grow")
        after = await calls.functions({"server": "shop"})
    assert [one["name"] for one in after if one not in before] == ["added"]
