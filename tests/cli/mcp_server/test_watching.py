"""`terp mcp-server --watch`: the user follows an agent on the page, approves, types and stops."""

import asyncio
import json
import os
import pty
import re
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.mcp_server.connecting import User, over_stdio
from tests.cli.running import Terp


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


class Watcher:
    """A client of the page, as a browser is."""

    def __init__(self, page: httpx.AsyncClient, session: str) -> None:
        self.page, self.session = page, session

    async def post(self, path: str, **body: Any) -> httpx.Response:
        return await self.page.post(f"/v1/sessions/{self.session}{path}", json=body)

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        async with self.page.stream("GET", f"/v1/sessions/{self.session}/events") as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))


@asynccontextmanager
async def watching(terp: Terp) -> AsyncGenerator[Watcher, None]:
    """`terp mcp-server --watch` at a terminal of its own, and the page whose address it prints."""
    master, slave = pty.openpty()
    process = terp.start("mcp-server", "--watch", stdin=slave)
    assert process.stdout is not None
    try:
        line = await asyncio.to_thread(process.stdout.readline)
        found = re.fullmatch(r"an-agent in \S+: (http://\S+)/#token=(\S+)&session=(\S+)\n", line)
        assert found is not None, line
        headers = {"Authorization": f"Bearer {found[2]}"}
        async with httpx.AsyncClient(base_url=found[1], headers=headers, trust_env=False, timeout=30) as page:
            yield Watcher(page, found[3])
    finally:
        await asyncio.to_thread(process.communicate, timeout=20)
        os.close(master)
        os.close(slave)


async def test_a_watching_user_is_asked_on_the_page(terp: Terp) -> None:
    (terp.cwd / "old.txt").write_text("old")
    client = User("decline")
    async with over_stdio(terp, user=client) as agent:
        await agent.run("x = 41")
        async with watching(terp) as watcher:
            running: asyncio.Task[str] | None = None
            async for event in watcher.events():
                running = running or asyncio.create_task(agent.run("import os; os.remove('old.txt')"))
                if event["event"] == "asked" and event["kind"] == "choice":
                    answered = await watcher.post(f"/answers/{event['question_id']}", answer="y")
                    assert answered.status_code == 200
                    break
            assert running is not None
            assert "deleted old.txt" in await running
        assert client.asked == []
        # Nobody watches any more, and nobody is waited for.
        (terp.cwd / "old.txt").write_text("old")
        assert "declined through the client" in await agent.run("os.remove('old.txt')")


async def test_the_user_types_in_the_same_kernel_and_the_agent_reads_of_it(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        await agent.run("x = 41")
        async with watching(terp) as watcher:
            typed = await watcher.post("/turns", prompt=">>> y = x + 1")
            assert '"status":"ok"' in typed.text
            other = await watcher.post("/turns", prompt="hello")
            assert "No model answers here" in other.text
            said = await agent.run("y")
    assert said == "[note: the user ran code here, too (run 2): y = x + 1]\n42\n[note: run 3]"


async def test_the_user_stops_the_code_of_an_agent(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        await agent.run("import time")
        async with watching(terp) as watcher:
            running = asyncio.create_task(agent.run("print('begun')\nfor n in range(600): time.sleep(0.1)"))
            async for event in watcher.events():
                if event["event"] == "printed" and "begun" in str(event["output"]):
                    break
            await watcher.post("/interrupt")
            assert "KeyboardInterrupt" in await running
        assert (await agent.run("n < 600")).startswith("True\n")


async def test_an_agent_whose_session_is_closed_on_the_page_gets_a_new_kernel(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        await agent.run("x = 1")
        async with watching(terp) as watcher:
            assert (await watcher.post("/close")).status_code == 204
            assert "NameError" in await agent.run("x")


async def test_several_users_watch_one_page(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        await agent.run("x = 1")
        async with watching(terp) as one, watching(terp) as two:
            assert (one.page.base_url, one.session) == (two.page.base_url, two.session)
            assert (await two.page.get("/heartbeat")).status_code == 200


def test_without_a_server_there_is_nothing_to_watch(terp: Terp) -> None:
    master, slave = pty.openpty()
    for flags, code, said in (
        (["--watch"], 1, "no terp mcp-server runs here"),
        ([], 2, "an MCP client starts terp mcp-server"),
    ):
        process = terp.start("mcp-server", *flags, stdin=slave)
        _, notes = process.communicate(timeout=30)
        assert (process.returncode, said in notes) == (code, True)
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize("flags", [("-m", "gpt-5"), ("--until", "make"), ("--record", "calls.json")])
def test_flags_that_the_client_stands_in_for_are_refused(terp: Terp, flags: tuple[str, str]) -> None:
    refused = terp("mcp-server", *flags)
    said = f"terp: {flags[0]} has no effect here: the MCP client is the model.\n"
    assert (refused.code, refused.notes) == (2, said)


def test_a_server_that_is_watched_from_its_start_writes_the_address_to_stderr(terp: Terp) -> None:
    process = terp.start("mcp-server", "--watch", stdin=subprocess.PIPE)
    assert process.stderr is not None
    assert re.fullmatch(r"terp: page: http://127\.0\.0\.1:\d+/#token=\S+\n", process.stderr.readline())
    out, notes = process.communicate(timeout=30)
    assert (process.returncode, out, notes) == (0, "", "")
