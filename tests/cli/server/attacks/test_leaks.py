"""No answer, no line of the log, and no table of processes holds a key or the token."""

import json
import logging
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from terp.events.model import Model
from terp.secrets.redactor import Redactor
from terp_cli.server.serving import JsonLines, lines_to
from tests.cli.running import Terp, to
from tests.cli.server.attacks.raw import Request, exchanged, json_request
from tests.cli.server.attacks.target import BOTH, attacked, http_routes
from tests.cli.server.serving import SECRET, TOKEN
from tests.cli.server.test_process import GIVEN, client, events, started
from tests.loopback import Call, Loopback

KEY = "sk-a-key-that-nobody-may-see-0123456789"


def _broken() -> Model:
    raise RuntimeError(f"{SECRET} and {TOKEN}")


@BOTH
async def test_no_answer_of_any_route_holds_a_secret_or_quotes_a_value(tmp_path: Path, kind: str) -> None:
    hostile = json.dumps(
        {"prompt": [SECRET], "settings": {"model": KEY}, "digest": KEY, "answer": {}}
    ).encode()
    bodies = hostile, b'{"prompt": "' + KEY.encode()
    async with attacked(tmp_path, kind=kind) as on:
        told = ""
        for route in http_routes(on.app):
            for body in bodies if route.method in ("POST", "PUT", "PATCH") else (b"",):
                request = json_request(route.method, on.path(route), body).with_lines(f"Last-Event-ID: {KEY}")
                answer = await exchanged(on.port, request)
                told += answer.headers + answer.body
        log = str(on.server.log)
    assert [word for word in (SECRET, TOKEN, KEY) if word in told] == []
    assert [word for word in (SECRET, TOKEN, KEY) if word in log] == []
    assert "Traceback" not in told


async def test_a_mistake_of_the_server_is_told_in_its_log_alone(tmp_path: Path) -> None:
    lines: list[str] = []
    log = JsonLines(lines_to(lines.append, Redactor(secrets=(SECRET, TOKEN)), quiet=False))
    logging.getLogger("uvicorn.error").addHandler(log)
    async with attacked(tmp_path) as on:
        on.server.opener.model = _broken
        answer = await exchanged(on.port, json_request("POST", "/v1/sessions", b"{}"))
    logging.getLogger("uvicorn.error").removeHandler(log)
    assert (answer.status, answer.code) == (500, "mistake")
    assert [word for word in ("RuntimeError", "Traceback", SECRET, TOKEN) if word in answer.body] == []
    assert "RuntimeError" in "".join(lines)
    assert [word for word in (SECRET, TOKEN) if word in "".join(lines)] == []


async def test_what_a_client_writes_makes_no_line_of_the_log(tmp_path: Path) -> None:
    forged = "/x%0a%7b%22level%22:%22error%22%7d"
    lines: list[str] = []
    async with attacked(tmp_path) as on:
        await exchanged(on.port, Request(path=forged))
        line = lines_to(lines.append, Redactor(), quiet=False)
        for fields in on.server.log:
            line(fields)
    assert [text.count("\n") for text in lines] == [1] * len(lines)
    assert json.loads(lines[-1])["path"] == '/x\n{"level":"error"}'


READS = """
import glob, os
seen = ""
for path in glob.glob("/proc/*/cmdline"):
    try:
        seen += open(path).read()
    except OSError:
        pass
print(len(seen) > 0, os.environ.get("TERP_SERVER_TOKEN", "none"), KEYS)
"""


def test_a_token_is_in_no_command_line_no_environment_of_code_and_no_log(terp: Terp) -> None:
    # Put together there, so that the code does not hold what it looks for.
    halves = [[word[:9], word[9:]] for word in (GIVEN, KEY)]
    code = READS.replace("KEYS", f"[sum(''.join(half) in seen for half in {halves!r})]")
    with (
        Loopback([Call(code=code), "done"]) as model,
        started(terp, *to(model), TERP_SERVER_TOKEN=GIVEN, OPENAI_API_KEY=KEY) as (process, lines),
        client(lines, GIVEN) as own,
    ):
        for path in (f"/{GIVEN}", f"/v1/sessions/{KEY}", f"/x?{GIVEN}"):
            own.get(path)
        session = own.post("/v1/sessions", json={}).json()["id"]
        printed = _run(own, lines, session)
        tree = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        commands = " ".join(word for one in tree for word in one.cmdline())
        process.send_signal(signal.SIGTERM)
        _, notes = process.communicate(timeout=20)
    assert printed.split("\n")[0] == "True none [0]"
    assert [word for word in (GIVEN, KEY) if word in commands] == []
    assert [word for word in (GIVEN, KEY) if word in notes + "".join(lines)] == []
    assert [path for path in _files(terp) if GIVEN in path.read_text("utf-8", "replace")] == []


def _files(terp: Terp) -> list[Path]:
    return [path for path in terp.home.rglob("*") if path.is_file()]


def _run(own: Any, lines: list[str], session: str) -> str:
    """What code prints that is approved."""
    path, printed = f"/v1/sessions/{session}", ""
    for event in events(own, f"{path}/turns", {"prompt": "go"}):
        if event["event"] == "code_proposed":
            body = {"digest": event["digest"], "decision": "run"}
            with client(lines, GIVEN) as other:
                assert other.post(f"{path}/approvals/{event['call_id']}", json=body).status_code == 200
        if event["event"] == "printed":
            printed += event["output"].get("text", "")
    return printed


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)
