"""State of this kernel and of the running cell, and calls of terp's services."""

from __future__ import annotations

import functools
import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

REPORT = "application/vnd.terp.report+json"
# The user name in the headers of terp's requests, which distinguishes them from other clients'.
TERP = "terp"
# Output of one cell, in characters; a display weighs at least `DISPLAY_WEIGHT`.
ROOM = 64_000_000
DISPLAY_WEIGHT = 1_000
# A longer repr is truncated: it is sent in one message.
LONGEST_REPR = 4_000_000


class Home:
    """State of this kernel and of the cell that runs, or ran last."""

    def __init__(self, shell: Any, token: str) -> None:
        self.shell = shell
        self.kernel = shell.kernel
        self.token = token
        # Tokens of guest sessions, by the session ids in their requests.
        self.tokens: dict[str, str] = {}
        self.pid = os.getpid()
        self.log = os.fdopen(os.dup(2), "w", buffering=1)
        # The kernel's own standard output and error, which `sys.stdout` may not be.
        self.streams: list[Any] = []
        self.header: dict[str, Any] = {}
        self.in_cell = False
        self.room = ROOM
        self.dropped = [0, 0]
        self.reported = 0.0
        self.hidden: str | None = None
        # The cell's directory at its start, its number, the place of an interrupt, facts about a failure,
        # and the file for its stack before a kill.
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
        """Reset the state for a new cell."""
        self.header = self.kernel.get_parent()["header"]
        for stream in self.streams:
            # ipykernel sets only the current `sys.stdout`, which may be the user's own object.
            stream.parent_header = self.header
        self.room = ROOM
        self.hidden = self.stopped = self.failed = None
        self.in_cell = True

    def token_now(self) -> str:
        """Return the token for service calls of the running cell; "" if another client sent it."""
        header = self.kernel.get_parent()["header"]
        return self.tokens.get(header.get("session", "")) or (self.token if is_ours(header) else "")

    def flush(self) -> None:
        """Send all text, so that the next message comes after it."""
        for stream in self.streams:
            stream.flush_now()

    def report(self, **facts: Any) -> None:
        """Send a report about the cell to the adapter, unless another client sent the cell."""
        if not is_ours(self.header):
            return
        content = {"data": {REPORT: facts}, "metadata": {}, "transient": {}}
        self.kernel.session.send(self.kernel.iopub_socket, "display_data", content, parent=self.header)

    def drop(self, text: str) -> None:
        """Count output that is not sent; report the count at most once a second."""
        self.dropped[0] += len(text)
        self.dropped[1] += text.count("\n")
        if time.monotonic() - self.reported > 1.0:
            self.report_dropped()

    def report_dropped(self) -> None:
        """Report how much was dropped since the last report."""
        self.reported = time.monotonic()
        dropped, self.dropped = self.dropped, [0, 0]
        if dropped[0]:
            self.report(omitted=dropped)

    def fit(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return a MIME bundle, truncated to the cell's remaining output limit."""
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
        """Wrap `function` so that a failure is written to the log instead of raised."""

        @functools.wraps(function)
        def run(*args: Any) -> None:
            try:
                function(*args)
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001
                self.log.write(f"terp_home: {function.__qualname__}: {error!r}\n")

        return run


# The state of this kernel, once terp's package is installed.
homes: list[Home] = []


def call(service: str, **arguments: Any) -> Any:
    """Call a service of terp's own process and return its answer.

    Raises RuntimeError with terp's message if the service fails or does not exist, and in a cell that another
    client of this kernel has sent.
    """
    home = homes[0]
    token = home.token_now()
    if not token:
        raise RuntimeError("no session of terp has sent this cell, so none can answer it")
    with home.calling:
        prompt = f"terp:{token}:" + json.dumps({"service": service, "arguments": arguments})
        answer = json.loads(home.kernel.raw_input(prompt))
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["value"]


def report(**facts: Any) -> None:
    """Send a report about the running cell to the adapter; a forked process sends none."""
    if os.getpid() == homes[0].pid:
        homes[0].report(**facts)


def runs_cell() -> bool:
    """Return True in the code of a cell, which can call terp; completion of a line cannot."""
    return homes[0].in_cell and threading.current_thread() is threading.main_thread()


def is_ours(header: dict[str, Any]) -> bool:
    """Return True if a session of terp sent the request with this header."""
    return header.get("username") == TERP
