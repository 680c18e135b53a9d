"""The seccomp filter that reports what changes, sends or starts something to the holder.

The kernel suspends a call that the filter reports (`seccomp_unotify(2)`) until the holder has answered. All
other calls stay as fast as before: reading never leaves the filter. Each call belongs to one class of the
tables in `calls`.
"""

import ctypes
import errno
import os
from itertools import pairwise

from terp.kernels.sandbox.entering import calls
from terp.kernels.sandbox.entering.restrictions import AUDIT, SECCOMP, X32, pack, syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from terp.kernels.sandbox.entering.restrictions import Instruction

_ALWAYS_REPORTED = (
    calls.FILES, calls.ATTRIBUTES, calls.SOCKETS, calls.SIGNALS, calls.PROGRAMS, calls.PRIORITIES
)  # fmt: skip
REPORTED = {name: numbers for table in (*_ALWAYS_REPORTED, calls.SOME) for name, numbers in table.items()}

_LOAD, _MASK, _EQUAL, _AT_LEAST, _OVER, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x25, 0x45, 0x06
_ALLOW, _NOTIFY, _FAIL, _KILL = 0x7FFF0000, 0x7FC00000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENT, _ARGUMENT_BYTES = 0, 4, 16, 8
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
_MODE_FILTER = 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


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
    machine = os.uname().machine
    if machine not in AUDIT:
        raise OSError(errno.ENOSYS, f"no filter of system calls is written for {machine}")
    packed = pack(program_of(machine, private_memory=_has_private_memory()))
    code = ctypes.create_string_buffer(packed)
    program = _Program(len(packed) // 8, ctypes.cast(code, ctypes.c_void_p))
    flags = ctypes.c_uint(_NEW_LISTENER | _WAIT_KILLABLE)
    return syscall(SECCOMP[machine], ctypes.c_uint(_MODE_FILTER), flags, ctypes.byref(program))


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
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, AUDIT[machine]
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    if machine == "x86_64":
        yield _AT_LEAST, 0, 1, X32
        yield _fail(errno.ENOSYS)
    yield from _unknown(column)
    yield from _opening(some["open"], 1)
    yield from _opening(some["openat"], 2)
    always = (numbers for table in _ALWAYS_REPORTED for numbers in table.values())
    yield from _each(always, column, (_RETURN, 0, 0, _NOTIFY))
    yield from _each(calls.ABSENT.values(), column, _fail(errno.ENOSYS))
    yield from _each(calls.REFUSED.values(), column, _fail(errno.EPERM))
    if not private_memory:
        yield from _each(calls.SHARED.values(), column, _fail(errno.ENOSYS))
    yield from _sending(some["sendto"])
    for name in calls.OF_PROCESS:
        yield from _test(some[name], 0, (_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _NOTIFY))
    yield from _owning(some["fcntl"])
    yield from _requesting(some["ioctl"])
    yield from _test(some["clone"], 0, (_ANY_BIT, 0, 1, _NAMESPACES), _fail(errno.EPERM))
    yield from _pretending_to_hide(some["prctl"])
    yield _RETURN, 0, 0, _ALLOW


def _unknown(column: int) -> "Iterator[Instruction]":
    """Let calls of no table fail: those between known numbers, and those of a later system."""
    known = sorted({0, *(numbers[column] for table in calls.ALL for numbers in table.values())})
    for before, after in pairwise(known):
        if after > before + 1:
            # Of `before + 1` up to `after`, the upper end excluded.
            yield _AT_LEAST, 0, 2, before + 1
            yield _AT_LEAST, 1, 0, after
            yield _fail(errno.ENOSYS)
    yield _OVER, 0, 1, known[-1]
    yield _fail(errno.ENOSYS)


def _each(table: "Iterable[tuple[int, int]]", column: int, then: "Instruction") -> "Iterator[Instruction]":
    for numbers in table:
        if numbers[column]:
            yield _EQUAL, 0, 1, numbers[column]
            yield then


def _opening(number: int, flags: int) -> "Iterator[Instruction]":
    """Report opening for writing; a descriptor that only names a file (O_PATH) writes nothing."""
    if number:
        path, writing = (_ANY_BIT, 2, 0, _O_PATH), (_ANY_BIT, 0, 1, _WRITING)
        yield from _test(number, flags, path, writing, (_RETURN, 0, 0, _NOTIFY), (_RETURN, 0, 0, _ALLOW))


def _sending(number: int) -> "Iterator[Instruction]":
    """Report `sendto` with an address, which is a pointer of two halves, or with MSG_FASTOPEN."""
    address = _ARGUMENT + 4 * _ARGUMENT_BYTES
    yield _EQUAL, 0, 8, number
    yield _LOAD, 0, 0, _ARGUMENT + 3 * _ARGUMENT_BYTES
    yield _ANY_BIT, 4, 0, _FASTOPEN
    yield _LOAD, 0, 0, address
    yield _EQUAL, 0, 2, 0
    yield _LOAD, 0, 0, address + 4
    yield _EQUAL, 1, 0, 0
    yield _RETURN, 0, 0, _NOTIFY
    yield _RETURN, 0, 0, _ALLOW


def _owning(number: int) -> "Iterator[Instruction]":
    """Report a new owner of a file by its number; refuse one by a structure, and leases."""
    tests = (
        (_EQUAL, 0, 1, _F_SETOWN), (_RETURN, 0, 0, _NOTIFY),
        (_EQUAL, 0, 1, _F_SETOWN_EX), _fail(errno.EPERM),
        (_EQUAL, 0, 1, _F_SETLEASE), _fail(errno.EINVAL),
    )  # fmt: skip
    yield from _test(number, 1, *tests)


def _requesting(number: int) -> "Iterator[Instruction]":
    """Refuse requests that change a file without a descriptor for writing, or set an owner by a pointer."""
    tests: list[Instruction] = []
    for request in (_FIOSETOWN, _SIOCSPGRP):
        tests += (_EQUAL, 0, 1, request), _fail(errno.EPERM)
    for request in _READING_REQUESTS:
        tests += (_EQUAL, 0, 1, request), (_RETURN, 0, 0, _ALLOW)
    tests.append((_MASK, 0, 0, 0xFF00))
    for kind in _REQUEST_TYPES:
        # As a file system that does not know the request.
        tests += (_EQUAL, 0, 1, kind), _fail(errno.ENOTTY)
    yield from _test(number, 1, *tests)


def _pretending_to_hide(number: int) -> "Iterator[Instruction]":
    """Let PR_SET_DUMPABLE 0 succeed without effect: the holder must be able to read paths of its callers."""
    yield _EQUAL, 0, 6, number
    yield _LOAD, 0, 0, _ARGUMENT
    yield _EQUAL, 0, 3, _PR_SET_DUMPABLE
    yield _LOAD, 0, 0, _ARGUMENT + _ARGUMENT_BYTES
    yield _EQUAL, 0, 1, 0
    yield _fail(0)
    yield _LOAD, 0, 0, _NUMBER


def _test(number: int, which: int, *test: "Instruction") -> "Iterator[Instruction]":
    """Test an argument of one call, then load the number again."""
    yield _EQUAL, 0, len(test) + 2, number
    yield _LOAD, 0, 0, _ARGUMENT + which * _ARGUMENT_BYTES
    yield from test
    yield _LOAD, 0, 0, _NUMBER


def _fail(code: int) -> "Instruction":
    return _RETURN, 0, 0, _FAIL | code
