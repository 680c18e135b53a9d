"""System calls by which a process restricts itself: privileges, limits, Landlock, and a seccomp filter.

Landlock's constants are those of linux/landlock.h; its call numbers are the same on all architectures. The
filter refuses system calls that neither Landlock nor namespaces restrict. A refused
call fails with an error, it does not kill the process.
"""

import ctypes
import errno
import os
import resource
import struct

from terp.kernels.sandbox.entering.bpf import (
    ALLOW,
    ANY_BIT,
    ARGUMENT,
    ARGUMENT_BYTES,
    AUDIT,
    EQUAL,
    LOAD,
    MASK,
    NUMBER,
    RETURN,
    Instruction,
    beginning,
    fail,
    install,
    machine_here,
    on_argument,
)
from terp.kernels.sandbox.entering.system import libc, syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypedDict

    class LandlockRules(TypedDict):
        """Folders that can be read, written and listed.

        With `files` "all" they decide on each access to a file; with "pipes" only those to write in decide,
        and only on opening a file for writing; with "" only the scopes apply.
        """

        files: str
        read: list[str]
        write: list[str]
        listed: list[str]
        devices: list[str]
        network: bool


_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITIES_V3 = 0x20080522
_PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP, _PR_CAP_AMBIENT = 28, 38, 24, 47
_AMBIENT_CLEAR_ALL = 4
# NOROOT, NO_SETUID_FIXUP and the locks of both: root's identity gives no rights back.
_SECUREBITS = 0b1111
_LAST_CAPABILITY = 63


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


_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = EXECUTE | READ_FILE | READ_DIR
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
_BIND_TCP, _CONNECT_TCP = 1, 2
# Abstract Unix sockets and signals of processes outside this sandbox.
_SCOPES = 3


