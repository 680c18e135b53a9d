"""`terp mcp` and `/mcp`."""

import json
import sys
from pathlib import Path

from terp.errors import TerpError
from terp.settings.mcp_servers import McpServer
from tests.cli.repl.commands.here import Here
from tests.cli.running import Terp
from tests.core.tools.mcp.serving import TIME, Room, program
from tests.core.tools.mcp.serving import script as broken
from tests.loopback import Call

SERVERS = f"""\
mcp_servers:
  time: {{command: {sys.executable}, args: [-m, mcp_server_time, --local-timezone, UTC]}}
"""
HOSTILE = "\x1b]0;title\x07\x1b[2J\u202e"


def test_the_command_connects_and_says_what_servers_offer(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    (terp.home / "config.yaml").write_text(SERVERS)
    result = terp("mcp")
    head, *functions = result.out.splitlines()
    assert (result.code, result.notes) == (0, "")
    assert head.startswith("time  ready  2 functions, mcp-time ")
    assert functions == [
        "  mcp.time.get_current_time  (timezone: str)  [says it only reads]",
        "  mcp.time.convert_time      (source_timezone: str, time: str, target_timezone: str)"
        "  [says it only reads]",
    ]


def test_a_server_that_cannot_be_reached_is_one_line_and_a_failure(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    result = terp("mcp", TERP_MCP_SERVERS='{"gone": {"command": "no-such-program"}}')
    assert (result.code, result.out) == (
        1,
        "gone  down  there is no program 'no-such-program'.\n",
    )


def test_without_servers_it_is_said_where_they_are_named(tmp_path: Path) -> None:
    result = Terp(tmp_path)("mcp")
    assert (result.code, result.notes) == (
        0,
        "terp: There are no MCP servers: add them to mcp_servers in a profile or config.yaml.\n",
    )


def test_functions_of_servers_are_among_the_tools(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    (terp.home / "config.yaml").write_text(SERVERS)
    rows = [line.split()[0] for line in terp("tools").out.splitlines()]
    assert {"fetch_url", "mcp.time.get_current_time"} <= {*rows}


def test_a_mistake_in_a_profile_has_its_place(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    (terp.cwd / "p.yaml").write_text("mcp_servers:\n  a: {comand: x}\n")
    result = terp("mcp", "-p", "./p.yaml")
    assert (result.code, result.notes) == (
        2,
        "terp: p.yaml:2: unknown setting 'mcp_servers.a.comand'. Did you mean 'command'?\n",
    )


def test_nothing_that_a_server_says_reaches_the_terminal_raw(tmp_path: Path) -> None:
    code = f"import sys; sys.stderr.write({HOSTILE!r}); sys.exit(1)"
    servers = {"bad": {"command": sys.executable, "args": ["-c", code]}}
    result = Terp(tmp_path)("mcp", TERP_MCP_SERVERS=json.dumps(servers))
    assert "title" in result.out
    assert {*result.out, *result.notes} & {"\x1b", "\x07", "\u202e"} == set()


def test_a_question_in_a_pipeline_is_answered_with_a_server(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    (terp.home / "config.yaml").write_text(SERVERS)
    code = "print(mcp.time.get_current_time('UTC')['timezone'])"
    result = terp.asked([[Call(code=code)], "It is UTC."], "-y", "which?")
    assert (result.code, result.out) == (0, "It is UTC.\n")
    assert result.requests[1]["messages"][-1]["content"] == "UTC"


async def test_servers_are_listed_in_a_session(tmp_path: Path) -> None:
    async with Room(tmp_path, old=program("old"), bad=broken("raise SystemExit('no key')")) as room:
        here = Here(tmp_path)
        here.session.resources.servers = room.servers
        room.servers.start()
        await room.servers.settled(30)
        first, second = await here.does("/mcp")
        assert await here.does("/mcp old") == [
            "mcp.old.ask      ()",
            "mcp.old.odd_one  (to_do: str, from_: str = None)",
            "mcp.old.later    ()",
        ]
        tools = await here.does("/tools")
    assert first.startswith("old  ready  3 functions, old 0.1, ")
    assert second == "bad  down   it has ended. It said last: no key"
    assert tools[0].split() == ["mcp.old.ask", "()", "MCP", "server", "old"]


async def test_a_server_is_started_anew_in_a_session(tmp_path: Path) -> None:
    async with Room(tmp_path, old=program("old")) as room:
        here = Here(tmp_path)
        here.session.resources.servers = room.servers
        assert await here.does("/mcp restart old") == ["MCP server old is up, with 3 functions."]


async def test_what_cannot_be_done_with_servers_is_told(tmp_path: Path) -> None:
    async with Room(tmp_path, one=McpServer(command="no-such-program"), two=TIME) as room:
        here = Here(tmp_path)
        assert await here.does("/mcp") == [
            "There are no MCP servers: add them to mcp_servers in a profile or config.yaml."
        ]
        here.session.resources.servers = room.servers
        told = []
        for line in ("/mcp three", "/mcp restart", "/mcp restart one"):
            try:
                await here.does(line)
            except TerpError as error:
                told.append(error.message)
    assert told == [
        "There is no MCP server 'three'; there are: one, two.",
        "/mcp restart needs the name of a server.",
        "MCP server one: there is no program 'no-such-program'.",
    ]
