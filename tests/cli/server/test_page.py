"""The page as it is served, and what it can choose from."""

from pathlib import Path

import pytest

from terp_cli.server.page.document import frame, page
from tests.cli.server.serving import plain_client, serving


@pytest.mark.parametrize(
    ("path", "kind"), [("/", "text/html"), ("/frame", "text/html"), ("/temml.js", "text/javascript")]
)
async def test_it_needs_no_token_and_is_sent_once(tmp_path: Path, path: str, kind: str) -> None:
    async with (
        serving(tmp_path) as server,
        plain_client(server.url) as stranger,
    ):
        first = await stranger.get(path)
        again = await stranger.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, first.headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
    policies = {"/": page().policy, "/frame": frame().policy}
    assert first.headers["Content-Security-Policy"] == policies.get(path, "")
    assert (again.status_code, again.content) == (304, b"")


async def test_models_that_are_listed_elsewhere_are_asked_for_separately(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        listed = (await server.client.get("/v1/listed_models")).json()
    assert listed == {"models": ["scripted/listed"]}


async def test_profiles_can_be_chosen_from(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        offered = (await server.client.get("/v1/profiles")).json()
    assert offered == {
        "model": "scripted/model",
        "profiles": [{"name": "careful", "description": "Asks twice.", "model": "scripted/careful"}],
        "asks": True,
        "approve": "before",
        "models": [],
        "tier": "none",
    }
