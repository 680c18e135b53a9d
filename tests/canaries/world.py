"""The program, driven so that every canary passes through all that it has, and what it leaves behind."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from terp.kernels.hosts.processes import children
from tests.canaries.table import CANARIES, of
from tests.cli.running import ROOT, Terp, to
from tests.cli.teletype import Teletype
from tests.core.keyring_backend import NAME, VARIABLE
from tests.loopback import Call, Http, Loopback, Scripted

ALL = "\n".join(canary.text for canary in CANARIES)
SPLIT = next(canary.value for canary in CANARIES if canary.name == "DB_PASSWORD")
FORMATS = ("ipynb", "py", "md", "html")

# What code puts out: a value in two pieces, all of them, a page, and an error; and what it can see, in files.
_CODE = f"""
import os, pathlib, sys, time
said = {ALL!r}
sys.stdout.write({SPLIT[:9]!r}); sys.stdout.flush(); time.sleep(0.3)
sys.stdout.write({SPLIT[9:]!r} + "\\n"); sys.stdout.flush()
print(said)
display({{"text/html": "<script></script>" + said}}, raw=True)
pathlib.Path("environ.seen").write_text(repr(dict(os.environ)))
def read(path):
    try:
        return path.read_bytes().replace(b"\\0", b" ").decode(errors="replace")
    except OSError:
        return ""
def read(path):
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
pathlib.Path("processes.seen").write_text("".join(map(read, pathlib.Path("/proc").glob("[0-9]*/environ"))))
raise ValueError(said)
"""
_CRASH = f"""
import os, sys
from terp_cli.fronts.invocation import Invocation
from terp_cli.line.command_line import read_command_line
call = Invocation(read_command_line(sys.argv[1:]), os.environ)
call.settings()
try:
    raise KeyError({ALL!r})
except KeyError as error:
    sys.exit(call.crashed(error))
"""


class _Watching(Loopback):
    """A server that looks, with each request, at the arguments of all that terp has started."""

    arguments: tuple[str, ...] = ()

    def take(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Scripted:
        began = [terp for terp in children(os.getpid()) if b"--record" in _arguments(terp)]
        below = [one for terp in began for one in _below(terp)]
        self.arguments += tuple(_arguments(one).replace(b"\0", b" ").decode() for one in below)
        return super().take(path, headers, body)


def _below(pid: int) -> Iterator[int]:
    for child in children(pid):
        yield child
        yield from _below(child)


def _arguments(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def placed(folder: Path) -> Terp:
    """The program in a world that holds the canaries where they belong."""
    terp = Terp(folder)
    server = {
        "url": "http://127.0.0.1:9/mcp",
        "headers": {"X-Login": "${NOTES_LOGIN}"},
    }
    program = {"command": "no-such-program", "env": {one.name: one.value for one in of("settings")}}
    (terp.home / "config.yaml").write_text(
        "fallback_models: [openrouter/other]\nretries: 0\n"
        f"mcp_servers: {json.dumps({'notes': server, 'other': program})}\n"
    )
    (terp.home / "keys.json").write_text(
        json.dumps({one.name: one.value if one.source == "kept" else None for one in of("kept", "keyring")})
    )
    (terp.home / "keys.json").chmod(0o600)
    (folder / "keyring.json").write_text(json.dumps({f"terp/{one.name}": one.value for one in of("keyring")}))
    terp.environ |= {one.name: one.text for one in of("environment")}
    terp.environ |= {
        "PYTHON_KEYRING_BACKEND": NAME,
        VARIABLE: str(folder / "keyring.json"),
        "PYTHONPATH": f"{terp.environ['PYTHONPATH']}:{ROOT}",
    }
    return terp


def flag() -> tuple[str, ...]:
    """The key that is given with a call."""
    return tuple(part for one in of("flag") for part in ("--api-key", one.value))


def left_by(folder: Path) -> dict[str, str]:
    """The texts that the program leaves, by the name of the sink."""
    terp = placed(folder)
    sinks: dict[str, str] = {}
    told = f"These are all:\n{ALL}\nNo more."
    with _Watching([[told, Call(code=_CODE)], told], chunk=7) as server:
        first = terp(
            *to(server), *flag(), "-y", "--output-format", "stream-json",
            "--record", str(folder / "calls.jsonl"), ALL,
        )  # fmt: skip
    assert first.code == 0, first.notes
    sinks["stream-json"], sinks["stderr"] = first.out, first.notes
    sinks["recording"] = (folder / "calls.jsonl").read_text()
    sinks["arguments"] = "\n".join(server.arguments)
    for name in ("environ", "processes"):
        sinks[name] = (terp.cwd / f"{name}.seen").read_text()
    [session] = (terp.home / "sessions").glob("20*")
    sinks["log"] = (session / "events.jsonl").read_text()
    sinks["full output"] = (session / "outputs" / "1.txt").read_text()
    sinks["page"] = next((session / "outputs").glob("*.html")).read_text()
    for format_ in FORMATS:
        written = terp("export", format_, session.name, "--out", str(folder / f"x.{format_}"))
        assert written.code == 0, written.notes
        sinks[f"export {format_}"] = (folder / f"x.{format_}").read_text()
    sinks["list"] = terp("sessions").out
    sinks |= _of_failures(terp)
    sinks |= _of_a_talk(terp, folder)
    return sinks


def _of_failures(terp: Terp) -> Iterator[tuple[str, str]]:
    refused = Http(401, json.dumps({"error": {"message": f"Incorrect: {ALL}"}}))
    for name, flags in (("plain", ()), ("json", ("--output-format", "json")), ("debug", ("--debug",))):
        with Loopback([refused]) as server:
            ended = terp(*to(server), *flag(), *flags, "go")
        assert ended.code != 0
        yield f"refused, {name}", ended.out + ended.notes
    command = [sys.executable, "-c", _CRASH, *flag(), "go"]
    crashed = subprocess.run(
        command, cwd=terp.cwd, env=terp.environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert "this is a bug in terp" in crashed.stderr
    yield "crash", crashed.stdout + crashed.stderr


def _of_a_talk(terp: Terp, folder: Path) -> Iterator[tuple[str, str]]:
    """What stays of a talk at the terminal, on which what was typed may be seen."""
    lines = ALL.replace("\n", " ")
    with Loopback([f"Seen: {lines}"]) as server:
        command = [sys.executable, "-m", "terp_cli", *to(server), *flag()]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            teletype.until("\x1b[?2004h")
            teletype.types(f"{lines}\r")
            teletype.until("Seen:")
            for command_line, shown in (
                (f"/save_message {folder}/messages.json", "messages.json ("),
                (f"/export md {folder}/talk.md", "talk.md ("),
            ):
                teletype.types(f"{command_line}\r")
                teletype.until(shown)
            teletype.types("/exit\r")
            teletype.over()
    yield "typed lines", (terp.home / "history").read_text()
    yield "messages", (folder / "messages.json").read_text()
    yield "export of a talk", (folder / "talk.md").read_text()
    yield "titles", terp("sessions").out
