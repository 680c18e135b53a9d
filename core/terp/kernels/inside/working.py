"""Which tool works just now: told once a call takes a moment, so that who watches knows what goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# A call is told when it was there at two looks.
LOOK_S = 0.25


class Working:
    """Tells `report` of a tool that takes its time, and when it is done. No call has a thread of its own."""

    def __init__(self, report: Callable[..., None]) -> None:
        self.report = report
        self.calls: dict[object, str] = {}
        self.told: object = None
        self.telling = threading.Lock()
        self.awake = threading.Event()
        self.watching: Any = None

    @contextmanager
    def on(self, name: str) -> Iterator[None]:
        """While the block lasts the tool `name` works."""
        call = object()
        self.calls[call] = name
        self.awake.set()
        if self.watching is None:
            self.watching = threading.Thread(target=self.watch, name="terp tools", daemon=True)
            self.watching.start()
        try:
            yield
        finally:
            del self.calls[call]
            with self.telling:
                if self.told is call:
                    self.told = None
                    self.report(tool=name, over=True)

    def watch(self) -> None:
        """Look at the calls, as long as there are any."""
        seen: list[object] = []
        while True:
            self.awake.clear()
            if not self.calls:
                self.awake.wait()
            time.sleep(LOOK_S)
            with self.telling:
                lasting = [call for call in list(self.calls) if call in seen]
                if lasting and self.told is None:
                    self.told = lasting[-1]
                    self.report(tool=self.calls.get(self.told, ""), over=False)
            seen = list(self.calls)
