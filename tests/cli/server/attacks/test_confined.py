"""Code that runs unasked on a server is held by a sandbox, and the server says truly by which."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Terp, to
from tests.cli.server.test_process import GIVEN, client, events, started
from tests.loopback import Call, Loopback
from tests.sandbox.held import TIERS, tier_named

works = pytest.mark.skipif(not any(tier_named(name)[0] for name in TIERS), reason="no sandbox works here")
TRIES = """
import json, os, pathlib
def tried(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__
print(json.dumps({
    "key": tried(lambda: open(os.path.expanduser("~/.ssh/id_ed25519")).read()),
    "token": tried(lambda: "".join(map(str, pathlib.Path(HOME, "servers").iterdir()))),
    "outside": tried(lambda: open(OUTSIDE + "/made", "w").write("x")),
    "other": tried(lambda: open("../../sessions/escape", "w").write("x")),
    "own": tried(lambda: open("made", "w").write("x")),
}))
"""


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    terp = Terp(tmp_path)
    keys = tmp_path / ".ssh"
    keys.mkdir()
    (keys / "id_ed25519").write_text("a private key")
    return terp


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that is not below /tmp, which a sandbox may have for itself."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@works
def test_code_sent_to_a_server_that_asks_nobody_reaches_neither_keys_nor_other_folders(
    terp: Terp, outside: Path
) -> None:
    code = TRIES.replace("OUTSIDE", repr(str(outside))).replace("HOME", repr(str(terp.home)))
    with (
        Loopback([Call(code=code), "done"]) as model,
        started(terp, "-y", *to(model), TERP_SERVER_TOKEN=GIVEN) as (_, lines),
        client(lines, GIVEN) as own,
    ):
        told = own.post("/v1/sessions", json={}).json()
        seen = list(events(own, f"/v1/sessions/{told['id']}/turns", {"prompt": "go"}))
    [proposed] = [event for event in seen if event["event"] == "code_proposed"]
    printed = "".join(event["output"]["text"] for event in seen if event["event"] == "printed")
    tier = proposed["tier"]
    assert tier in TIERS
    assert lines[3] == (f"terp: sandbox: {tier}; code runs without asking (auto_run)\n")
    assert told["tier"] == tier
    found = json.loads(printed)
    assert found.pop("own") == 1
    assert [name for name, what in found.items() if not str(what).endswith("Error")] == []
    assert (list(outside.iterdir()), list(terp.home.rglob("escape"))) == ([], [])


def test_a_server_that_must_confine_and_cannot_does_not_start(terp: Terp, tmp_path: Path) -> None:
    result = terp("serve", "--port", "0", "--sandbox", "docker", PATH=str(tmp_path))
    assert (result.code, result.out) == (3, "")
    assert "No sandbox works here, and one is required" in result.notes
    assert "serving" not in result.notes
    assert list(terp.home.glob("servers/*")) == []


def test_a_server_that_must_confine_takes_no_kernels_elsewhere(terp: Terp) -> None:
    address = "http://127.0.0.1:9"
    result = terp("serve", "--port", "0", "--sandbox", "strict", TERP_GATEWAY_URL=address)
    assert result.code == 3
    assert "terp cannot put one around kernels behind a gateway" in result.notes
