"""The npm package `@agentclientprotocol/sdk` as the client, in Node.

It is looked for in the folder `$ACP_NPM`, where `npm install @agentclientprotocol/sdk` has put it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.acp.test_turns import PIXEL, SHOW
from tests.cli.running import Terp, said, to
from tests.loopback import Call, Loopback, Scripted

SDK = Path(os.environ.get("ACP_NPM", "."), "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js")
pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and SDK.is_file()),
    reason="no npm package @agentclientprotocol/sdk ($ACP_NPM), or no node",
)
Step = tuple[str, dict[str, Any]]
Told = list[dict[str, Any]]


def prompt(text: str) -> Step:
    return "session/prompt", {"prompt": [{"type": "text", "text": text}]}


def driven(terp: Terp, server: Loopback, steps: Sequence[Step], **more: Any) -> Told:
    """Run the client; return what it has told."""
    plan = terp.home / "steps.json"
    plan.write_text(json.dumps({"steps": steps, **more}))
    client = Path(__file__).with_name("client.mjs")
    files = map(str, (client, SDK.resolve(), plan))
    command = ["node", *files, sys.executable, "-m", "terp_cli", "acp", *to(server)]
    ran = subprocess.run(
        command, cwd=terp.cwd, env=terp.environ, capture_output=True, text=True, timeout=120, check=True
    )
    sys.stdout.write(ran.stdout)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def ends(told: Told) -> list[Any]:
    """What each prompt ended with."""
    return [one.get("stopReason") for one in told if one["kind"] == "end" and one["step"] == "session/prompt"]


def calls(told: Told) -> dict[str, dict[str, Any]]:
    """The tool calls as they are at the end."""
    found: dict[str, dict[str, Any]] = {}
    for one in told:
        if one.get("sessionUpdate", "").startswith("tool_call"):
            found.setdefault(one["toolCallId"], {}).update(one)
    return found


def test_a_session_from_the_first_approval_to_a_crash_and_back(terp: Terp) -> None:
    path = str(terp.cwd / "open.py")
    Path(path).write_text("saved = 1\n")
    script: list[Scripted] = [
        Call(code="x = 41\nprint(x + 1)"), "It is 42.",
        Call(code="x = 0"), "I leave x.",
        Call(code="edit_file('open.py', 'unsaved', 'edited')"), "Edited.",
        Call(code=SHOW), "Here it is.",
        Call(code="print('on')\nimport time\ntime.sleep(600)"), Call(code="print(x)"), "Still 41.",
    ]  # fmt: skip
    place = {"cwd": str(terp.cwd), "mcpServers": []}
    prompts = [prompt(text) for text in ("add", "reset x", "edit", "plot", "wait", "what is x?")]
    answers = [["once", {}], ["decline", {"reason": "keep x"}], *[["once", {}]] * 4]
    with Loopback(script) as server:
        told = driven(
            terp, server, [("session/new", place), *prompts, ("kill", {})],
            answers=answers, buffers={path: "unsaved = 2\n"}, cancels="console\\non",
        )  # fmt: skip
    session = next(one["sessionId"] for one in told if one.get("step") == "session/new")
    assert ends(told) == ["end_turn"] * 4 + ["cancelled", "end_turn"]
    assert [one["status"] for one in calls(told).values()] == [
        "completed", "failed", "completed", "completed", "failed", "completed",
    ]  # fmt: skip
    assert "keep x" in said(server.requests[3])[-1][1]
    (written,) = (one for one in told if one["kind"] == "written")
    assert (written["path"], written["content"]) == (path, "edited = 2\n")
    assert PIXEL in str(calls(told)["c4"])
    assert "```console\\n41\\n```" in json.dumps(calls(told)["c6"])

    with Loopback(["As before."]) as server:
        steps = [("session/load", {**place, "sessionId": session}), prompt("go on")]
        again = driven(terp, server, steps, sessionId=session)
    asked = [one["content"]["text"] for one in again if one.get("sessionUpdate") == "user_message_chunk"]
    assert asked == ["add", "reset x", "edit", "plot", "wait", "what is x?"]
    assert (ends(again), again[-1]) == (["end_turn"], {"kind": "exit", "code": 0})


def test_errors_have_a_remedy(terp: Terp) -> None:
    with Loopback([]) as server:
        told = driven(terp, server, [("session/prompt", {"sessionId": "none", "prompt": []})])
    (end,) = (one for one in told if one.get("step") == "session/prompt")
    assert end["error"] == "The session 'none' is not open. session/load opens it."
