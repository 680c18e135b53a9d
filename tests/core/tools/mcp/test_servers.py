"""All servers of a session: their ends, their names, what is told of them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.settings.installation import install_extra
from terp.settings.mcp_servers import McpServer
from tests.core.tools.mcp.serving import HERE, TIME, Room, program, script

# It takes no notice of the end of its input, nor of a request to end.
STUBBORN = """
import os, pathlib, runpy, signal, subprocess, sys, threading
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdin=subprocess.DEVNULL)
pathlib.Path(sys.argv[2]).write_text(f"{os.getpid()} {child.pid}")
threading.Thread(target=lambda: __import__("time").sleep(600)).start()
runpy.run_path(sys.argv[1], run_name="__main__")
"""

HOLDER = """
import asyncio, pathlib, sys
sys.path[:0] = {path!r}
from tests.core.tools.mcp.serving import Room
from tests.core.tools.mcp.test_servers import stubborn
folder = pathlib.Path({folder!r})
async def hold():
    async with Room(folder, hard=stubborn(folder / "pids")) as room:
        await room.only.ready()
        print("up", flush=True)
        await asyncio.sleep(600)
asyncio.run(hold())
"""


def stubborn(pids: Path) -> McpServer:
    return McpServer(command=sys.executable, args=("-c", STUBBORN, str(HERE / "old.py"), str(pids)))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_servers_begin_together_and_a_slow_one_holds_up_nobody(tmp_path: Path) -> None:
    silent = script("import time; time.sleep(600)")
    async with Room(tmp_path, silent=silent, old=program("old")) as room:
        room.servers.start()
        await room.servers.connections["old"].started()
        await room.servers.settled(0.01)
        assert room.servers.starting == ["silent"]
        assert "ask" in room.servers.connections["old"].functions


async def test_why_a_server_is_down_is_told_once(tmp_path: Path) -> None:
    async with Room(tmp_path, gone=McpServer(command="no-such-program")) as room:
        room.servers.start()
        await room.servers.settled(30)
        told = [failure.message for failure in room.servers.news()]
        assert list(room.servers.news()) == []
    assert told == ["MCP server gone: there is no program 'no-such-program'."]


async def test_the_same_reason_is_told_again_when_a_server_went_down_again(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        told = []
        for _ in range(2):
            with pytest.raises(TerpError):
                await room.gives("die")
            told.append([failure.message for failure in room.servers.news()])
    assert told == [["MCP server shop: it has ended. It said last: out of paper"]] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="processes are known by their environment on Linux")
async def test_a_server_that_will_not_go_is_gone_within_three_seconds_with_its_children(
    tmp_path: Path,
) -> None:
    async with Room(tmp_path, hard=stubborn(tmp_path / "pids")) as room:
        await room.only.ready()
        began = time.monotonic()
    assert time.monotonic() - began < 3.0
    assert [pid for pid in map(int, (tmp_path / "pids").read_text().split()) if alive(pid)] == []


@pytest.mark.skipif(sys.platform != "linux", reason="processes are known by their environment on Linux")
def test_no_server_outlives_terp_when_that_is_killed(tmp_path: Path) -> None:
    holder = tmp_path / "holder.py"
    holder.write_text(HOLDER.format(path=sys.path, folder=str(tmp_path)))
    process = subprocess.Popen([sys.executable, str(holder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    pids = list(map(int, (tmp_path / "pids").read_text().split()))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < deadline:
        os.sched_yield()
    assert [pid for pid in pids if alive(pid)] == []


async def test_a_server_that_is_still_starting_is_let_go_as_well(tmp_path: Path) -> None:
    async with Room(tmp_path, silent=script("import time; time.sleep(600)")) as room:
        room.servers.start()
        await asyncio.sleep(0)
    assert room.only.state == "down"


async def test_a_server_is_started_anew(tmp_path: Path) -> None:
    async with Room(tmp_path, shop=program("workshop")) as room:
        first = await room.gives("pid")
        await room.servers.restart("shop")
        assert room.only.state == "ready"
        assert await room.gives("pid") != first


async def test_a_server_that_is_not_there_is_told_which_are(tmp_path: Path) -> None:
    async with Room(tmp_path, time=TIME, shop=TIME) as room:
        with pytest.raises(TerpError) as failed:
            room.servers.named("tme")
    assert failed.value.message == "There is no MCP server 'tme'; there are: time, shop."


async def test_a_server_is_found_by_its_name_in_settings_and_in_python(tmp_path: Path) -> None:
    async with Room(tmp_path, None, **{"my-time": TIME}) as room:
        assert room.servers.named("my-time") is room.servers.named("my_time")


async def test_a_function_has_every_name_by_which_models_call_it(tmp_path: Path) -> None:
    async with Room(tmp_path, time=TIME, clock=TIME, old=program("old")) as room:
        room.servers.start()
        await room.servers.settled(30)
        calls = room.servers.calls
    assert {name for name, python in calls.items() if python == "mcp.old.odd_one"} == {
        "mcp.old.odd_one",
        "old.odd_one",
        "mcp__old__odd_one",
        "odd_one",
        "odd one",
    }
    # Two servers have it, so it alone would not say which is meant.
    assert "convert_time" not in calls
    assert calls["mcp__clock__convert_time"] == "mcp.clock.convert_time"


WITHOUT = """
import asyncio, pathlib, sys
sys.path[:0] = {path!r}
sys.modules["mcp"] = None
from terp.settings.mcp_servers import McpServer
from terp.tools.mcp.transports import Programs
from terp.tools.mcp.servers import Servers
async def told():
    declared = {{name: McpServer(command="x") for name in ("a", "b")}}
    servers = Servers(declared, Programs({{}}, "/", pathlib.Path({folder!r})), None)
    servers.start()
    await servers.settled(30)
    print(*(failure.message for failure in servers.news()), sep="\\n")
    await servers.aclose()
asyncio.run(told())
"""


def test_without_the_library_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    code = WITHOUT.format(path=sys.path, folder=str(tmp_path))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == (
        f"MCP servers need the library mcp, which is not installed: {install_extra('mcp')}\n"
    )
