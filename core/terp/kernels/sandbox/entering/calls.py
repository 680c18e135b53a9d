"""System calls that Python does not wrap, dropped privileges and resource limits."""

import ctypes
import os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITIES_V3 = 0x20080522
_PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP, _PR_CAP_AMBIENT = 28, 38, 24, 47
_AMBIENT_CLEAR_ALL = 4
# NOROOT, NO_SETUID_FIXUP and the locks of both: root's identity gives no rights back.
_SECUREBITS = 0b1111
_LAST_CAPABILITY = 63


def libc() -> "Any":
    """Return the C library, with `errno` preserved."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: "Any") -> int:
    """Make a system call and return its result.

    Raises:
        OSError: it failed.
    """
    returned = int(libc().syscall(ctypes.c_long(number), *arguments))
    if returned < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return returned


def prctl(option: int, *arguments: int) -> None:
    """Change an attribute of this process (prctl(2)).

    Raises:
        OSError: it failed.
    """
    numbers = [ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]]
    if libc().prctl(ctypes.c_int(option), *numbers) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def become_unprivileged() -> None:
    """Drop all capabilities, and prevent gaining privileges by `execve`."""
    if _has_capabilities():
        for capability in range(_LAST_CAPABILITY + 1):
            try:
                prctl(_PR_CAPBSET_DROP, capability)
            except OSError:
                break  # this system has fewer of them
        prctl(_PR_SET_SECUREBITS, _SECUREBITS)
        prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
        header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
        syscall(_CAPSET[os.uname().machine], header, (ctypes.c_uint32 * 6)())
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def without_core_dumps() -> None:
    """Disable core dumps."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _has_capabilities() -> bool:
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123  (pathlib takes 5 ms to import)
        return any(line.startswith("CapPrm:") and int(line.split()[1], 16) for line in status)


_MB = 1 << 20


def limit(wanted: dict[str, int]) -> None:
    """Limit this process and its children to `memory_mb`, `processes` and `file_mb`; 0 is no limit."""
    for name, kind, unit in (
        ("memory_mb", resource.RLIMIT_AS, _MB),
        ("processes", resource.RLIMIT_NPROC, 1),
        ("file_mb", resource.RLIMIT_FSIZE, _MB),
    ):
        if value := wanted.get(name, 0):
            _, most = resource.getrlimit(kind)
            wished = value * unit
            least = wished if most == resource.RLIM_INFINITY else min(wished, most)
            resource.setrlimit(kind, (least, least))
