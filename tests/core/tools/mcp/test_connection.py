"""A server that is a program: the one from PyPI, one made with the library, one of the old protocol."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.settings.mcp_servers import McpServer
from terp.testing import ScriptedPerson
from terp.tools.mcp.connection import Patience
from tests.core.tools.mcp.serving import TIME, Room, program, script
from tests.core.tools.mcp.workshop import SOUND


async def test_a_tool_of_a_server_from_pypi_is_called(tmp_path: Path) -> None:
    async with Room(tmp_path, time=TIME) as room:
        now = await room.gives("get_current_time", timezone="Asia/Tokyo")
    assert (now["timezone"], now["is_dst"], now["datetime"][-6:]) == ("Asia/Tokyo", False, "+09:00")


async def test_what_the_tool_refuses_is_its_error(tmp_path: Path) -> None:
    async with Room(tmp_path, time=TIME) as room:
        with pytest.raises(TerpError) as failed:
            await room.gives("get_current_time", timezone="Nowhere")
    assert failed.value.message == (
        "mcp.time.get_current_time: Error executing tool get_current_time: "
        "Invalid timezone: 'No time zone found with key Nowhere'"
    )


async def test_results_are_values_where_they_are_structured_and_parts_where_not(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        assert await room.gives("add", a=1) == 3
        assert await room.gives("say", what="x") == ["x", "x"]
        assert await room.gives("plain", what="x") == [{"said": "x"}]
        assert await room.gives("read_file", path="a") == [{"said": "a None"}]
        assert await room.gives("sound") == [{"data": SOUND, "mime": "audio/wav", "uri": ""}]
        assert await room.gives("papers") == [
            {"text": "the paper", "mime": "text/plain", "uri": "paper://1"},
            {"link": "paper://2", "name": "another", "mime": ""},
        ]
        words, picture = await room.gives("drawing")
    assert (words, picture["mime"]) == ({"said": "here it is"}, "image/png")


async def test_resources_are_listed_and_read(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        [listed] = await room.gives("list_resources")
        read = await room.gives("read_resource", uri=listed["uri"])
    assert (listed["uri"], read) == (
        "paper://1",
        [{"text": "the paper", "mime": "text/plain", "uri": "paper://1"}],
    )


async def test_a_server_without_resources_has_no_functions_for_them(tmp_path: Path) -> None:
    async with Room(tmp_path, time=TIME) as room:
        await room.only.ready()
        assert sorted(room.only.functions) == ["convert_time", "get_current_time"]


async def test_a_server_gets_no_key_of_terp_but_what_its_settings_give(tmp_path: Path) -> None:
    server = program("workshop", env={"TOKEN": "${GIVEN}", "PLAIN": "x"}, cwd="sub")
    (tmp_path / "sub").mkdir()
    async with Room(tmp_path, shop=server) as room:
        seen = await room.gives("surroundings")
    assert (seen["TOKEN"], seen["PLAIN"], seen["cwd"]) == ("from terp", "x", str(tmp_path / "sub"))
    assert "API_KEY" not in seen


async def test_a_call_that_takes_too_long_ends_and_the_server_goes_on(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop", timeout_s=1.0)) as room:
        with pytest.raises(TerpError) as failed:
            await room.gives("slow")
        first = await room.gives("pid")
        assert await room.gives("pid") == first
    assert failed.value.message == "mcp.shop.slow took longer than 1 s (timeout_s of the server)."


async def test_a_server_that_dies_in_a_call_is_one_line_and_is_there_at_the_next(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        first = await room.gives("pid")
        with pytest.raises(TerpError) as failed:
            await room.gives("die")
        assert room.only.state == "down"
        second = await room.gives("pid")
    assert failed.value.message == "MCP server shop: it has ended. It said last: out of paper"
    assert failed.value.remedy == "The next call connects again, and so does /mcp restart shop."
    assert first != second


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (McpServer(command="no-such-program"), "there is no program 'no-such-program'."),
        (script("import sys; sys.exit('no key given')"), "it has ended. It said last: no key given"),
        (script("raise SystemExit"), "it has ended."),
        (program("workshop", env={"K": "${UNSET}"}), "${UNSET} is not set in terp's environment."),
    ],
)
async def test_a_server_that_does_not_come_up_is_one_line(
    tmp_path: Path, server: McpServer, told: str
) -> None:
    async with Room(tmp_path, bad=server) as room:
        with pytest.raises(TerpError) as failed:
            await room.only.ready()
    assert failed.value.message == f"MCP server bad: {told}"


async def test_the_last_lines_of_a_server_are_told_and_where_the_others_are(tmp_path: Path) -> None:
    wrong = script("import sys; sys.exit('starting\\nno such folder: data\\nnpm notice\\n\\nbye')")
    async with Room(tmp_path, bad=wrong) as room:
        with pytest.raises(TerpError) as failed:
            await room.only.ready()
    said = f"no such folder: data · npm notice · bye (all of it: {tmp_path / 'logs/bad.log'})"
    assert failed.value.message == f"MCP server bad: it has ended. It said last: {said}"


async def test_what_a_server_writes_to_stderr_goes_to_its_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        with pytest.raises(TerpError):
            await room.gives("die")
    assert "out of paper" in (tmp_path / "logs/shop.log").read_text()
    assert capfd.readouterr() == ("", "")


async def test_no_key_stays_in_what_a_server_wrote_to_stderr(tmp_path: Path) -> None:
    key = "sk-" + "a1B2" * 8
    async with Room(tmp_path, bad=script(f"import sys; sys.exit('no account for {key}')")) as room:
        with pytest.raises(TerpError, match=r"It said last: no account for \[redacted\]"):
            await room.only.ready()
    assert (tmp_path / "logs/bad.log").read_text() == "no account for [redacted]\n"


async def test_a_new_tool_is_there_once_the_server_has_told_of_it(tmp_path: Path) -> None:
    async with Room(tmp_path, old=program("old")) as room:
        await room.gives("later")
        assert await room.gives("new") == [{"said": "{}"}]


async def test_a_new_tool_is_there_once_it_is_looked_for(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        await room.gives("grow")
        await room.only.ready(refresh=True)
        assert "added" in room.only.functions


async def test_names_are_those_of_the_server_on_the_wire(tmp_path: Path) -> None:
    async with Room(tmp_path, old=program("old")) as room:
        [part] = await room.gives("odd_one", from_="a", to_do="b")
    assert json.loads(part["said"]) == {"from": "a", "to-do": "b"}


async def test_what_a_server_asks_back_is_answered_by_the_protocol(tmp_path: Path) -> None:
    person = ScriptedPerson("y", "41")
    async with Room(tmp_path, person, old=program("old")) as room:
        [part] = await room.gives("ask")
    told = json.loads(part["said"])
    assert told["roots/list"] == {"roots": [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]}
    assert told["sampling/createMessage"] == "Sampling not supported"
    assert told["elicitation/create"] == {"action": "accept", "content": {"age": 41}}
    assert told["nothing/known"] == "Method not found"


async def test_the_new_protocol_asks_back_as_well(tmp_path: Path) -> None:
    person = ScriptedPerson("y", "lemon", "", "maybe", "yes")
    async with Room(tmp_path, person, shop=program("workshop")) as room:
        assert await room.gives("bake") == "lemon, 1, True"
        assert await room.gives("roots") == [tmp_path.as_uri()]


async def test_a_closed_server_is_gone(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        pid = await room.gives("pid")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_call_that_takes_too_long_is_ended() -> None:
    never = asyncio.Event()
    with pytest.raises(TimeoutError):
        await Patience(0.01).within(never.wait())


async def test_without_a_limit_a_call_takes_as_long_as_it_does() -> None:
    assert await Patience(0).within(asyncio.sleep(0.01, "done")) == "done"


async def test_time_in_which_the_person_is_asked_does_not_count() -> None:
    patience = Patience(0.05)

    async def call() -> str:
        await patience.paused(asyncio.sleep(0.2))
        return "done"

    assert await patience.within(call()) == "done"


async def test_after_the_question_the_limit_is_there_again() -> None:
    patience, never = Patience(0.05), asyncio.Event()

    async def call() -> None:
        await patience.paused(asyncio.sleep(0))
        await never.wait()

    with pytest.raises(TimeoutError):
        await patience.within(call())


async def test_a_call_that_begins_while_the_person_is_asked_waits_for_them_too() -> None:
    patience, answered = Patience(0.05), asyncio.Event()
    asking = asyncio.create_task(patience.paused(answered.wait()))
    # It has asked once the loop went round.
    await asyncio.sleep(0)
    begun = asyncio.create_task(patience.within(answered.wait()))
    await asyncio.wait({begun}, timeout=0.2)
    answered.set()
    assert (await asking, await begun) == (True, True)
