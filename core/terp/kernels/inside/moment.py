"""What there was in the person's namespace when a turn began."""

from __future__ import annotations

import os
import sys
import time
import weakref
from typing import Any

from .files import cwd
from .marks import WEAK

# Bytes of copies in a turn.
ROOM = 64_000_000
# Linux dates files by CLOCK_REALTIME_COARSE, some milliseconds behind the other one; `time` does not name it.
FILES_CLOCK = 5 if sys.platform == "linux" else time.CLOCK_REALTIME
# With so many names it is not noted which object each stands for.
MANY_NAMES = 5_000


class Held:
    """What a name stood for: the object, or what is known of one that is not held.

    It is held if it can be, else only as long as somebody else holds it, too.
    """

    def __init__(self, value: Any, why: str | None) -> None:
        self.id = id(value)
        self.value: Any = None
        self.weak: Any = None
        self.why = ""
        if why is None and not (is_text(value) and len(value) > ROOM):
            self.value = (value,)
            return
        self.why = why or "too large"
        if WEAK(type(value)):
            self.weak = weakref.ref(value)

    def now(self, bound: Any) -> tuple[Any, ...]:
        """The object in a tuple; () if it is gone. `bound` is what the name stands for now, in one, too."""
        if self.value:
            return tuple(self.value)
        if self.weak is not None:
            found = self.weak()
            return () if found is None else (found,)
        return bound if bound and id(bound[0]) == self.id else ()


class Moment:
    """What there was when a turn began. `number` grows with every turn.

    Of the `names`, those that code has mentioned since are `held`; what no code mentions it does not bind
    anew. `ids` are of the objects behind all of them, where these are not very many.
    """

    def __init__(self, number: int, names: Any) -> None:
        self.number = number
        self.began_ns = time.clock_gettime_ns(FILES_CLOCK)
        self.names = dict.fromkeys(names)
        self.ids = {name: id(value) for name, value in names.items()} if len(names) < MANY_NAMES else {}
        self.held: dict[str, Held] = {}
        # What is new behind a name once it was looked at has been made since, of what was seen.
        self.looked_at: dict[str, int] = {}
        self.seen: dict[int, Any] = {}
        self.states: list[tuple[Any, Any, Any]] = []
        self.doubts: dict[int, tuple[str, Any, Any]] = {}
        self.unforeseen: set[str] = set()
        self.size = 0
        self.cwd = cwd()
        self.environ = dict(os.environ)
        self.threads: set[str] = set()
        self.files: dict[str, Any] = {}


def is_text(value: Any) -> bool:
    """Whether a value is a text or bytes, of Python's own class."""
    return type(value) is str or type(value) is bytes
