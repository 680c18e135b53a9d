"""Pages elsewhere, and names that were bent to this machine, get nothing, even with the token."""

from dataclasses import replace
from pathlib import Path

from tests.cli.server.attacks.raw import Request, exchanged, upgrade
from tests.cli.server.attacks.target import SOCKET, Attacked, Route, attacked, routes
from tests.cli.server.serving import TOKEN

HOSTS: list[tuple[str, ...]] = [
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
    ("0x7f000001:PORT",),
    ("127.1:PORT",),
    ("127.0.0.2:PORT",),
    ("LOCALHOST:PORT",),
    ("localhost.:PORT",),
    ("user@127.0.0.1:PORT",),
    ("127.0.0.1:PORT, evil.example",),
    ("127.0.0.1:PORT/",),
    ("127.0.0.1:0PORT",),
]
ORIGINS = [
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
TARGETS = [
    "http://evil.example/heartbeat",
    "http://127.0.0.1:PORT/heartbeat",
    "//evil.example/heartbeat",
    "*",
]
BENT = replace(Request(), hosts=("evil.example:PORT",))
FOREIGN = Request(lines=("Origin: http://evil.example",))


async def test_a_request_for_another_host_gets_nothing(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        answers = {hosts: await exchanged(on.port, replace(Request(), hosts=hosts)) for hosts in HOSTS}
        sockets = {
            hosts: await exchanged(on.port, replace(upgrade(on.path(route)), hosts=hosts))
            for route in _sockets(on)
            for hosts in HOSTS
        }
    for found in (answers, sockets):
        assert {hosts: answer for hosts, answer in found.items() if answer.status not in (400, 421)} == {}


async def test_a_page_of_another_origin_gets_nothing_even_with_the_token(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        answers = {
            origin: await exchanged(on.port, Request(lines=(f"Origin: {origin}",))) for origin in ORIGINS
        }
        sockets = {
            (route.path, origin): await exchanged(
                on.port, upgrade(on.path(route), f"Origin: {origin}", auth=auth)
            )
            for route in _sockets(on)
            for origin in ORIGINS
            for auth in ("", f"Authorization: Bearer {TOKEN}")
        }
    assert {origin: answer.status for origin, answer in answers.items()} == dict.fromkeys(ORIGINS, 403)
    assert [origin for origin, answer in answers.items() if "access-control" in answer.headers.lower()] == []
    assert {name: answer for name, answer in sockets.items() if answer.status not in (400, 403)} == {}


async def test_no_route_is_outside_of_these_checks(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        before, got = on.state(), {}
        for route in routes(on.app):
            for attack, status in ((BENT, 421), (FOREIGN, 403)):
                request = replace(attack, method=route.method, path=on.path(route))
                if route.method == SOCKET:
                    request = replace(upgrade(on.path(route), *attack.lines), hosts=attack.hosts)
                if (answer := await exchanged(on.port, request)).status != status:
                    got[route] = answer
        assert got == {}
        assert on.state() == before


async def test_a_request_line_with_more_than_a_path_gets_nothing(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        answers = {path: await exchanged(on.port, Request(path=path)) for path in TARGETS}
    assert {path: answer for path, answer in answers.items() if answer.status not in (400, 404)} == {}
    assert [path for path, answer in answers.items() if "alive" in answer.body] == []


async def test_an_address_of_another_page_is_told_nothing_by_a_preflight(tmp_path: Path) -> None:
    lines = "Origin: http://evil.example", "Access-Control-Request-Method: POST"
    private = "Access-Control-Request-Private-Network: true"
    async with attacked(tmp_path) as on:
        answers = [
            await exchanged(on.port, Request("OPTIONS", on.path(route), auth=auth, lines=(*lines, private)))
            for route in routes(on.app)
            for auth in ("", f"Authorization: Bearer {TOKEN}")
        ]
    assert {answer.status for answer in answers} == {403}
    assert [answer for answer in answers if "access-control" in answer.headers.lower()] == []


async def test_its_own_names_and_pages_are_let_in(tmp_path: Path) -> None:
    own = [
        Request(hosts=(host,), lines=lines)
        for host in ("127.0.0.1:PORT", "localhost:PORT")
        for lines in ((), (f"Origin: http://{host}",))
    ]
    async with attacked(tmp_path) as on:
        answers = [await exchanged(on.port, request) for request in own]
    assert [answer.status for answer in answers] == [200] * 4
    assert [answer for answer in answers if "access-control" in answer.headers.lower()] == []


def _sockets(on: Attacked) -> list[Route]:
    return [route for route in routes(on.app) if route.method == SOCKET]
