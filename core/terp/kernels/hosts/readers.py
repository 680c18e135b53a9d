"""Which process waits for input from a terminal: the kernel knows in which system call it sleeps (Linux)."""

import os
import platform
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# Numbers of system calls: read and readv, poll and ppoll, select and pselect6, epoll_wait and its kin.
_CALLS = {
    "x86_64": ((0, 19), (7, 271), (23, 270), (232, 281, 441)),
    "aarch64": ((63, 65), (73,), (72,), (22, 441)),
}
# An entry of poll: descriptor, what is awaited, what came of it.
_ENTRY = "ihh"
_MOST_ENTRIES = 64


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


def reader_of(pids: Iterable[int], terminal: str, *, asked: bool) -> Reader | None:
    """The first of these processes that waits for a line from `terminal`.

    One that reads waits for sure. One that sleeps until any of several things happens counts if the
    terminal is among them and something was `asked`: servers look at their terminal all the time.
    """
    return next((reader for pid in pids if (reader := _reader(pid, terminal, asked=asked))), None)


def _reader(pid: int, terminal: str, *, asked: bool) -> Reader | None:
    try:
        links = list(Path("/proc", str(pid), "fd").iterdir())
        on_terminal = {int(link.name) for link in links if _is(link, terminal)}
        tasks = list(Path("/proc", str(pid), "task").iterdir()) if on_terminal else []
        task = next((task for task in tasks if _sleeps_for(task, on_terminal, asked=asked)), None)
        return Reader(pid, _sleeps(task)) if task is not None else None
    except OSError:
        return None


def _sleeps(task: Path) -> int:
    lines = (task / "status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:")), 0)


def _is(link: Path, terminal: str) -> bool:
    try:
        # Passwords are read from there, where it is the controlling terminal of the process.
        return str(link.readlink()) in (terminal, "/dev/tty")
    except OSError:
        return False


def _sleeps_for(task: Path, on_terminal: set[int], *, asked: bool) -> bool:
    try:
        words = (task / "syscall").read_text().split()
        number, arguments = int(words[0]), [int(word, 16) for word in words[1:7]]
        reads, polls, selects, epolls = _CALLS[platform.machine()]
        if number in reads:
            return arguments[0] in on_terminal
        if not asked:
            return False
        if number in polls:
            return bool(on_terminal & set(_polled(task, arguments[0], arguments[1])))
        if number in selects:
            return any(_is_selected(task, arguments[0], arguments[1], one) for one in on_terminal)
        return number in epolls and bool(on_terminal & set(_watched(task, arguments[0])))
    except (OSError, ValueError, struct.error):
        # It runs ("running"), it is gone, or it is not ours to look at.
        return False


def _polled(task: Path, address: int, count: int) -> list[int]:
    data = _memory(task, address, min(count, _MOST_ENTRIES) * struct.calcsize(_ENTRY))
    return [descriptor for descriptor, events, _ in struct.iter_unpack(_ENTRY, data) if events & 1]


def _is_selected(task: Path, highest: int, address: int, descriptor: int) -> bool:
    if not address or descriptor >= highest:
        return False
    return bool(_memory(task, address + descriptor // 8, 1)[0] >> descriptor % 8 & 1)


def _watched(task: Path, epoll: int) -> list[int]:
    lines = (task.parent.parent / "fdinfo" / str(epoll)).read_text().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("tfd:")]


def _memory(task: Path, address: int, size: int) -> bytes:
    with (task / "mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(size)
