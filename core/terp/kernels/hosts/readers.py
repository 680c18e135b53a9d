"""Which process waits for input from a terminal: the kernel knows in which system call it sleeps (Linux)."""

import os
import platform
import struct
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

# Numbers of system calls: read and readv, poll and ppoll, select and pselect6, epoll_wait and its kin.
_CALLS = {
    "x86_64": ((0, 19), (7, 271), (23, 270), (232, 281, 441)),
    "aarch64": ((63, 65), (73,), (72,), (22, 441)),
}
# An entry of poll: descriptor, what is awaited, what came of it.
_ENTRY = "ihh"
_MOST = 64


def can_tell() -> bool:
    """Whether this machine tells in which system call a process sleeps."""
    return platform.machine() in _CALLS and os.access("/proc/self/syscall", os.R_OK)


@dataclass(frozen=True, slots=True)
class Reader:
    """A process that waits for a line, and how often it has gone to sleep: each wait is another."""

    pid: int
    sleeps: int

    @property
    def name(self) -> str:
        """The name of its program; "" when it is gone."""
        try:
            return Path("/proc", str(self.pid), "comm").read_text().strip()
        except OSError:
            return ""


def reader_of(pids: Iterable[int], terminals: Collection[str], *, asked: bool, secret: bool) -> Reader | None:
    """The first of these processes that waits for a line from one of `terminals`, paths of devices.

    One that reads waits for sure. One that sleeps until any of several things happens counts if the
    terminal is among them and something was `asked`: servers look at their terminal all the time. One that
    may not be looked into, as `su`, counts if the terminal is told to keep what is typed `secret`.
    """
    for pid in pids:
        reader = _reader(pid, terminals, asked=asked) or (_foreign(pid) if secret else None)
        if reader is not None:
            return reader
    return None


def _reader(pid: int, terminals: Collection[str], *, asked: bool) -> Reader | None:
    process = Path("/proc", str(pid))
    try:
        for task in (process / "task").iterdir():
            sleeps = _sleeps(task)
            awaited = _awaited(task, asked=asked)
            # A process that was awake meanwhile may have other files than those that it waited for.
            if any(_is_one(process / "fd" / str(one), terminals) for one in awaited) and sleeps == _sleeps(
                task
            ):
                return Reader(pid, sleeps)
    except OSError:
        pass
    return None


def _foreign(pid: int) -> Reader | None:
    """A process of another user."""
    process = Path("/proc", str(pid))
    try:
        (process / "syscall").read_text()
    except PermissionError:
        return Reader(pid, _sleeps(process))
    except OSError:
        pass
    return None


def _sleeps(task: Path) -> int:
    lines = (task / "status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:")), 0)


def _is_one(link: Path, terminals: Collection[str]) -> bool:
    try:
        return str(link.readlink()) in terminals
    except OSError:
        return False


def _awaited(task: Path, *, asked: bool) -> Sequence[int]:
    """The descriptors from which a task waits to read."""
    try:
        words = (task / "syscall").read_text().split()
        number, arguments = int(words[0]), [int(word, 16) for word in words[1:7]]
        reads, polls, selects, epolls = _CALLS[platform.machine()]
        if number in reads:
            return arguments[:1]
        if not asked:
            return ()
        if number in polls:
            return _polled(task, arguments[0], arguments[1])
        if number in selects:
            return _selected(task, arguments[0], arguments[1])
        return _watched(task, arguments[0]) if number in epolls else ()
    except (OSError, ValueError, struct.error):
        # It runs ("running"), it is gone, or it is not ours to look at.
        return ()


def _polled(task: Path, address: int, count: int) -> Sequence[int]:
    data = _memory(task, address, min(count, _MOST) * struct.calcsize(_ENTRY))
    return [descriptor for descriptor, events, _ in struct.iter_unpack(_ENTRY, data) if events & 1]


def _selected(task: Path, highest: int, address: int) -> Sequence[int]:
    if not address:
        return ()
    bits = int.from_bytes(_memory(task, address, (min(highest, _MOST) + 7) // 8), sys.byteorder)
    return [descriptor for descriptor in range(min(highest, _MOST)) if bits >> descriptor & 1]


def _watched(task: Path, epoll: int) -> Sequence[int]:
    lines = (task.parent.parent / "fdinfo" / str(epoll)).read_text().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("tfd:")]


def _memory(task: Path, address: int, size: int) -> bytes:
    with (task / "mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(size)
