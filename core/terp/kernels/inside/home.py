"""What is known of this kernel and of the cell that runs."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any

REPORT = "application/vnd.terp.report+json"
# What terp's requests have for a user name: other clients of a kernel have others.
TERP = "terp"
# Output of one cell, in characters; a display weighs at least `DISPLAY_WEIGHT`.
ROOM = 64_000_000
DISPLAY_WEIGHT = 1_000
# A repr that is longer is cut: it travels in one message.
LONGEST_REPR = 4_000_000


class Home:
    """What is known of this kernel and of the cell that runs, or ran last."""

    def __init__(self, shell: Any, token: str) -> None:
        self.shell = shell
        self.kernel = shell.kernel
        self.token = token
        # Those of sessions that are guests of this kernel, by the ids with which they send.
        self.tokens: dict[str, str] = {}
        self.pid = os.getpid()
        self.log = os.fdopen(os.dup(2), "w", buffering=1)
        # The kernel's own standard output and error, whatever `sys.stdout` is meanwhile.
        self.streams: list[Any] = []
        self.header: dict[str, Any] = {}
        self.in_cell = False
        self.room = ROOM
        self.dropped = [0, 0]
        self.reported = 0.0
        self.hidden: str | None = None
        # Where the cell begins, its number, where an interrupt hit it, what was at hand where it failed, and
        # where its stack goes before a kill.
        self.cwd = ""
        self.number = 0
        self.stopped: Any = None
        self.failed: Any = None
        self.stack: Any = None
        # Answers to questions that did not show them, such as those of `getpass`.
        self.typed_unseen: set[str] = set()
        self.calling = threading.Lock()
        self.local = threading.local()

    def begin(self) -> None:
        """A cell begins."""
        self.header = self.kernel.get_parent()["header"]
        for stream in self.streams:
            # ipykernel tells only what is `sys.stdout` now, which may be the person's.
            stream.parent_header = self.header
        self.room = ROOM
        self.hidden = self.stopped = self.failed = None
        self.in_cell = True

    def token_now(self) -> str:
        """What marks the calls home of the cell that runs; "" for one that no session of terp has sent."""
        header = self.kernel.get_parent()["header"]
        return self.tokens.get(header.get("session", "")) or (self.token if is_ours(header) else "")

    def flush(self) -> None:
        """Send all text, so that what is sent next comes after it."""
        for stream in self.streams:
            stream.flush_now()

    def report(self, **facts: Any) -> None:
        """Tell the adapter something about the cell; of those of other clients nobody wants to know."""
        if not is_ours(self.header):
            return
        content = {"data": {REPORT: facts}, "metadata": {}, "transient": {}}
        self.kernel.session.send(self.kernel.iopub_socket, "display_data", content, parent=self.header)

    def drop(self, text: str) -> None:
        """Count output that is not sent; tell the count now and then."""
        self.dropped[0] += len(text)
        self.dropped[1] += text.count("\n")
        if time.monotonic() - self.reported > 1.0:
            self.report_dropped()

    def report_dropped(self) -> None:
        """Tell how much was dropped since the last time."""
        self.reported = time.monotonic()
        dropped, self.dropped = self.dropped, [0, 0]
        if dropped[0]:
            self.report(omitted=dropped)

    def fit(self, data: dict[str, Any]) -> dict[str, Any]:
        """A MIME bundle, or what of it fits into the room that the cell has left."""
        plain = data.get("text/plain", "")
        if len(plain) > LONGEST_REPR:
            self.drop(plain[LONGEST_REPR:])
            data = {**data, "text/plain": plain[:LONGEST_REPR]}
        weight = max(
            DISPLAY_WEIGHT, sum(len(value) for value in data.values() if isinstance(value, (str, bytes)))
        )
        if weight <= self.room:
            self.room -= weight
            return data
        fits, self.room = plain[: self.room], 0
        self.drop(plain[len(fits) :] or " ")
        return {"text/plain": fits} if fits else {}

    def guarded(self, function: Callable[..., None]) -> Callable[..., None]:
        """`function`, whose failure is a line in the log and not the person's problem."""

        @functools.wraps(function)
        def run(*args: Any) -> None:
            try:
                function(*args)
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001
                self.log.write(f"terp_home: {function.__qualname__}: {error!r}\n")

        return run


def is_ours(header: dict[str, Any]) -> bool:
    """Whether a session of terp has sent the request with this header."""
    return header.get("username") == TERP
