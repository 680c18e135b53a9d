"""Who may call: every route, every disguise."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest

from terp_cli.server.application import application
from terp_cli.server.limits import ServerLimits
from terp_cli.server.own_names import OwnNames
from terp_cli.server.sessions import Sessions
from terp_cli.server.token import Token
from tests.cli.server.serving import BYTES, JSON, TOKEN, FakeOpener, Running, ground, openai_router, serving

GOOD = f"Authorization: Bearer {TOKEN}"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[Running, None]:
    async with serving(tmp_path, "hello") as running:
        yield running


async def raw(server: Running, *lines: str, body: str = "") -> tuple[int, str]:
    """The status and the rest of the answer to a request of these lines, as they are; 0 for no answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    written = "\r\n".join([*lines, "Connection: close", "", body])
    writer.write(written.replace("PORT", str(server.port)).encode("latin-1"))
    await writer.drain()
    answer = (await reader.read()).decode("latin-1")
    writer.close()
    await writer.wait_closed()
    return int(answer.split(" ", 2)[1]) if answer else 0, answer


def routes(folder: Path) -> list[tuple[str, str]]:
    """Method and path of every route of the document, and those that are in none."""
    opener = FakeOpener(ground(folder), lambda: pytest.fail("no session is made"))
    sessions = Sessions(opener, opener.ground, ServerLimits())
    app = application(sessions, Token(TOKEN), OwnNames("127.0.0.1", 1), ServerLimits())
    app.include_router(openai_router(sessions))
    document = app.openapi()
    named = [(method.upper(), path) for path, found in document["paths"].items() for method in found]
    return [
        *named,
        ("GET", "/openapi.json"),
        ("GET", "/docs"),
        ("GET", "/redoc"),
        ("POST", "/"),
        ("GET", "/x"),
    ]


async def test_every_route_refuses_who_shows_no_token(server: Running, tmp_path: Path) -> None:
    answers = []
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as stranger:
        for method, path in routes(tmp_path):
            answers.append(await stranger.request(method, path.replace("{", "").replace("}", "")))
        heads = await stranger.head("/heartbeat"), await stranger.options("/v1/sessions")
    assert len(answers) > 20
    assert {(answer.status_code, json.loads(answer.text)["error"]["code"]) for answer in answers} == {
        (401, "no_token")
    }
    assert [answer.status_code for answer in heads] == [401, 401]


NO_TOKENS = [
    "X-Nothing: 1",
    "Authorization: Bearer wrong-token-of-tests-9876",
    "Authorization: Bearer ",
    "Authorization: Bearer",
    "Authorization: ",
    f"Authorization: Bearer {TOKEN[:-1]}",
    f"Authorization: Bearer {TOKEN}x",
    f"Authorization: Bearer {TOKEN} {TOKEN}",
    f"Authorization: Bearer {TOKEN.upper()}",
    f"Authorization: Bearer {TOKEN}é",
    f"Authorization: Basic {TOKEN}",
    f"Authorization: {TOKEN}",
    f"Cookie: token={TOKEN}",
    f"X-Api-Key: Bearer {TOKEN}",
    f"X-Api-Key: {TOKEN}x",
    f"X-Api-Key: {TOKEN}\r\nX-Api-Key: {TOKEN}",
    f"X-Api-Key: {TOKEN}\r\nAuthorization: Bearer {TOKEN}",
    f"X-Api-Key: wrong\r\nAuthorization: Bearer {TOKEN}",
    f"Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}",
]


async def test_what_is_not_the_token_in_its_header_is_refused(server: Running) -> None:
    lines = "GET /heartbeat HTTP/1.1", "Host: 127.0.0.1:PORT"
    answers = {header: await raw(server, *lines, header) for header in NO_TOKENS}
    assert {header: status for header, (status, _) in answers.items()} == dict.fromkeys(NO_TOKENS, 401)
    assert [header for header, (_, text) in answers.items() if "alive" in text] == []


async def test_the_token_may_come_in_the_other_header(server: Running) -> None:
    lines = "GET /heartbeat HTTP/1.1", "Host: 127.0.0.1:PORT", f"X-API-KEY: {TOKEN}"
    assert (await raw(server, *lines))[0] == 200


async def test_a_token_in_the_query_is_refused(server: Running) -> None:
    line = f"GET /heartbeat?token={TOKEN}&access_token={TOKEN} HTTP/1.1"
    assert (await raw(server, line, "Host: 127.0.0.1:PORT"))[0] == 401


HOSTS = [
    ("evil.example",),
    ("evil.example:PORT",),
    ("localhost.evil.com:PORT",),
    ("127.0.0.1.nip.io:PORT",),
    (),
    ("",),
    ("127.0.0.1:PORT", "evil.example"),
    ("127.0.0.1:PORT", "127.0.0.1:PORT"),
    ("127.0.0.1:1",),
    ("127.0.0.1",),
    ("[::1]:PORT",),
    ("0.0.0.0:PORT",),
    ("2130706433:PORT",),
    ("127.1:PORT",),
    ("LOCALHOST:PORT",),
    ("localhost.:PORT",),
    ("user@127.0.0.1:PORT",),
    ("127.0.0.1:PORT, evil.example",),
]


