"""Seccomp filters: their instructions, those of linux/filter.h, and their installation."""

import ctypes
import errno
import os
import struct

from terp.kernels.sandbox.entering.system import syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LOAD, MASK, EQUAL, AT_LEAST, OVER, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x25, 0x45, 0x06
ALLOW, NOTIFY, KILL = 0x7FFF0000, 0x7FC00000, 0x80000000
_FAIL = 0x00050000
# Offsets of number, architecture and the lower half of an argument in seccomp_data.
NUMBER, _ARCHITECTURE, ARGUMENT, ARGUMENT_BYTES = 0, 4, 16, 8
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32 = 0x40000000
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_MODE_FILTER = 1

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def machine_here() -> str:
    """Return the name of this machine's architecture.

    Raises:
        OSError: no filter is written for it.
    """
    machine = os.uname().machine
    if machine not in AUDIT:
        raise OSError(errno.ENOSYS, f"no filter of system calls is written for {machine}")
    return machine


def install(instructions: "Iterable[Instruction]", flags: int = 0) -> int:
    """Install a filter in this process for good; return what seccomp(2) returns for these flags.

    Raises:
        OSError: the system refuses it.
    """
    packed = b"".join(struct.pack("HBBI", *one) for one in instructions)
    code = ctypes.create_string_buffer(packed)
    program = _Program(len(packed) // 8, ctypes.cast(code, ctypes.c_void_p))
    number = _SECCOMP[os.uname().machine]
    return syscall(number, ctypes.c_uint(_MODE_FILTER), ctypes.c_uint(flags), ctypes.byref(program))


def beginning(machine: str, x32: Instruction) -> "Iterator[Instruction]":
    """Kill callers of another architecture, and load the number; calls by numbers of x32 end with `x32`."""
    yield LOAD, 0, 0, _ARCHITECTURE
    yield EQUAL, 1, 0, AUDIT[machine]
    yield RETURN, 0, 0, KILL
    yield LOAD, 0, 0, NUMBER
    if machine == "x86_64":
        yield AT_LEAST, 0, 1, X32
        yield x32


def on_argument(number: int, which: int, *test: Instruction) -> "Iterator[Instruction]":
    """Test an argument of one system call, then load the number again."""
    yield EQUAL, 0, len(test) + 2, number
    yield LOAD, 0, 0, ARGUMENT + which * ARGUMENT_BYTES
    yield from test
    yield LOAD, 0, 0, NUMBER


def fail(code: int) -> Instruction:
    """Return the instruction with which a call fails with this errno."""
    return RETURN, 0, 0, _FAIL | code
