"""Who shows no token gets nothing from any route, however it is disguised."""

from pathlib import Path

import pytest

from terp_cli.server.access import ServerToken
from terp_cli.server.page.document import PUBLIC
from tests.cli.server.attacks.raw import Request, exchanged, upgrade
from tests.cli.server.attacks.target import BOTH, OWN, SOCKET, Attacked, Route, attacked, routes
from tests.cli.server.serving import TOKEN

REFUSAL = (401, "no_token")
DISGUISES = {
    "none": "X-Nothing: 1",
    "wrong": "Authorization: Bearer wrong-token-of-tests-9876",
    "empty": "Authorization: Bearer ",
    "no token": "Authorization: Bearer",
    "nothing": "Authorization: ",
    "prefix": f"Authorization: Bearer {TOKEN[:-1]}",
    "longer": f"Authorization: Bearer {TOKEN}x",
    "twice in one": f"Authorization: Bearer {TOKEN} {TOKEN}",
    "list": f"Authorization: Bearer {TOKEN}, Bearer {TOKEN}",
    "other case": f"Authorization: Bearer {TOKEN.upper()}",
    "non-ASCII": f"Authorization: Bearer {TOKEN}é",
    "quoted": f'Authorization: Bearer "{TOKEN}"',
    "inner space": f"Authorization: Bearer  {TOKEN}",
    "other scheme": f"Authorization: Basic {TOKEN}",
    "no scheme": f"Authorization: {TOKEN}",
    "cookie": f"Cookie: token={TOKEN}; Authorization=Bearer {TOKEN}",
    "proxy": f"Proxy-Authorization: Bearer {TOKEN}",
    "forwarded": f"X-Forwarded-Authorization: Bearer {TOKEN}",
    "sub-protocol": f"Sec-WebSocket-Protocol: {TOKEN}",
    "two headers": f"Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}",
    "wrong, then right": f"Authorization: Bearer x\r\nAuthorization: Bearer {TOKEN}",
    "scheme in the other header": f"X-Api-Key: Bearer {TOKEN}",
    "longer in the other header": f"X-Api-Key: {TOKEN}x",
    "the other header twice": f"X-Api-Key: {TOKEN}\r\nX-Api-Key: {TOKEN}",
    "both headers": f"X-Api-Key: {TOKEN}\r\nAuthorization: Bearer {TOKEN}",
    "wrong in the other header": f"X-Api-Key: wrong\r\nAuthorization: Bearer {TOKEN}",
    "of an earlier start": "Authorization: Bearer the-token-of-an-earlier-server",
}
AMBIGUOUS = (
    "two headers",
    "wrong, then right",
    "the other header twice",
    "both headers",
    "wrong in the other header",
)
"""The token as it is, beside something else: routes of the protocol take one right key of several."""
# What a server may not even take for a request.
NO_REQUEST = {
    "NUL": f"Authorization: Bearer {TOKEN}\0",
    "space before the colon": f"Authorization : Bearer {TOKEN}",
}


@BOTH
async def test_no_disguise_gets_anything_from_any_route(tmp_path: Path, kind: str) -> None:
    async with attacked(tmp_path, kind=kind) as on:
        before, got = on.state(), {}
        for route in routes(on.app):
            if route.method == SOCKET or is_open(on, route):
                continue
            for name, line in DISGUISES.items():
                if not route.is_native and kind != OWN and name in AMBIGUOUS:
                    continue
                request = Request(route.method, on.path(route), auth="", lines=(line,))
                answer = await exchanged(on.port, request)
                status, told = on.refusal(route)
                if answer.status != status or (route.method != "HEAD" and told not in answer.body):
                    got[route.method, route.path, name] = answer
        assert got == {}
        assert on.state() == before


def is_open(on: Attacked, route: Route) -> bool:
    """Whether strangers may have it: pages, and to clients of the protocol whether the server lives."""
    alive = on.server.compat is not None and route.path == "/heartbeat"
    return route.method in ("GET", "HEAD") and (route.path in PUBLIC or alive)


async def test_no_socket_is_opened_for_a_wrong_token(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        asked = {
            (route.path, name): await exchanged(on.port, upgrade(on.path(route), auth=line))
            for route in routes(on.app)
            if route.method == SOCKET
            for name, line in DISGUISES.items()
            if line.startswith("Authorization")
        }
    assert len(asked) > 10
    assert {name: answer for name, answer in asked.items() if answer.status not in (400, 401)} == {}


@pytest.mark.parametrize("name", NO_REQUEST)
async def test_a_header_that_breaks_the_rules_is_no_way_in(tmp_path: Path, name: str) -> None:
    async with attacked(tmp_path) as on:
        answer = await exchanged(on.port, Request(auth="", lines=(NO_REQUEST[name],)))
    assert answer.status == 400


@pytest.mark.parametrize(
    "path", [f"/heartbeat?token={TOKEN}", f"/heartbeat?access_token={TOKEN}", f"/{TOKEN}"]
)
async def test_the_token_is_no_part_of_an_address(tmp_path: Path, path: str) -> None:
    async with attacked(tmp_path) as on:
        answer = await exchanged(on.port, Request(path=path, auth=""))
    assert (answer.status, answer.code) == REFUSAL


async def test_a_refusal_tells_nothing_of_what_is_there(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        paths = ["/heartbeat", f"/v1/sessions/{on.session}", "/v1/sessions/2026-01-01-00000000", "/nothing"]
        answers = [await exchanged(on.port, Request(path=path, auth="")) for path in paths]
        methods = [await exchanged(on.port, Request(method, auth="")) for method in ("POST", "TRACE", "BREW")]
    assert {answer.body for answer in (*answers, *methods)} == {answers[0].body}
    assert "server:" not in answers[0].headers.lower()


def test_a_token_is_compared_whole() -> None:
    token, whole = ServerToken(TOKEN), TOKEN.encode()
    near = [b"", whole[:-1], whole + b"\n", b" " + whole, whole + b"\0", whole.swapcase(), whole * 2]
    assert [given for given in near if token.matches(given)] == []
    assert token.matches(whole)
