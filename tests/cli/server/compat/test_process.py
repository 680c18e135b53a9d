"""The program itself with `--compat`: what it says, where it listens, and clients of 0.4.3 against it."""

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from tests.cli.running import Terp, to
from tests.cli.server.compat.speaking import COMPLETE, joined
from tests.loopback import Call, Loopback


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


@contextmanager
def started(terp: Terp, *arguments: str, **environ: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The program once it serves the protocol, and the lines that it began with."""
    process = terp.start(
        "serve",
        "--compat",
        *arguments,
        stdin=subprocess.DEVNULL,
        environ={"OPENAI_API_KEY": "unused", "INTERPRETER_PORT": "0", **environ},
    )
    assert process.stderr is not None
    lines: list[str] = []
    try:
        while "Server will run at" not in "".join(lines[-1:]):
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        yield process, lines
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def address(lines: list[str]) -> str:
    [found] = re.findall(r"Server will run at http://(\S+)", lines[-1])
    return str(found)


@contextmanager
def connected(lines: list[str]) -> Iterator[ClientConnection]:
    with connect(f"ws://{address(lines)}/", proxy=None) as client:
        yield client


def sample(client: ClientConnection, text: str) -> list[dict[str, Any]]:
    """What the client in the documentation of 0.4.3 does: three frames, then read until it is complete."""
    client.send(json.dumps({"role": "user", "type": "message", "start": True}))
    client.send(json.dumps({"role": "user", "type": "message", "content": text}))
    client.send(json.dumps({"role": "user", "type": "message", "end": True}))
    frames = []
    while True:
        frames.append(json.loads(client.recv(timeout=60)))
        if frames[-1].get("type") == "status" and frames[-1].get("content") == "complete":
            return frames


def test_it_says_what_it_opens(terp: Terp) -> None:
    """C27"""
    with started(terp) as (_, lines):
        pass
    assert [re.sub(r"\d{4,}", "N", line) for line in lines[4:]] == [
        "terp: open: /v1, the native interface and OpenAI's\n",
        "terp: open: Open Interpreter's protocol and /openai (--compat), to any program of this machine, "
        "with any key or none; code waits for their go\n",
        "terp: Server will run at http://127.0.0.1:N\n",
    ]


def test_it_says_what_unsafe_opens(terp: Terp) -> None:
    """C27"""
    environ = {"INTERPRETER_INSECURE_ROUTES": "true", "INTERPRETER_API_KEY": "secret"}
    with started(terp, "--compat-unsafe", "-y", **environ) as (_, lines):
        pass
    assert lines[5:8] == [
        "terp: open: Open Interpreter's protocol and /openai (--compat), to clients with the "
        "key in INTERPRETER_API_KEY; code runs unasked (auto_run)\n",
        "terp: open: auto_run over the wire (--compat-unsafe): clients may run code without approval\n",
        "terp: open: /run, whose code needs no approval; /upload to any file, /download of this directory "
        "(INTERPRETER_INSECURE_ROUTES)\n",
    ]
    assert "secret" not in "".join(lines)


def test_the_variables_say_where_it_listens_unless_flags_do(terp: Terp) -> None:
    """C27"""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with started(terp, INTERPRETER_HOST="localhost", INTERPRETER_PORT=str(port)) as (_, lines):
        named = address(lines)
    with started(terp, "--port", "0", "--host", "127.0.0.1", INTERPRETER_PORT=str(port)) as (_, lines):
        flagged = address(lines)
    assert named == f"localhost:{port}"
    assert flagged.startswith("127.0.0.1:")
    assert flagged != f"127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("arguments", "environ", "problem"),
    [
        (("--compat",), {"INTERPRETER_PORT": "nine"}, 'INTERPRETER_PORT is "nine", must be a whole number'),
        (("--compat",), {"INTERPRETER_PORT": "65536"}, 'INTERPRETER_PORT is "65536", must be'),
        (
            ("--compat",),
            {"INTERPRETER_HOST": "0.0.0.0"},
            "--host 0.0.0.0 can be reached",
        ),
        (("--compat-unsafe",), {}, "--compat-unsafe needs --compat."),
    ],
)
def test_a_server_that_cannot_be_is_one_line(
    terp: Terp, arguments: tuple[str, ...], environ: dict[str, str], problem: str
) -> None:
    """C27"""
    result = terp("serve", *arguments, **environ)
    assert (result.code, result.notes.count("\n"), problem in result.notes) == (2, 1, True)


def test_a_port_that_is_taken_is_one_line(terp: Terp) -> None:
    """C27"""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = terp("serve", "--compat", INTERPRETER_PORT=str(port))
    assert (result.code, f"cannot listen on 127.0.0.1 port {port}" in result.notes) == (2, True)


PICTURE = """
from IPython.display import Image, display
display(Image(data=bytes.fromhex(
    "89504e470d0a1a0a0000000d494844520000000100000001080600000"
    "01f15c4890000000d4944415478da63fcffff3f030005fe02fea72d9d3c0000000049454e44ae426082"
)))
"""


def test_the_sample_of_the_documentation_works(terp: Terp) -> None:
    """C28"""
    with (
        Loopback(
            [["Let me run it. ", Call("python", "print(6*7)")], "It is 42.", Call("python", PICTURE), "Seen."]
        ) as model,
        started(terp, *to(model), "-y") as (_, lines),
        connected(lines) as client,
    ):
        first, second = sample(client, "6*7?"), sample(client, "draw")
    assert joined(first)[6:12] == [
        {"role": "computer", "type": "console", "start": True},
        {"role": "computer", "type": "console", "format": "active_line", "content": 1},
        {"role": "computer", "type": "console", "format": "output", "content": "42\n"},
        {"role": "computer", "type": "console", "format": "active_line", "content": None},
        {"role": "computer", "type": "console", "end": True},
        {"role": "assistant", "type": "message", "start": True},
    ]
    assert first[-1] == second[-1] == COMPLETE
    assert [one["format"] for one in second if one["type"] == "image"] == ["base64.png"] * 3
    [tool] = model.requests[0]["tools"]
    properties = tool["function"]["parameters"]["properties"]
    assert "python" in properties["language"]["enum"]


def test_a_model_without_tools_is_told_to_write_fences(terp: Terp) -> None:
    """C28"""
    with (
        Loopback(["Let me see.\n```python\nprint(6*7)\n```\n", "It is 42."], chunk=1) as model,
        started(terp, *to(model)) as (_, lines),
        connected(lines) as client,
    ):
        sent = {"llm": {"supports_functions": False}, "auto_run": False}
        changed = httpx.post(f"http://{address(lines)}/settings", json=sent, trust_env=False)
        shown = sample(client, "6*7?")
        for frame in ({"start": True}, {"content": "go"}, {"end": True}):
            client.send(json.dumps({"role": "user", "type": "command", **frame}))
        frames = [json.loads(client.recv(timeout=60)) for _ in range(5)]
    assert changed.status_code == 200
    assert [one["content"] for one in joined(shown) if one["type"] == "code" and "content" in one] == [
        "print(6*7)"
    ]
    assert frames[2]["content"] == "42\n"
    assert "tools" not in model.requests[0]
    assert "```python" in model.requests[0]["messages"][0]["content"]


def test_code_of_a_remote_runner_runs_in_a_real_kernel(terp: Terp) -> None:
    """C20"""
    with Loopback(["Done.", "Done."]) as model, started(terp, *to(model)) as (_, lines):
        outputs = []
        for source in ("x = 6", "print(x * 7)"):
            with connected(lines) as client:
                client.send(json.dumps({"auth": "dummy-api-key"}))
                client.send(json.dumps({"role": "assistant", "start": True}))
                code = {"role": "assistant", "type": "code", "format": "python", "content": source}
                client.send(json.dumps(code))
                for frame in ({"start": True}, {"content": "go"}, {"end": True}):
                    client.send(json.dumps({"role": "user", "type": "command", **frame}))
                while True:
                    got = json.loads(client.recv(timeout=60))
                    if got.get("format") == "output":
                        outputs.append(got["content"])
                    if got.get("format") == "active_line" and got["content"] is None:
                        break
    assert outputs == ["42\n"]


COUNTS = "import time\nfor number in range(600):\n    print(number, flush=True)\n    time.sleep(0.1)"


def test_a_run_has_its_own_output_alone(terp: Terp) -> None:
    """C16"""
    environ = {"INTERPRETER_INSECURE_ROUTES": "true"}
    with (
        Loopback([Call("python", COUNTS)]) as model,
        started(terp, *to(model), "-y", "--compat-unsafe", **environ) as (_, lines),
        connected(lines) as client,
    ):
        for frame in ({"start": True}, {"content": "loop"}, {"end": True}):
            client.send(json.dumps({"role": "user", "type": "message", **frame}))
        while json.loads(client.recv(timeout=60)).get("format") != "output":
            pass
        client.send(json.dumps({"role": "user", "type": "command", "content": "stop"}))
        while json.loads(client.recv(timeout=5)) != COMPLETE:
            pass
        body = {"language": "python", "code": "print(1);2+3"}
        ran = httpx.post(f"http://{address(lines)}/run", json=body, trust_env=False, timeout=30)
    assert ran.json() == {"output": [{"type": "console", "format": "output", "content": "1\n5"}]}


def test_code_works_in_the_servers_directory_where_that_is_named(terp: Terp, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    arguments = "--cwd", str(tmp_path / "here"), "-y", "--sandbox", "off"
    with (
        Loopback([Call(code="import os; print(os.getcwd())"), "There."]) as model,
        started(terp, *to(model), *arguments, INTERPRETER_REQUIRE_AUTH="False") as (_, lines),
        connected(lines) as client,
    ):
        frames = sample(client, "where?")
    assert str(tmp_path / "here") in str(frames)
