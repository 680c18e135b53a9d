"""Who may call: the parts of it that are no attack; those are in `attacks`."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp_cli.server.access import ServerToken, token_of
from tests.cli.server.attacks.raw import Request, exchanged
from tests.cli.server.serving import BYTES, TOKEN, Running, serving


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[Running, None]:
    async with serving(tmp_path, "hello") as running:
        yield running


async def test_the_token_may_come_in_the_other_header(server: Running) -> None:
    request = Request(auth="", lines=(f"X-API-KEY: {TOKEN}",))
    assert (await exchanged(server.port, request)).status == 200


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT"])
async def test_the_server_is_called_by_its_own_names(server: Running, host: str) -> None:
    assert (await exchanged(server.port, Request(hosts=(host,)))).status == 200


async def test_bytes_are_no_json(server: Running) -> None:
    answer = await server.client.post("/v1/sessions", content=b"{}", headers=BYTES)
    assert (answer.status_code, server.sessions.open) == (415, [])


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", ""), ("PATCH", "/any/files/a.txt"), ("TRACE", ""), ("POST", "/any/files/a.txt")],
)
async def test_a_method_that_no_route_has_is_told_as_that(server: Running, method: str, path: str) -> None:
    answer = await server.client.request(method, f"/v1/sessions{path}", content=b"{}", headers=BYTES)
    assert answer.status_code == 405


async def test_the_page_is_public_and_nothing_beside_it(tmp_path: Path) -> None:
    ways = ("GET", "/"), ("POST", "/"), ("GET", "//"), ("GET", "/heartbeat"), ("GET", "/./heartbeat")
    async with serving(tmp_path) as server:
        statuses = [
            (await exchanged(server.port, Request(method, path, auth=""))).status for method, path in ways
        ]
        foreign = await exchanged(server.port, Request(path="/", hosts=("evil.example",)))
    assert (statuses, foreign.status) == ([200, 401, 401, 401, 401], 421)


def test_a_token_that_is_kept_is_that_of_the_next_start(tmp_path: Path) -> None:
    first, _ = token_of({}, tmp_path)
    again, is_ours = token_of({}, tmp_path)
    other, _ = token_of({})
    assert (first.reveal() == again.reveal(), first.reveal() == other.reveal(), is_ours) == (
        True,
        False,
        True,
    )
    assert (tmp_path / "kept.token").stat().st_mode & 0o777 == 0o600


def test_a_file_without_a_token_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "kept.token").write_text("short")
    token, _ = token_of({}, tmp_path)
    assert (tmp_path / "kept.token").read_text() == f"{token.reveal()}\n"


def test_the_token_is_not_shown_by_accident() -> None:
    token = ServerToken(TOKEN)
    assert TOKEN not in f"{token} {token!r} {vars(token).keys()}"
