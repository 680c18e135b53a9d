"""The real program in a process of its own, against a scripted server on loopback."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.loopback import Loopback, Scripted

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 60.0


@dataclass
class Result:
    """How a call ended."""

    code: int
    out: str
    notes: str
    requests: list[dict[str, Any]] = field(default_factory=list)


class Terp:
    """Calls the program in a directory of its own; `home` takes its files."""

    def __init__(self, folder: Path) -> None:
        self.cwd, self.home = folder / "work", folder / "home"
        self.cwd.mkdir()
        self.home.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            # A title would take a reply of the script.
            "TERP_TITLES": "off",
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "NO_PROXY": "127.0.0.1",
            "PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'cli'}",
            "TERP_HOME": str(self.home),
            "IPYTHONDIR": str(folder / "ipython"),
            "MPLCONFIGDIR": str(folder / "matplotlib"),
            "TERM": "xterm",
            # The terminals of tests do not tell where their cursor is.
            "PROMPT_TOOLKIT_NO_CPR": "1",
            # Nothing is installed from an index of packages.
            "PIP_NO_INDEX": "1",
            "UV_OFFLINE": "1",
        }

    def __call__(self, *arguments: str, data: str | None = None, **environ: str) -> Result:
        """Run to the end, with `data` in a pipe on stdin or else nothing there."""
        stdin = subprocess.DEVNULL if data is None else subprocess.PIPE
        process = self.start(*arguments, stdin=stdin, environ=environ)
        out, notes = process.communicate(data, timeout=TIMEOUT_S)
        return Result(process.returncode, out, notes)

    def asked(
        self, script: Sequence[Scripted], *arguments: str, data: str | None = None, **environ: str
    ) -> Result:
        """Run against a server that answers with `script`."""
        with Loopback(script) as server:
            result = self(*to(server), *arguments, data=data, **environ)
        result.requests = server.requests
        return result

    def start(
        self, *arguments: str, stdin: int, terminal: str = "", environ: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start it without a controlling terminal, or with the one at the path `terminal`."""
        how = ["-c", _ON_A_TERMINAL, terminal] if terminal else ["-m", "terp_cli"]
        return subprocess.Popen(
            [sys.executable, *how, *arguments],
            cwd=self.cwd,
            env={**self.environ, **(environ or {})},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


# The first terminal that the leader of a session opens becomes its controlling terminal.
_ON_A_TERMINAL = """
import os, sys
os.open(sys.argv.pop(1), os.O_RDWR)
from terp_cli.main import main
sys.exit(main())
"""


def to(server: Loopback) -> tuple[str, ...]:
    """The flags that send requests to `server`."""
    return "--model", "openai/scripted", "--api-base", server.url


def without_tier(notes: str) -> str:
    """The notes but for what holds the code, which depends on the machine."""
    return re.sub(r"^\[sandbox\] .*\n", "", notes, flags=re.MULTILINE)


def said(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Role and text of the messages of a request, with `note` in place of the word that marks notes."""
    messages = [(message["role"], message.get("content") or "") for message in request["messages"]]
    named = re.search(r"lines that begin with `(\[\w+: )`", messages[0][1]) if messages else None
    return [(role, text.replace(named[1], "[note: ") if named else text) for role, text in messages]
