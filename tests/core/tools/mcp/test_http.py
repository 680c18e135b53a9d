"""A server at an address: streamable HTTP, with a key in a header."""

from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.settings.mcp_servers import McpServer
from tests.core.tools.mcp.serving import KEY, Room, at_an_address


def at(url: str, key: str = "Bearer ${GIVEN}") -> McpServer:
    return McpServer(url=url, headers={"Authorization": key})


async def test_a_tool_is_called_with_a_key_from_terps_environment(tmp_path: Path) -> None:
    async with at_an_address(key="Bearer from terp") as url, Room(tmp_path, web=at(url)) as room:
        assert await room.gives("add", a=40) == 42
        assert room.only.version == "workshop 1.0"


@pytest.mark.parametrize(("status", "told"), [(401, "401 Unauthorized"), (503, "503 Service Unavailable")])
async def test_a_server_that_refuses_is_told_with_its_status(tmp_path: Path, status: int, told: str) -> None:
    async with at_an_address(status=status) as url, Room(tmp_path, web=at(url)) as room:
        with pytest.raises(TerpError) as failed:
            await room.only.ready()
    assert failed.value.message == f"MCP server web: {McpServer(url=url).where} answered {told}."


async def test_nobody_at_the_address_is_one_line(tmp_path: Path) -> None:
    async with at_an_address() as url:
        pass
    async with Room(tmp_path, web=at(url)) as room:
        with pytest.raises(TerpError) as failed:
            await room.only.ready()
    assert failed.value.message == (
        f"MCP server web: {McpServer(url=url).where} cannot be reached: All connection attempts failed."
    )


async def test_a_server_that_went_away_is_one_line_and_is_there_again_at_a_later_call(tmp_path: Path) -> None:
    key = "Bearer from terp"
    async with at_an_address(key=key) as url:
        room = Room(tmp_path, web=at(url))
        assert await room.gives("add", a=1) == 3
    with pytest.raises(TerpError) as failed:
        await room.gives("add", a=1)
    assert room.only.state == "down"
    async with room, at_an_address(key=key, port=int(url.rpartition(":")[2].partition("/")[0])):
        assert await room.gives("add", a=2) == 4
    assert failed.value.message.startswith(f"MCP server web: {McpServer(url=url).where} cannot be reached: ")


async def test_a_status_of_before_is_no_reason_for_what_comes_later(tmp_path: Path) -> None:
    refused: list[str] = []
    async with at_an_address(status=500, refused=refused) as url:
        room = Room(tmp_path, web=at(url, KEY))
        assert await room.gives("add", a=1) == 3
        refused.append("POST")
        with pytest.raises(TerpError):
            await room.gives("add", a=1)
        refused.clear()
        assert await room.gives("add", a=1) == 3
    async with room:
        with pytest.raises(TerpError) as failed:
            await room.gives("add", a=1)
    assert failed.value.message.startswith(f"MCP server web: {McpServer(url=url).where} cannot be reached: ")


async def test_a_key_is_in_no_message(tmp_path: Path) -> None:
    async with at_an_address() as url, Room(tmp_path, web=at(url, KEY)) as room:
        assert await room.gives("add", a=1) == 3
        with pytest.raises(TerpError) as failed:
            await room.gives("fail")
    assert "let-me-in" not in failed.value.message
