"""What happened when terp was started in folders, all by one process that is audited."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.loopback import Loopback, Scripted

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-canary-0123456789"
_ALL_S = 100.0


@dataclass
class Opened:
    """One start in `folder`: how it ended, what it wrote, sent, and did by the names of audit events."""

    folder: Path
    code: int
    out: str
    notes: str
    requests: list[dict[str, Any]]
    seen: list[tuple[str, Any]] = field(repr=False)

    def did(self, *events: str) -> list[Any]:
        """What was seen of these events."""
        return [what for event, what in self.seen if event in events]


class Evil:
    """Listens on a port of 127.0.0.1, and counts who comes."""

    def __init__(self) -> None:
        self.visits = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._count, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Wakes `accept`, which a close alone does not.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _count(self) -> None:
        while True:
            try:
                visitor, _ = self._listening.accept()
            except OSError:
                return
            self.visits += 1
            visitor.close()


def opened(
    folders: Sequence[Path],
    environs: Sequence[dict[str, str]],
    script: Sequence[Scripted],
    *arguments: str,
) -> list[Opened]:
    """Start terp in each of the folders, with a model that answers with `script` each time."""
    beside = folders[0].parent
    with Loopback(list(script) * len(folders)) as server:
        work = [
            {
                "cwd": str(folder),
                "environ": environ,
                "arguments": ["--model", "openai/scripted", "--api-base", server.url, *arguments, "hi"],
                **{name: str(beside / f"{folder.name}.{name}") for name in ("out", "notes", "told")},
            }
            for folder, environ in zip(folders, environs, strict=True)
        ]
        (beside / "work.json").write_text(json.dumps(work))
        subprocess.run(
            [sys.executable, ROOT / "tests/trust/opening.py", beside / "work.json"],
            env=_environ(beside),
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=_ALL_S,
            start_new_session=True,
        )
        each = len(script)
        return [_read(one, server.requests[at * each : (at + 1) * each]) for at, one in enumerate(work)]


def _read(one: dict[str, Any], requests: list[dict[str, Any]]) -> Opened:
    told = json.loads(Path(one["told"]).read_text())
    out, notes = (Path(one[name]).read_text() for name in ("out", "notes"))
    return Opened(
        Path(one["cwd"]), told["code"], out, notes, requests, [tuple(pair) for pair in told["seen"]]
    )


def _environ(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'cli'}",
        "TERP_HOME": str(home / "home"),
        "IPYTHONDIR": str(home / "ipython"),
        "MPLCONFIGDIR": str(home / "matplotlib"),
        "OPENAI_API_KEY": KEY,
    }
