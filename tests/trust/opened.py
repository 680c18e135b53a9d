"""What happened when terp was started in folders, all by one process that is audited."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
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

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """What `opened` told of one start."""
        return cls(**{**told, "folder": Path(told["folder"])})

    def did(self, *events: str) -> list[Any]:
        """What was seen of these events."""
        return [what for event, what in self.seen if event in events]


class Evil:
    """Listens on a port of 127.0.0.1, and counts who comes; all of them are counted once it is left."""

    def __init__(self) -> None:
        self.visits = 0
        self._last: Any = None
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
        # Visitors are taken in the order in which they came: after its own visit there is none to wait for.
        with socket.socket() as own:
            own.bind(("127.0.0.1", 0))
            self._last = own.getsockname()
            own.connect(self._listening.getsockname())
            self._thread.join()
        self._listening.close()

    def _count(self) -> None:
        while True:
            visitor, address = self._listening.accept()
            visitor.close()
            if address == self._last:
                return
            self.visits += 1


def opened(
    folders: Sequence[Path],
    environs: Sequence[dict[str, str]],
    script: Sequence[Scripted],
    *arguments: str,
) -> list[dict[str, Any]]:
    """Start terp in each of the folders, with a model that answers with `script` each time.

    Returns JSON, of which `Opened.read` takes each.
    """
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
        return [_told(one, server.requests[at * each : (at + 1) * each]) for at, one in enumerate(work)]


def _told(one: dict[str, Any], requests: list[dict[str, Any]]) -> dict[str, Any]:
    out, notes = (Path(one[name]).read_text() for name in ("out", "notes"))
    told: dict[str, Any] = json.loads(Path(one["told"]).read_text())
    return {"folder": one["cwd"], "out": out, "notes": notes, "requests": requests, **told}


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