def version() -> int:
    """Return the version of Landlock's ABI; 0 if the system has none."""
    try:
        return syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def restrict(rules: "LandlockRules") -> None:
    """Apply the rules to this process and its children, except those that the ABI does not support.

    Raises:
        OSError: a system call failed.
    """
    known = version()
    files = _file_rights(known, rules["files"])
    everything = rules["files"] == "all"
    # The scopes were added with version 6, the ports with 4.
    net = _BIND_TCP | _CONNECT_TCP if known >= 4 and everything and not rules["network"] else 0
    scopes = _SCOPES if known >= 6 else 0
    if not (files or scopes):
        return
    size = 8 if known < 4 else 16 if known < 6 else 24
    attributes = struct.pack("QQQ", files, net, scopes)[:size]
    ruleset = syscall(_CREATE, ctypes.c_char_p(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if everything:
        _allow(ruleset, rules["read"], _READ & files)
        _allow(ruleset, rules["listed"], READ_DIR & files)
        _allow(ruleset, rules["devices"], files & _OF_FILES | READ_DIR)
    elif files:
        # Without this right no file can be moved from one folder to another.
        _allow(ruleset, ["/"], _REFER)
    if files:
        _allow(ruleset, rules["write"], files & ~_IOCTL_DEV)
    syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def _file_rights(known: int, which: str) -> int:
    if which != "all":
        # Before version 2 a ruleset without REFER lets no file be moved between folders.
        return WRITE_FILE | _REFER if which == "pipes" and known >= 2 else 0
    rights = (1 << 13) - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        rights |= right if known >= since else 0
    return rights


def _allow(ruleset: int, paths: "Iterable[str]", rights: int) -> None:
    for path in paths:
        try:
            there = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # deleted meanwhile, or not accessible
        kept = rights if os.path.isdir(path) else rights & _OF_FILES  # noqa: PTH112
        beneath = ctypes.c_char_p(struct.pack("=Qi", kept, there))
        try:
            if kept:
                syscall(_ADD, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), beneath, ctypes.c_uint32(0))
        finally:
            os.close(there)


_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
# Unix sockets, and netlink, which lists the interfaces: without it ZeroMQ aborts.
_INSIDE = (_AF_UNIX, _AF_NETLINK)
# A network namespace does not restrict other families, as vsock between a virtual machine and its host.
_NAMESPACED = (*_INSIDE, _AF_INET, _AF_INET6)
_NEW_USER_NAMESPACE = 0x10000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

# By name for both architectures: (x86_64, aarch64).
_REFUSED = {
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "bpf": (321, 280),
    "userfaultfd": (323, 282), "perf_event_open": (298, 241), "open_by_handle_at": (304, 265),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "mount_setattr": (442, 442), "setns": (308, 268), "unshare": (272, 97), "kexec_load": (246, 104),
    "init_module": (175, 105), "finit_module": (313, 273), "reboot": (169, 142),
}  # fmt: skip
_CLONE, _CLONE3, _IOCTL = (56, 220), (435, 435), (16, 29)
_SOCKET, _CONNECT, _SOCKETPAIR = (41, 198), (42, 203), (53, 199)
# Calls that set permissions, with the number of the argument that has these; None: not on this architecture.
_SET_MODE = {
    "chmod": ((90, None), 1), "fchmod": ((91, 52), 1), "fchmodat": ((268, 53), 2),
    "fchmodat2": ((452, 452), 2), "creat": ((85, None), 1), "mknod": ((133, None), 1),
    "mknodat": ((259, 33), 2),
}  # fmt: skip
# Their permissions count only with these flags, in the argument before; otherwise they are arbitrary.
_OPEN = {"open": ((2, None), 2), "openat": ((257, 56), 3)}
_CREATES = 0o100 | 0o20000000  # O_CREAT, and O_TMPFILE without O_DIRECTORY
_OPENAT2 = (437, 437)
_SET_UID, _SET_GID = 0o4000, 0o2000
# System V and POSIX IPC: named by numbers, or not subject to Landlock, and shared by all programs of a user.
_SHARED = {
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189),
    "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181),
}  # fmt: skip
# Calls on a process that their first argument names: a limit of processor time ends it.
_ON_PROCESSES = {"prlimit64": (302, 261), "sched_setparam": (142, 118), "sched_setattr": (314, 274)}
_SET_SCHEDULER, _SCHED_OTHER = (144, 119), 0
# Those that the second argument names, and the first argument with which it names a user.
_ON_GROUPS = {"setpriority": ((141, 140), 2), "ioprio_set": ((251, 30), 3)}
# Mask that matches SOCK_DGRAM and SOCK_RAW: on AF_UNIX the kernel treats RAW as DGRAM.
_TYPE_BITS, _DATAGRAM = 0b1110, 0b0010


def filter_calls(*, network: bool, namespaces: bool, holder: bool = False) -> None:
    """Install the filter in this process; without `network` it also refuses sockets other than Unix ones.

    Without `namespaces` of its own it also refuses to change limits and priorities of other processes, and
    shared memory, semaphores and messages by number. A `holder` of effects keeps `openat2` for itself, and
    decides itself about other processes.

    Raises:
        OSError: installing failed, or the filter does not support this architecture.
    """
    machine = machine_here()
    install(_program(machine, network=network, namespaces=namespaces, holder=holder))


