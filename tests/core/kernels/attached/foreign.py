"""A kernel of another program: its process, and a client of that program."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_core.utils import ensure_event_loop

PATIENCE_S = 30.0


@contextmanager
def closing_loop() -> Iterator[None]:
    """Close the event loop that a blocking client makes in a thread without one.

    Nothing else closes it, and the warning about that would fail any later test.
    """
    try:
        yield
    finally:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            ensure_event_loop().close()
            asyncio.set_event_loop(None)


class ForeignKernel:
    """A real ipykernel over TCP, as Jupyter starts one; its connection file is in `folder`."""

    def __init__(self, folder: Path, name: str = "kernel-feedbeef", cwd: Path | None = None) -> None:
        self.file = folder / f"{name}.json"
        self._log = (folder / f"{name}.log").open("wb")
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "ipykernel_launcher",
                "-f",
                str(self.file),
                "--HistoryManager.enabled=False",
            ],
            cwd=cwd or folder,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )
        self.client = self._connected()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.stop_channels()
        self.process.kill()
        self.process.wait()
        self._log.close()

    def run(self, code: str) -> Mapping[str, Any]:
        """Run code as its owner does; the reply."""
        with closing_loop():
            reply: Mapping[str, Any] = self.client.execute_interactive(
                code, timeout=PATIENCE_S, allow_stdin=False, output_hook=self.seen.append
            )["content"]
        return reply

    def printed(self, code: str) -> str:
        """What code of its owner prints."""
        self.seen.clear()
        self.run(code)
        return "".join(one["content"]["text"] for one in self.seen if one["msg_type"] == "stream")

    def _connected(self) -> BlockingKernelClient:
        self.seen: list[dict[str, Any]] = []
        deadline = time.monotonic() + PATIENCE_S
        while not (self.file.exists() and self.file.read_text().endswith("}")):
            assert time.monotonic() < deadline, "the kernel did not write its connection file"
            time.sleep(0.02)
        client = BlockingKernelClient()
        client.load_connection_file(str(self.file))
        # Its heart may not beat yet.
        client.start_channels(hb=False)
        with closing_loop():
            client.wait_for_ready(timeout=PATIENCE_S)
        return client
