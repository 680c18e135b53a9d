"""The program itself: how it starts, what it says, and how it ends."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from terp.settings.installation import install_extra
from tests.cli.running import Terp, to
from tests.loopback import Call, Loopback

GIVEN = "a-token-that-was-given-to-the-server"


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


@contextmanager
def started(terp: Terp, *arguments: str, **environ: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The program once it serves, and the lines that it began with."""
    process = terp.start(
        "serve",
        "--port",
        "0",
        *arguments,
        stdin=subprocess.DEVNULL,
        environ={"OPENAI_API_KEY": "unused", **environ},
    )
    assert process.stderr is not None
    try:
        yield process, [process.stderr.readline() for _ in range(5)]
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def client(lines: list[str], token: str) -> httpx.Client:
    [url] = re.findall(r"http://\S+", lines[0])
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=30)


def token_in(lines: list[str]) -> tuple[str, Path]:
    [path] = re.findall(r"in (/\S+)", lines[1])
    return Path(path).read_text().strip(), Path(path)


def events(client: httpx.Client, path: str, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    with client.stream("POST", path, json=body) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line[6:])


def test_it_says_where_it_is_and_what_it_opens(terp: Terp) -> None:
    with started(terp) as (process, lines):
        token, file = token_in(lines)
        mode, argv = file.stat().st_mode & 0o777, " ".join(psutil.Process(process.pid).cmdline())
        with client(lines, token) as own:
            alive = own.get("/heartbeat")
        process.send_signal(signal.SIGTERM)
        out, notes = process.communicate(timeout=20)
    told = [re.sub(r"\d{4,}", "N", line.replace(str(terp.home), "HOME")) for line in lines]
    assert told == [
        "terp: serving http://127.0.0.1:N\n",
        "terp: token: in HOME/servers/server-N.token\n",
        "terp: model: openai/gpt-5.6 (OPENAI_API_KEY is set)\n",
        "terp: sandbox: none\n",
        "terp: open: /v1, the native interface and OpenAI's; no compatibility mode\n",
    ]
    assert (mode, alive.status_code, process.returncode, out) == (0o600, 200, 0, "")
    assert len(token) >= 22
    assert token not in "".join([*lines, notes, argv])
    assert not file.exists()
    assert json.loads(notes.splitlines()[0])["path"] == "/heartbeat"


def test_without_a_model_it_says_how_to_use_one_of_this_machine(terp: Terp) -> None:
    models = []
    for more in ([], ["--discover", "local"]):
        with started(terp, *more, OPENAI_API_KEY="") as (_, lines):
            models.append(lines[2])
    assert models == [
        "terp: model: none is configured; name one with --model, "
        "or add --discover local for one of this machine\n",
        "terp: model: one that a server of this machine offers (discover: local)\n",
    ]


def test_quiet_leaves_where_it_is_and_what_confines_code(terp: Terp) -> None:
    with started(terp, "-q", TERP_SERVER_TOKEN=GIVEN) as (process, lines):
        with client(lines, GIVEN) as own:
            alive = own.get("/heartbeat")
        process.send_signal(signal.SIGTERM)
        _, notes = process.communicate(timeout=20)
    assert [line.split()[1] for line in lines] == ["serving", "token:", "model:", "sandbox:", "open:"]
    assert (alive.status_code, notes) == (200, "")


def test_a_token_that_is_given_is_written_nowhere(terp: Terp) -> None:
    with started(terp, TERP_SERVER_TOKEN=GIVEN) as (process, lines):
        with client(lines, GIVEN) as own:
            alive = own.get("/heartbeat")
            own.get("/nothing/of/that/name")
            own.post("/v1/sessions", json={GIVEN: GIVEN})
        process.send_signal(signal.SIGINT)
        _, notes = process.communicate(timeout=20)
    assert lines[1] == "terp: token: that of TERP_SERVER_TOKEN\n"
    assert (alive.status_code, process.returncode) == (200, 0)
    assert GIVEN not in "".join([*lines, notes])
    written = [
        path
        for path in terp.home.rglob("*")
        if path.is_file() and GIVEN in path.read_text("utf-8", "replace")
    ]
    assert written == []


SLEEPS = """
import os, time
print(os.getpid(), "TERP_SERVER_TOKEN" in os.environ, flush=True)
time.sleep(60)
"""


def test_code_runs_in_a_real_kernel_and_all_is_saved_and_ended_at_the_end(terp: Terp) -> None:
    with (
        Loopback([Call(code=SLEEPS)]) as model,
        started(terp, *to(model), TERP_SERVER_TOKEN=GIVEN) as (process, lines),
        client(lines, GIVEN) as own,
    ):
        session = own.post("/v1/sessions", json={}).json()["id"]
        path = f"/v1/sessions/{session}"
        pid = ""
        for event in events(own, f"{path}/turns", {"prompt": "go"}):
            if event["event"] == "code_proposed":
                body = {"digest": event["digest"], "decision": "run"}
                with client(lines, GIVEN) as other:
                    assert other.post(f"{path}/approvals/c1", json=body).status_code == 200
            if event["event"] == "printed":
                pid, seen = event["output"]["text"].split()
                break
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert (seen, process.returncode) == ("False", 0)
    assert int(pid) in {child.pid for child in children}
    assert [
        child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    ] == []
    shown = terp("sessions", "show", session)
    assert "time.sleep(60)" in shown.out


def test_a_session_goes_on_in_another_server(terp: Terp) -> None:
    with Loopback(["The first answer.", "The second."]) as model:
        for number, words in enumerate(("first", "second")):
            with (
                started(terp, *to(model), TERP_SERVER_TOKEN=GIVEN) as (process, lines),
                client(lines, GIVEN) as own,
            ):
                if not number:
                    session = own.post("/v1/sessions", json={}).json()["id"]
                else:
                    early = own.get(f"/v1/sessions/{session}")
                    own.post(f"/v1/sessions/{session}/resume", json={})
                *_, last = events(own, f"/v1/sessions/{session}/turns", {"prompt": words})
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=20)
    assert (early.status_code, early.json()["error"]["code"]) == (409, "not_open")
    assert last["answer"] == "The second."
    assert "The first answer." in json.dumps(model.requests[1])


@pytest.mark.parametrize(
    ("arguments", "environ", "problem"),
    [
        (("--host", "0.0.0.0"), {}, "--host 0.0.0.0 can be reached from other machines."),
        ((), {"TERP_SERVER_TOKEN": "short"}, "TERP_SERVER_TOKEN must have 22 characters or more"),
        (
            ("--host", "no.such.host.invalid", "--allow-remote"),
            {},
            "cannot listen on no.such.host.invalid port 0: Name or service not known.\n",
        ),
        (("--port", "65536"), {}, '--port is "65536"'),
    ],
)
def test_a_server_that_cannot_be_is_one_line(
    terp: Terp, arguments: tuple[str, ...], environ: dict[str, str], problem: str
) -> None:
    result = terp("serve", "--port", "0", *arguments, **environ)
    assert (result.code, result.notes.count("\n")) == (2, 1)
    assert problem in result.notes


def test_without_its_packages_the_command_to_install_them_is_said(terp: Terp, tmp_path: Path) -> None:
    # An import that fails, as it does where the package is missing.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['uvicorn'] = None\n")
    paths = f"{tmp_path}:{terp.environ['PYTHONPATH']}"
    result = terp("--server", PYTHONPATH=paths)
    assert (result.code, result.notes) == (
        1,
        f"terp: terp serve needs packages that are not installed: {install_extra('server')}\n",
    )