async def test_a_request_for_another_host_is_refused(server: Running) -> None:
    answers = {
        hosts: await raw(server, "GET /heartbeat HTTP/1.1", *(f"Host: {host}" for host in hosts), GOOD)
        for hosts in HOSTS
    }
    assert {hosts: status for hosts, (status, _) in answers.items() if status not in (400, 421)} == {}
    assert [hosts for hosts, (_, text) in answers.items() if "alive" in text] == []


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT"])
async def test_the_server_is_called_by_its_own_names(server: Running, host: str) -> None:
    assert (await raw(server, "GET /heartbeat HTTP/1.1", f"Host: {host}", GOOD))[0] == 200


@pytest.mark.parametrize("target", ["http://evil.example/heartbeat", "http://127.0.0.1:PORT/heartbeat", "*"])
async def test_a_request_line_with_more_than_a_path_is_refused(server: Running, target: str) -> None:
    status, answer = await raw(server, f"GET {target} HTTP/1.1", "Host: 127.0.0.1:PORT", GOOD)
    assert status == 400
    assert "alive" not in answer


FOREIGN = [
    "http://evil.example",
    "null",
    "file://",
    "http://localhost.evil:PORT",
    "http://localhost:1",
    "http://localhost",
    "https://127.0.0.1:PORT",
    "http://127.0.0.1:PORT.evil.example",
    "http://evil.example/?http://127.0.0.1:PORT",
    "http://xlocalhost:PORT",
    "http://127.0.0.1:PORT/",
    "chrome-extension://abcdef",
    "moz-extension://abcdef",
    "HTTP://LOCALHOST:PORT",
    "http://localhost:PORT http://evil.example",
    "",
]


async def test_a_page_of_another_origin_is_refused_even_with_the_token(server: Running) -> None:
    lines = "GET /heartbeat HTTP/1.1", "Host: 127.0.0.1:PORT", GOOD
    answers = {origin: await raw(server, *lines, f"Origin: {origin}") for origin in FOREIGN}
    assert {origin: status for origin, (status, _) in answers.items()} == dict.fromkeys(FOREIGN, 403)
    assert [origin for origin, (_, text) in answers.items() if "access-control" in text.lower()] == []


async def test_a_page_of_this_server_may_call(server: Running) -> None:
    lines = ("Host: localhost:PORT", "Origin: http://localhost:PORT", GOOD)
    status, answer = await raw(server, "GET /heartbeat HTTP/1.1", *lines)
    assert status == 200
    assert "access-control" not in answer.lower()


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/csp",
        "",
    ],
)
async def test_a_body_that_a_form_could_send_is_refused(server: Running, kind: str) -> None:
    headers = {"Content-Type": kind} if kind else {}
    answer = await server.client.post("/v1/sessions", content=b"{}", headers=headers)
    assert (answer.status_code, server.sessions.open) == (415, [])


async def test_bytes_are_no_json(server: Running) -> None:
    answer = await server.client.post("/v1/sessions", content=b"{}", headers=BYTES)
    assert (answer.status_code, server.sessions.open) == (422, [])


async def test_no_header_overrides_the_method(server: Running) -> None:
    session = await server.created()
    headers = {"X-HTTP-Method-Override": "DELETE", "X-Method-Override": "DELETE", **JSON}
    await server.client.post(f"/v1/sessions/{session}?_method=DELETE", content=b"{}", headers=headers)
    assert [served.id for served in server.sessions.open] == [session]


async def test_reading_changes_nothing(server: Running, tmp_path: Path) -> None:
    session = await server.created()
    before = state(server)
    for method, path in routes(tmp_path):
        if method == "GET" and not path.endswith("/events"):
            await server.client.get(path.replace("{session}", session).replace("{", "").replace("}", ""))
    assert state(server) == before


def state(server: Running) -> Any:
    return [(served.id, served.transcript.last, served.turns.count) for served in server.sessions.open]


async def test_a_page_can_be_public_and_nothing_beside_it(tmp_path: Path) -> None:
    async with serving(tmp_path, public=("/more",)) as server:
        lines = ("Host: 127.0.0.1:PORT",)
        statuses = [
            (await raw(server, f"{line} HTTP/1.1", *lines))[0]
            for line in ("GET /", "GET /more", "POST /", "GET //", "GET /heartbeat", "GET /./heartbeat")
        ]
        foreign = await raw(server, "GET / HTTP/1.1", "Host: evil.example")
    assert (statuses, foreign[0]) == ([200, 404, 401, 401, 401, 401], 421)


async def test_a_token_of_another_server_is_refused(server: Running, tmp_path: Path) -> None:
    # As after a restart, which makes a new one.
    older = Token("the-token-of-an-earlier-server")
    headers = {"Authorization": f"Bearer {older.reveal()}"}
    answer = await server.client.get("/heartbeat", headers=headers)
    assert answer.status_code == 401


def test_the_token_is_not_shown_by_accident() -> None:
    token = Token(TOKEN)
    assert TOKEN not in f"{token} {token!r} {vars(token).keys()}"
