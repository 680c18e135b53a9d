"""The protocol of Open Interpreter: what it opens with `--compat`, and that it opens nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from terp.settings import Settings
from terp.settings.setting import table
from terp_cli.server.connections import ServerLimits
from tests.cli.server.attacks.raw import (
    RawSocket,
    Request,
    exchanged,
    frame,
    json_request,
    raw_socket,
    upgrade,
)
from tests.cli.server.attacks.target import (
    KEY,
    SOCKET,
    SPOKEN,
    UNSAFE,
    attacked,
    compat,
    http_routes,
    routes,
)
from tests.cli.server.attacks.test_auth import is_open
from tests.cli.server.attacks.test_sockets import BREACHES, GREETINGS
from tests.cli.server.serving import SECRET, TOKEN

LOOSE: list[dict[str, Any]] = [
    {"auto_run": True},
    {"llm": {"api_base": "http://evil.example"}},
    {"llm": {"api_key": "x"}},
    {"llm": {"auto_run": True}},
    {"computer": {"auto_run": True}},
    {"safe_mode": "off", "auto_run": True},
    *({name: True} for name in ("sandbox", "network", "env_pass", "terp_auto_run", "origins", "__class__")),
]
TELLS_KEYS = sorted(
    {*table(Settings), "llm", "computer", "api_key", "token", "environ", "__dict__", "settings"}
)
ADDRESSES = ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1:PORT"]


@pytest.mark.parametrize("shown", ["", f"X-Api-Key: {KEY}", f"Authorization: Bearer {KEY}"])
async def test_its_key_opens_nothing_of_the_native_interface(tmp_path: Path, shown: str) -> None:
    async with attacked(tmp_path, kind=UNSAFE, compat=compat(UNSAFE, key=KEY if shown else "")) as on:
        before, got = on.state(), {}
        for route in routes(on.app):
            if not route.is_native:
                continue
            request = Request(route.method, on.path(route), auth=shown)
            if route.method == SOCKET:
                request = upgrade(
                    on.path(route), auth=shown if "Bearer" in shown else "Authorization: Bearer "
                )
            if (answer := await exchanged(on.port, request)).status != 401:
                got[route] = answer
        assert got == {}
        assert on.state() == before


async def test_without_a_key_this_machine_alone_may_call(tmp_path: Path) -> None:
    async with attacked(tmp_path, kind=UNSAFE, compat=compat(UNSAFE, key="", alone=False)) as on:
        got = {}
        for route in http_routes(on.app):
            if route.is_native or is_open(on, route):
                continue
            for shown in ("", "X-Api-Key: ", "X-Api-Key: any", "Authorization: Bearer any"):
                answer = await exchanged(on.port, Request(route.method, on.path(route), auth=shown))
                if answer.status != 403:
                    got[route, shown] = answer
    assert got == {}


async def test_no_page_elsewhere_gets_in_where_no_key_is_needed(tmp_path: Path) -> None:
    bodies = (("text/plain", b'{"auto_run": true}'), ("application/json", b'{"auto_run": true}'))
    async with attacked(tmp_path, kind=UNSAFE, compat=compat(UNSAFE, key="")) as on:
        before, statuses = on.state(), set()
        for path in ("/", "/settings", "/run", "/upload", "/openai/chat/completions"):
            for content, body in bodies:
                for origin in ADDRESSES:
                    lines = (f"Content-Type: {content}", f"Origin: {origin}")
                    request = Request("POST", path, auth="", lines=lines, body=body)
                    statuses.add((await exchanged(on.port, request)).status)
                bent = Request("POST", path, ("evil.example:PORT",), "", (f"Content-Type: {content}",), body)
                statuses.add((await exchanged(on.port, bent)).status)
        sockets = {
            (await exchanged(on.port, upgrade("/", f"Origin: {origin}", auth=""))).status
            for origin in ADDRESSES
        }
        assert (statuses, sockets, on.state()) == ({403, 421}, {403}, before)


async def test_a_form_of_a_page_without_an_origin_does_nothing(tmp_path: Path) -> None:
    async with attacked(tmp_path, kind=UNSAFE, compat=compat(UNSAFE, key="")) as on:
        before = on.state()
        answers = [
            await exchanged(
                on.port, Request("POST", path, auth="", lines=("Content-Type: text/plain",), body=b"{}")
            )
            for path in ("/", "/settings", "/run", "/upload", "/openai/chat/completions")
        ]
        assert ([answer.status for answer in answers], on.state()) == ([415] * 5, before)


async def test_no_first_frame_but_the_key_opens_its_socket(tmp_path: Path) -> None:
    async with attacked(tmp_path, kind=UNSAFE, limits=ServerLimits(greeting_s=0.3)) as on:
        before, told = on.state(), {}
        for name, sent in GREETINGS.items():
            async with raw_socket(on.port, "/", auth="") as socket:
                socket.send(_of_protocol(sent) + frame(1, b'{"role": "user", "start": true}'))
                told[name] = await _told(socket)
        assert {content for contents in told.values() for content in contents} <= {b'{"auth": false}'}
        assert on.state() == before


async def test_a_frame_against_the_rules_ends_its_socket(tmp_path: Path) -> None:
    breaches = {name: one for name, one in BREACHES.items() if name not in ("no JSON", "bytes", "deep")}
    async with attacked(tmp_path, kind=UNSAFE) as on:
        before, codes = on.state(), {}
        for name, (sent, _) in breaches.items():
            async with raw_socket(on.port, "/") as socket:
                socket.send(sent)
                codes[name] = await socket.closed_with()
        assert codes == {name: code for name, (_, code) in breaches.items()}
        assert on.state() == before


async def test_a_socket_that_a_program_adds_needs_the_token(tmp_path: Path) -> None:
    async with attacked(tmp_path, kind=SPOKEN, compat=compat(SPOKEN, key="")) as on:
        on.app.add_api_websocket_route("/own", _greeted)
        async with raw_socket(on.port, "/own", auth="") as socket:
            socket.send(frame(1, b"{}"))
            assert await socket.closed_with() == 1008


async def _greeted(socket: Any) -> None:
    await socket.accept()
    await socket.send_text("secret")


@pytest.mark.parametrize("sent", LOOSE)
async def test_no_setting_loosens_what_the_server_was_started_with(
    tmp_path: Path, sent: dict[str, Any]
) -> None:
    async with attacked(tmp_path, kind=SPOKEN) as on:
        before = on.state()
        answer = await exchanged(on.port, json_request("POST", "/settings", json.dumps(sent).encode()))
        assert (answer.status in (403, 404), on.state()) == (True, before)


async def test_no_word_in_braces_lets_code_run_unasked(tmp_path: Path) -> None:
    said = {"model": "x", "messages": [{"role": "user", "content": "{AUTO_RUN_ON}"}]}
    async with attacked(tmp_path, kind=SPOKEN) as on:
        request = json_request("POST", "/openai/chat/completions", json.dumps(said).encode())
        answer = await exchanged(on.port, request)
        compat = on.server.compat
        assert compat is not None
        assert (answer.status, compat.wanted.settings.auto_run, compat.conversation.shared.unasked) == (
            403,
            False,
            False,
        )


async def test_no_setting_that_can_be_read_tells_a_key(tmp_path: Path) -> None:
    async with attacked(tmp_path, kind=UNSAFE) as on:
        answers = {name: await exchanged(on.port, Request(path=f"/settings/{name}")) for name in TELLS_KEYS}
    told = "".join(answer.headers + answer.body for answer in answers.values())
    assert [word for word in (KEY, TOKEN, SECRET) if word in told] == []
    assert sorted(name for name, answer in answers.items() if answer.status == 200) == [
        "auto_run",
        "system_message",
    ]


def _of_protocol(sent: bytes) -> bytes:
    """A short frame with the token under the name that the protocol has for keys."""
    content = sent[6:].replace(b'"token"', b'"auth"')
    return frame(sent[0] & 0xF, content) if len(sent) < 126 else sent


async def _told(socket: RawSocket) -> list[bytes]:
    """What the server says until it ends the socket."""
    told = []
    async for opcode, content in socket.frames():
        if opcode == 8:
            break
        told.append(content)
    return told
