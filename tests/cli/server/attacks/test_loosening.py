"""What guards the person cannot be loosened over the wire, and code runs when it was approved alone."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from terp.session.proposals import digest_of
from terp.settings import Settings
from terp.settings.setting import table
from terp.testing import EchoKernel, call
from terp_cli.server.opening import OF_CLIENTS
from tests.cli.server.attacks.raw import RawSocket, Request, exchanged, json_request, raw_socket
from tests.cli.server.attacks.target import Attacked, attacked, http_routes

GUARDED = sorted({*table(Settings)} - {*OF_CLIENTS})
LOOSE = {"auto_run": True, "sandbox": "off", "sandbox_required": False, "network": True, "env_pass": ["KEY"]}
X1 = digest_of("x = 1")
# What does not approve `x = 1` of the call c1.
NO_APPROVALS: list[dict[str, Any]] = [
    {"call_id": "c1", "digest": digest_of("x = 2"), "decision": "run"},
    {"call_id": "c1", "digest": "0" * 64, "decision": "run"},
    {"call_id": "c1", "digest": "", "decision": "run"},
    {"call_id": "c1", "digest": X1.upper(), "decision": "run"},
    {"call_id": "c1", "digest": X1[:-1], "decision": "run"},
    {"call_id": "c1", "digest": f"{X1}\n", "decision": "run"},
    {"call_id": "c1", "digest": [X1], "decision": "run"},
    {"call_id": "c1", "decision": "run"},
    {"call_id": "c1", "digest": X1},
    {"call_id": "c1", "digest": X1, "decision": "RUN"},
    {"call_id": "c1", "digest": X1, "decision": True},
    {"call_id": "c1", "digest": X1, "decision": "run", "always": True},
    {"call_id": "c2", "digest": X1, "decision": "run"},
    {"call_id": "q1", "digest": X1, "decision": "run"},
    {"call_id": "", "digest": X1, "decision": "run"},
    {"call_id": "C1", "digest": X1, "decision": "run"},
]


def ran(on: Attacked) -> list[str]:
    kernels = [session.kernels for session in on.server.opener.made]
    return [code for one in kernels if isinstance(one, EchoKernel) for code in one.ran]


async def test_no_setting_that_guards_is_taken_from_a_client(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        await on.server.asked(on.session, "hi")
        await on.server.client.post(f"/v1/sessions/{on.session}/close")
        got = {}
        for path in ("/v1/sessions", f"/v1/sessions/{on.session}/resume"):
            for name in GUARDED:
                for value in (table(Settings)[name].default, True, "off"):
                    body = json.dumps({"settings": {name: value}}, default=list).encode()
                    answer = await exchanged(on.port, json_request("POST", path, body))
                    if answer.status != 422:
                        got[path, name] = answer
        assert (got, on.server.sessions.open) == ({}, [])


async def test_no_route_takes_a_setting_that_guards_as_a_field_or_a_query(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        before, got = on.state(), {}
        for route in http_routes(on.app):
            if route.method not in ("POST", "PATCH") or not _takes_a_body(on, route.path):
                continue
            for name, value in LOOSE.items():
                body = json.dumps({"prompt": "hi", "stream": False, name: value}).encode()
                answer = await exchanged(on.port, json_request("POST", on.path(route), body))
                if answer.status != 422:
                    got[route, name] = answer
        assert got == {}
        assert on.state() == before


def _takes_a_body(on: Attacked, path: str) -> bool:
    found = on.app.openapi()["paths"].get(path, {})
    return "requestBody" in found.get("post", {})


async def test_code_does_not_run_by_itself(tmp_path: Path) -> None:
    async with attacked(tmp_path, call("x = 1"), "done") as on, _asked(on) as socket:
        query = "?auto_run=true&approve=1"
        for path in ("turns", "interrupt", f"approvals/c1{query}"):
            await exchanged(on.port, Request(path=f"/v1/sessions/{on.session}/{path}"))
        assert ran(on) == []
        socket.say(do="approve", call_id="c1", digest=X1, decision="run", id=1)
        assert json.loads(await _told(socket, b"reply_to"))["taken"] is True
        await _told(socket, b'"turn_finished"')
        assert ran(on) == ["x = 1"]


async def test_nothing_but_the_digest_of_what_was_shown_approves(tmp_path: Path) -> None:
    async with attacked(tmp_path, call("x = 1"), "done") as on, _asked(on) as socket:
        other = await on.server.created()
        for wrong in NO_APPROVALS:
            fields = {name: value for name, value in wrong.items() if name != "call_id"}
            for session in (on.session, other):
                path = f"/v1/sessions/{session}/approvals/{wrong['call_id']}"
                answer = await exchanged(on.port, json_request("POST", path, json.dumps(fields).encode()))
                assert answer.status in (404, 405, 409, 422), (wrong, answer)
            socket.say(do="approve", id=1, **wrong)
            assert "error" in json.loads(await _told(socket, b"reply_to")), wrong
        right = json.dumps({"digest": X1, "decision": "run"}).encode()
        foreign = await exchanged(on.port, json_request("POST", f"/v1/sessions/{other}/approvals/c1", right))
        assert (foreign.status, ran(on)) == (404, [])


async def test_what_was_approved_once_is_not_approved_for_later(tmp_path: Path) -> None:
    async with attacked(tmp_path, call("x = 1"), call("x = 1"), "done") as on, _asked(on) as socket:
        for _ in range(3):
            socket.say(do="approve", call_id="c1", digest=X1, decision="run")
        await _told(socket, b'"code_proposed"')
        for _ in range(3):
            socket.say(do="approve", call_id="c1", digest=X1, decision="run", id="again")
            assert "error" in json.loads(await _told(socket, b'"again"'))
        assert ran(on) == ["x = 1"]


@asynccontextmanager
async def _asked(on: Attacked) -> AsyncGenerator[RawSocket, None]:
    """A socket whose turn has proposed code, and waits."""
    async with raw_socket(on.port, f"/v1/sessions/{on.session}/ws") as socket:
        socket.say(do="ask", prompt="go")
        await _told(socket, b'"asked"')
        yield socket


async def _told(socket: RawSocket, part: bytes) -> bytes:
    """The next frame with these bytes in it."""
    async for opcode, content in socket.frames():
        if opcode == 1 and part in content:
            return content
    raise AssertionError(f"no frame with {part!r} came")
