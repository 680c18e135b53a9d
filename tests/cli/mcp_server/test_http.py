"""Agents over streamable HTTP, with the token of the server."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.cli.mcp_server.connecting import Calling, User
from tests.cli.running import Terp

TOKEN = "a-token-that-was-given-to-the-server"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    terp = Terp(tmp_path)
    process = terp.start(
        *("mcp-server", "--port", "0"), stdin=subprocess.DEVNULL, environ={"TERP_SERVER_TOKEN": TOKEN}
    )
    assert process.stderr is not None
    try:
        lines = iter(process.stderr.readline, "")
        found = next(line.split()[-1] for line in lines if line.startswith("terp: mcp: "))
        yield found
    finally:
        process.send_signal(signal.SIGTERM)
        _, notes = process.communicate(timeout=20)
        assert "Traceback" not in notes
        assert TOKEN not in notes


@asynccontextmanager
async def over_http(url: str, user: User | None = None, mode: str = "auto") -> AsyncGenerator[Calling, None]:
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"})
    transport = streamable_http_client(url, http_client=http)
    async with http, Client(transport, mode=mode, elicitation_callback=user) as client:
        yield Calling(client)


def open_sessions(url: str) -> int:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = httpx.get(url.replace("/mcp", "/heartbeat"), headers=headers, trust_env=False)
    return int(answer.json()["sessions"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_kernel_lives_as_long_as_the_session_of_its_client(url: str, mode: str) -> None:
    async with over_http(url, mode=mode) as one, over_http(url, mode=mode) as two:
        await asyncio.gather(one.run("x = 'one'"), two.run("x = 'two'"))
        assert await one.run("x") == "'one'\n[note: run 2]"
        assert await two.run("x") == "'two'\n[note: run 2]"
        assert await asyncio.to_thread(open_sessions, url) == 2
    assert await asyncio.to_thread(open_sessions, url) == 0


async def test_the_user_is_asked_and_progress_is_sent_over_http_too(url: str, tmp_path: Path) -> None:
    (tmp_path / "work" / "old.txt").write_text("old")
    user = User("yes, once")
    async with over_http(url, user) as agent:
        assert "deleted old.txt" in await agent.run("import os; os.remove('old.txt')")
        await agent.run("import time; print('step'); time.sleep(0.7)")
    assert user.asked == ["python wants to delete old.txt."]
    assert "step" in agent.progress


def test_without_the_token_nothing_is_answered(url: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert httpx.post(url, json={}, headers=headers, trust_env=False).status_code == 401


def test_a_page_of_another_origin_may_not_call(url: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Origin": "https://evil.example"}
    assert httpx.post(url, json={}, headers=headers, trust_env=False).status_code == 403


def test_a_request_without_a_session_opens_no_kernel(url: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "variables"}}
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
    answer = httpx.post(url, json=call, headers=headers, trust_env=False)
    assert answer.status_code >= 400
    assert open_sessions(url) == 0