def _program(machine: str, *, network: bool, namespaces: bool, holder: bool) -> "Iterator[Instruction]":
    column = list(AUDIT).index(machine)
    yield from beginning(machine, fail(errno.EPERM))
    for numbers in _REFUSED.values():
        yield EQUAL, 0, 1, numbers[column]
        yield fail(errno.EPERM)
    # Their flags are in memory, which a filter cannot read; callers fall back on `clone` and `openat`.
    for numbers in (_CLONE3,) if holder else (_CLONE3, _OPENAT2):
        yield EQUAL, 0, 1, numbers[column]
        yield fail(errno.ENOSYS)
    if not network:
        # Connecting to a Unix socket is not subject to Landlock's rules for files.
        yield EQUAL, 0, 1, _CONNECT[column]
        yield fail(errno.EACCES)
        # Datagrams reach any address without `connect`.
        for numbers in (_SOCKET, _SOCKETPAIR):
            yield from _datagrams_between_files(numbers[column])
    yield from on_argument(_SOCKET[column], 0, *_sockets(_NAMESPACED if network else _INSIDE))
    yield from on_argument(_CLONE[column], 0, (ANY_BIT, 0, 1, _NEW_USER_NAMESPACE), fail(errno.EPERM))
    for request in (_TIOCSTI, _TIOCLINUX):
        yield from on_argument(_IOCTL[column], 1, (EQUAL, 0, 1, request), fail(errno.EPERM))
    yield from _no_rights_by_files(column)
    if not namespaces:
        for numbers in _SHARED.values():
            yield EQUAL, 0, 1, numbers[column]
            yield fail(errno.EPERM)
        if not holder:
            yield from _only_this_process(column)
    yield RETURN, 0, 0, ALLOW


def _no_rights_by_files(column: int) -> "Iterator[Instruction]":
    """Refuse to make a program that others run with the rights of its owner; as root also of its group.

    For other users folders keep this bit, which copies of folders with a shared group have.
    """
    bits = _SET_UID if os.geteuid() else _SET_UID | _SET_GID
    refuse = ((ANY_BIT, 0, 1, bits), fail(errno.EPERM))
    for numbers, which in _SET_MODE.values():
        if (number := numbers[column]) is not None:
            yield from on_argument(number, which, *refuse)
    for numbers, which in _OPEN.values():
        if (number := numbers[column]) is not None:
            mode = (LOAD, 0, 0, ARGUMENT + which * ARGUMENT_BYTES)
            yield from on_argument(number, which - 1, (ANY_BIT, 0, 3, _CREATES), mode, *refuse)


def _only_this_process(column: int) -> "Iterator[Instruction]":
    """Refuse calls that change other processes, except `sched_setaffinity`.

    A process can name itself as 0; this one, which becomes the kernel, also by its number. OpenMP sets the
    processors of its threads (`OMP_PROC_BIND`), whose numbers a filter cannot tell from those of processes.
    """
    own = ((EQUAL, 2, 0, 0), (EQUAL, 1, 0, os.getpid()), fail(errno.EPERM))
    for numbers in _ON_PROCESSES.values():
        yield from on_argument(numbers[column], 0, *own)
    # ZeroMQ gives its threads, by their numbers, the ordinary policy, and aborts if it cannot.
    ordinary = ((EQUAL, 1 + len(own), 0, _SCHED_OTHER), (LOAD, 0, 0, ARGUMENT))
    yield from on_argument(_SET_SCHEDULER[column], 1, *ordinary, *own)
    for numbers, user in _ON_GROUPS.values():
        yield from on_argument(numbers[column], 0, (EQUAL, 0, 1, user), fail(errno.EPERM))
        yield from on_argument(numbers[column], 1, *own)


def _datagrams_between_files(number: int) -> "Iterator[Instruction]":
    """Refuse Unix datagram sockets in one system call that creates sockets."""
    yield EQUAL, 0, 7, number
    yield LOAD, 0, 0, ARGUMENT
    yield EQUAL, 0, 4, _AF_UNIX
    yield LOAD, 0, 0, ARGUMENT + ARGUMENT_BYTES
    yield MASK, 0, 0, _TYPE_BITS
    yield EQUAL, 0, 1, _DATAGRAM
    yield fail(errno.EACCES)
    yield LOAD, 0, 0, NUMBER


def _sockets(families: "tuple[int, ...]") -> "Iterator[Instruction]":
    """Refuse sockets of families other than these."""
    for at, family in enumerate(families):
        yield EQUAL, len(families) - at, 0, family
    yield fail(errno.ENETUNREACH)
