"""The seccomp filter that reports what changes, sends or starts something to the holder.

The kernel suspends a call that the filter reports (`seccomp_unotify(2)`) until the holder has answered. All
other calls stay as fast as before: reading never leaves the filter. Each call belongs to one class of the
tables in `calls`.
"""

import errno
import os
from itertools import pairwise

from terp.kernels.sandbox.entering import calls
from terp.kernels.sandbox.entering.bpf import (
    ALLOW,
    ANY_BIT,
    ARGUMENT,
    ARGUMENT_BYTES,
    AT_LEAST,
    AUDIT,
    EQUAL,
    LOAD,
    MASK,
    NOTIFY,
    NUMBER,
    OVER,
    RETURN,
    Instruction,
    beginning,
    fail,
    install,
    machine_here,
    on_argument,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ALWAYS_REPORTED = (
    calls.FILES, calls.ATTRIBUTES, calls.SOCKETS, calls.SIGNALS, calls.PROGRAMS, calls.PRIORITIES
)  # fmt: skip
REPORTED = {name: numbers for table in (*_ALWAYS_REPORTED, calls.SOME) for name, numbers in table.items()}

# O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, and O_TMPFILE without O_DIRECTORY, which reading has too.
_WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o20000000
_O_PATH = 0o10000000
_FASTOPEN = 0x20000000
# All flags of clone(2) that make a namespace.
_NAMESPACES = 0x7E020080
_PR_SET_DUMPABLE = 4
# With an owner, a file sends any signal to any process of the user.
_F_SETOWN, _F_SETOWN_EX, _FIOSETOWN, _SIOCSPGRP = 8, 15, 0x8901, 0x8902
# Opening a file with a lease waits for its owner, and so would the holder.
_F_SETLEASE = 1024
# File systems change flags, versions, keys, labels or whole volumes on descriptors that are open for reading:
# all their requests ('f', 'v', 'X', FAT, btrfs, bcachefs, f2fs) are refused, except those that read and the
# copies, which need a descriptor for writing.
_REQUEST_TYPES = (0x6600, 0x7600, 0x5800, 0x7200, 0x9400, 0xBC00, 0xF500)
_READING_REQUESTS = (
    0x80086601, 0x80087601, 0x801C581F, 0xC020660B, 0xC0046686, 0x81009431, 0x80047210,
    0x40049409, 0x4020940D, 0xC0189436, 0x8400941F, 0xD0009412,
)  # fmt: skip

_NEW_LISTENER, _WAIT_KILLABLE = 8, 32


def names_of(machine: str) -> dict[int, str]:
    """Return the names of the reported calls by their numbers on `machine`."""
    column = list(AUDIT).index(machine)
    return {numbers[column]: name for name, numbers in REPORTED.items() if numbers[column]}


def report_calls() -> int:
    """Install the filter in this process; return the listener, a descriptor that is closed on exec.

    Without WAIT_KILLABLE_RECV (Linux 5.19) a signal would make a call that waits happen twice.

    Raises:
        OSError: the system has no such filter; EBUSY: another process reads this one's calls already.
    """
    program = program_of(machine_here(), private_memory=_has_private_memory())
    return install(program, _NEW_LISTENER | _WAIT_KILLABLE)


def _has_private_memory() -> bool:
    """Return True if no process outside the sandbox shares System V memory and queues with this one."""
    try:
        # Of the machine's first process this link cannot be read; with namespaces the first one is theirs.
        first, own = (os.readlink(f"/proc/{one}/ns/ipc") for one in (1, "self"))  # noqa: PTH115  (pathlib takes 5 ms)
        return first == own
    except OSError:
        return False


def program_of(machine: str, *, private_memory: bool) -> "Iterator[Instruction]":
    """Yield the filter's instructions; without `private_memory` calls of `calls.SHARED` fail."""
    column = list(AUDIT).index(machine)
    some = {name: numbers[column] for name, numbers in calls.SOME.items()}
    yield from beginning(machine, fail(errno.ENOSYS))
    yield from _unknown(column)
    yield from _opening(some["open"], 1)
    yield from _opening(some["openat"], 2)
    always = (numbers for table in _ALWAYS_REPORTED for numbers in table.values())
    yield from _each(always, column, (RETURN, 0, 0, NOTIFY))
    yield from _each(calls.ABSENT.values(), column, fail(errno.ENOSYS))
    yield from _each(calls.REFUSED.values(), column, fail(errno.EPERM))
    if not private_memory:
        yield from _each(calls.SHARED.values(), column, fail(errno.ENOSYS))
    yield from _sending(some["sendto"])
    for name in calls.OF_PROCESS:
        yield from on_argument(some[name], 0, (EQUAL, 1, 0, 0), (RETURN, 0, 0, NOTIFY))
    yield from _owning(some["fcntl"])
    yield from _requesting(some["ioctl"])
    yield from on_argument(some["clone"], 0, (ANY_BIT, 0, 1, _NAMESPACES), fail(errno.EPERM))
    yield from _pretending_to_hide(some["prctl"])
    yield RETURN, 0, 0, ALLOW


def _unknown(column: int) -> "Iterator[Instruction]":
    """Let calls of no table fail: those between known numbers, and those of a later system."""
    known = sorted({0, *(numbers[column] for table in calls.ALL for numbers in table.values())})
    for before, after in pairwise(known):
        if after > before + 1:
            # Of `before + 1` up to `after`, the upper end excluded.
            yield AT_LEAST, 0, 2, before + 1
            yield AT_LEAST, 1, 0, after
            yield fail(errno.ENOSYS)
    yield OVER, 0, 1, known[-1]
    yield fail(errno.ENOSYS)


def _each(table: "Iterable[tuple[int, int]]", column: int, then: "Instruction") -> "Iterator[Instruction]":
    for numbers in table:
        if numbers[column]:
            yield EQUAL, 0, 1, numbers[column]
            yield then


def _opening(number: int, flags: int) -> "Iterator[Instruction]":
    """Report opening for writing; a descriptor that only names a file (O_PATH) writes nothing."""
    if number:
        path, writing = (ANY_BIT, 2, 0, _O_PATH), (ANY_BIT, 0, 1, _WRITING)
        yield from on_argument(number, flags, path, writing, (RETURN, 0, 0, NOTIFY), (RETURN, 0, 0, ALLOW))


def _sending(number: int) -> "Iterator[Instruction]":
    """Report `sendto` with an address, which is a pointer of two halves, or with MSG_FASTOPEN."""
    address = ARGUMENT + 4 * ARGUMENT_BYTES
    yield EQUAL, 0, 8, number
    yield LOAD, 0, 0, ARGUMENT + 3 * ARGUMENT_BYTES
    yield ANY_BIT, 4, 0, _FASTOPEN
    yield LOAD, 0, 0, address
    yield EQUAL, 0, 2, 0
    yield LOAD, 0, 0, address + 4
    yield EQUAL, 1, 0, 0
    yield RETURN, 0, 0, NOTIFY
    yield RETURN, 0, 0, ALLOW


def _owning(number: int) -> "Iterator[Instruction]":
    """Report a new owner of a file by its number; refuse one by a structure, and leases."""
    tests = (
        (EQUAL, 0, 1, _F_SETOWN), (RETURN, 0, 0, NOTIFY),
        (EQUAL, 0, 1, _F_SETOWN_EX), fail(errno.EPERM),
        (EQUAL, 0, 1, _F_SETLEASE), fail(errno.EINVAL),
    )  # fmt: skip
    yield from on_argument(number, 1, *tests)


def _requesting(number: int) -> "Iterator[Instruction]":
    """Refuse requests that change a file without a descriptor for writing, or set an owner by a pointer."""
    tests: list[Instruction] = []
    for request in (_FIOSETOWN, _SIOCSPGRP):
        tests += (EQUAL, 0, 1, request), fail(errno.EPERM)
    for request in _READING_REQUESTS:
        tests += (EQUAL, 0, 1, request), (RETURN, 0, 0, ALLOW)
    tests.append((MASK, 0, 0, 0xFF00))
    for kind in _REQUEST_TYPES:
        # As a file system that does not know the request.
        tests += (EQUAL, 0, 1, kind), fail(errno.ENOTTY)
    yield from on_argument(number, 1, *tests)


def _pretending_to_hide(number: int) -> "Iterator[Instruction]":
    """Let PR_SET_DUMPABLE 0 succeed without effect: the holder must be able to read paths of its callers."""
    yield EQUAL, 0, 6, number
    yield LOAD, 0, 0, ARGUMENT
    yield EQUAL, 0, 3, _PR_SET_DUMPABLE
    yield LOAD, 0, 0, ARGUMENT + ARGUMENT_BYTES
    yield EQUAL, 0, 1, 0
    yield fail(0)
    yield LOAD, 0, 0, NUMBER
