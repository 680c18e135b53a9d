"""This process as the one to which whatever loses its parents comes: nothing that is left can hide."""

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest
from psutil import STATUS_ZOMBIE, NoSuchProcess, Process

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)


@dataclass(frozen=True)
class Adopted:
    """The processes below this one, but for those that were there before."""

    before: frozenset[int] = field(default_factory=lambda: frozenset(one.pid for one in _below()))

    def alive(self) -> list[str]:
        """What runs now, as command lines."""
        return [" ".join(_words(one)) for one in _below() if one.pid not in self.before and _lives(one)]

    def gone_after(self, patience_s: float) -> tuple[float, list[str]]:
        """The seconds until nothing was left, or the patience and what was left then."""
        began = time.monotonic()
        while left := self.alive():
            if time.monotonic() - began > patience_s:
                return patience_s, left
            # Nothing tells of the end of a process of somebody else.
            os.sched_yield()
        return time.monotonic() - began, []

    def bury(self) -> None:
        """Take note of the end of those that came here, and end what still runs."""
        for one in _below():
            if one.pid not in self.before:
                with suppress(NoSuchProcess):
                    one.kill()
                with suppress(ChildProcessError):
                    os.waitpid(one.pid, 0)


@contextmanager
def adopting() -> Iterator[Adopted]:
    prctl = ctypes.CDLL(None).prctl
    assert prctl(_ADOPT_ORPHANS, 1, 0, 0, 0) == 0
    adopted = Adopted()
    try:
        yield adopted
    finally:
        adopted.bury()
        prctl(_ADOPT_ORPHANS, 0, 0, 0, 0)


def _below() -> list[Process]:
    return Process().children(recursive=True)


def _lives(process: Process) -> bool:
    try:
        return process.status() != STATUS_ZOMBIE
    except NoSuchProcess:
        return False


def _words(process: Process) -> list[str]:
    try:
        return process.cmdline()
    except NoSuchProcess:
        return []
