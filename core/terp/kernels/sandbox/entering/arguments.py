"""The arguments of each reported system call, read once, and what performs it."""

import errno
import os
import struct

from terp.kernels.sandbox.entering import acting, calls, sending
from terp.kernels.sandbox.entering.acting import CWD
from terp.kernels.sandbox.entering.notifications import SystemCall
from terp.kernels.sandbox.entering.reached import Reached, descriptor_of, file_of, open_file_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from terp.kernels.sandbox.entering.acting import Act

_PRIO_USER, _IOPRIO_WHO_USER = 2, 3
_NOFOLLOW, _EMPTY_PATH = 0x100, 0x1000


def act_of(call: SystemCall) -> "Act | None":
    """Return what performs a call: a generator, or None for the kernel.

    Raises:
        OSError: the call fails.
    """
    return _ACTS.get(call.name, _unknown)(call)


def _unknown(call: SystemCall) -> None:
    raise OSError(errno.ENOSYS, call.name)


def _open(call: SystemCall) -> "Act":
    flags = acting.checked_flags(call.arguments[1])
    return acting.opened(call, CWD, call.path(0), flags, call.arguments[2])


def _openat(call: SystemCall) -> "Act":
    flags = acting.checked_flags(call.arguments[2])
    return acting.opened(call, call.signed(0), call.path(1), flags, call.arguments[3])


def _creat(call: SystemCall) -> "Act":
    return acting.opened(call, CWD, call.path(0), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, call.arguments[1])


def _at(call: SystemCall, directory: int, path: int) -> tuple[int, bytes]:
    return call.signed(directory), call.path(path)


def _mknod(call: SystemCall, directory: int, path: bytes, at: int) -> "Act":
    kind, device = (call.arguments[one] & 0xFFFFFFFF for one in (at, at + 1))
    return acting.made_node(call, directory, path, kind, device)


def _truncate(call: SystemCall) -> "Act":
    length = call.arguments[1]
    if length >> 63:
        raise OSError(errno.EINVAL, "negative length")
    return acting.changed(_file(call, CWD, 0), acting.of_length(length))


def _file(call: SystemCall, directory: int, path: int, flags: int = 0) -> Reached:
    """Return the file that two arguments name, by `AT_…` flags.

    Raises:
        OSError: EINVAL for other flags, ENOENT and others if there is no such file.
    """
    if flags & ~(_NOFOLLOW | _EMPTY_PATH):
        raise OSError(errno.EINVAL, "unknown flags")
    name = call.path(path)
    if not name and flags & _EMPTY_PATH:
        return descriptor_of(call, directory)
    return file_of(call, directory, name, follow=not flags & _NOFOLLOW)


def _chown(call: SystemCall, file: Reached, at: int) -> "Act":
    return acting.changed(file, acting.of_owner(call.signed(at), call.signed(at + 1)))


def _utime(call: SystemCall) -> "Act":
    times = None
    if call.arguments[1]:
        access, modified = struct.unpack("=qq", call.memory(call.arguments[1], 16))
        times = acting.named_times(((access, 0), (modified, 0)), 1)
    return acting.changed(_file(call, CWD, 0), acting.of_times(times))


def _utimes(call: SystemCall, directory: int, path: int) -> "Act":
    times = None
    if call.arguments[path + 1]:
        a, b, c, d = struct.unpack("=qqqq", call.memory(call.arguments[path + 1], 32))
        times = acting.named_times(((a, b), (c, d)), 1000)
    file = _file(call, directory, path) if call.arguments[path] else open_file_of(call, directory)
    return acting.changed(file, acting.of_times(times))


def _utimensat(call: SystemCall) -> "Act":
    times = call.memory(call.arguments[2], 32) if call.arguments[2] else None
    directory = call.signed(0)
    by_path = bool(call.arguments[1])
    file = _file(call, directory, 1, call.signed(3)) if by_path else open_file_of(call, directory)
    return acting.changed(file, acting.of_times(times))


def _setxattr(call: SystemCall, file: "Callable[[], Reached]") -> "Act":
    name, size = _attribute(call), call.arguments[3]
    if size > 65536:
        raise OSError(errno.E2BIG, "attribute too long")
    value = call.memory(call.arguments[2], size)
    return acting.changed(file(), acting.of_attribute(name, value, call.signed(4)))


def _removexattr(call: SystemCall, file: "Callable[[], Reached]") -> "Act":
    name = _attribute(call)
    return acting.changed(file(), acting.of_attribute(name, None, 0))


def _attribute(call: SystemCall) -> bytes:
    name = call.path(1)
    if not 0 < len(name) < 256:
        raise OSError(errno.ERANGE, "no name of an attribute")
    return name


def _address(call: SystemCall, at: int) -> bytes:
    return call.memory(call.arguments[at], min(call.arguments[at + 1] & 0xFFFFFFFF, 128))


def _sendto(call: SystemCall) -> "Act":
    size = min(call.arguments[2], 1 << 20)
    data = call.memory(call.arguments[1], size)
    address = _address(call, 4) if call.arguments[4] else b""
    return sending.sent(call, call.signed(0), sending.Message(call, address, data), call.signed(3))


def _sendmsg(call: SystemCall) -> "Act":
    return sending.sent(call, call.signed(0), sending.message_at(call, call.arguments[1]), call.signed(2))


def _to_own_process(call: SystemCall, at: int, number: int = -1) -> None:
    """Let the kernel perform a call about a process below this one, or a group of them.

    `number` is the place of a signal among the arguments: 0 sends none, it asks whether the process is there.

    Raises:
        OSError: EPERM for any other process, ESRCH if there is none.
    """
    target = call.signed(at)
    asks = number >= 0 and call.signed(number) == 0
    if target == 0 or asks:
        return
    if not (_is_below(target) if target > 0 else _is_group_below(-target)):
        raise OSError(errno.EPERM, "another process")


def _set_owner(call: SystemCall) -> None:
    """Let a file send its signals to a process below this one.

    Raises:
        OSError: EPERM for any other.
    """
    _to_own_process(call, 2)


def _to_processes(call: SystemCall, of_user: int) -> None:
    """Let priorities of a process or a group be set; `of_user` is the kind that means all of a user's."""
    if call.signed(0) == of_user:
        raise OSError(errno.EPERM, "other processes")
    _to_own_process(call, 1)


def _is_below(pid: int) -> bool:
    """Return True for a process below this one.

    Raises:
        OSError: ESRCH: there is no such process.
    """
    holder = os.getpid()
    first = pid
    while pid > 1 and pid != holder:
        try:
            pid = int(_stat(pid)[1])
        except OSError:
            if pid == first:
                raise OSError(errno.ESRCH, "no such process") from None
            return False
        if pid == holder:
            return True
    return False


def _is_group_below(group: int) -> bool:
    """Return True if all processes of a group are below this one; 1 is no group, but all processes.

    Raises:
        OSError: ESRCH: there is no such group.
    """
    if group == 1:
        return False
    members = []
    for name in os.listdir("/proc"):  # noqa: PTH208  (pathlib takes 5 ms to import)
        try:
            if name.isdecimal() and int(_stat(int(name))[2]) == group:
                members.append(int(name))
        except OSError:
            continue
    if not members:
        raise OSError(errno.ESRCH, "no such group")
    return all(map(_is_below, members))


def _stat(pid: int) -> list[bytes]:
    """Return the fields of a process after its name: state, parent, group and more."""
    with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  (pathlib takes 5 ms to import)
        return file.read().rpartition(b")")[2].split()


def _execve(call: SystemCall, directory: int, at: int, flags: int = 0) -> "Act":
    name = call.path(at).rpartition(b"/")[2]
    try:
        return acting.started(name, _file(call, directory, at, flags))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            # Shells and `execvp` try each folder of PATH: nothing starts.
            raise
        return acting.started(name, None)


_ACTS: "dict[str, Callable[[SystemCall], Act | None]]" = {
    "open": _open,
    "openat": _openat,
    "creat": _creat,
    "mkdir": lambda call: acting.made_folder(call, CWD, call.path(0), call.arguments[1]),
    "mkdirat": lambda call: acting.made_folder(call, *_at(call, 0, 1), call.arguments[2]),
    "mknod": lambda call: _mknod(call, CWD, call.path(0), 1),
    "mknodat": lambda call: _mknod(call, *_at(call, 0, 1), 2),
    "unlink": lambda call: acting.deleted(call, CWD, call.path(0), 0),
    "rmdir": lambda call: acting.deleted(call, CWD, call.path(0), 0x200),
    "unlinkat": lambda call: acting.deleted(call, *_at(call, 0, 1), call.signed(2)),
    "rename": lambda call: acting.renamed(call, (CWD, call.path(0)), (CWD, call.path(1)), 0),
    "renameat": lambda call: acting.renamed(call, _at(call, 0, 1), _at(call, 2, 3), 0),
    "renameat2": lambda call: acting.renamed(call, _at(call, 0, 1), _at(call, 2, 3), call.signed(4)),
    "link": lambda call: acting.linked(call, (CWD, call.path(0)), (CWD, call.path(1)), 0),
    "linkat": lambda call: acting.linked(call, _at(call, 0, 1), _at(call, 2, 3), call.signed(4)),
    "symlink": lambda call: acting.symlinked(call, call.path(0), CWD, call.path(1)),
    "symlinkat": lambda call: acting.symlinked(call, call.path(0), *_at(call, 1, 2)),
    "truncate": _truncate,
    "chmod": lambda call: acting.changed(_file(call, CWD, 0), acting.of_mode(call.arguments[1])),
    "fchmod": lambda call: acting.changed(
        open_file_of(call, call.signed(0)), acting.of_mode(call.arguments[1])
    ),
    "fchmodat": lambda call: acting.changed(
        _file(call, call.signed(0), 1), acting.of_mode(call.arguments[2])
    ),
    "fchmodat2": lambda call: acting.changed(
        _file(call, call.signed(0), 1, call.signed(3)), acting.of_mode(call.arguments[2])
    ),
    "chown": lambda call: _chown(call, _file(call, CWD, 0), 1),
    "lchown": lambda call: _chown(call, _file(call, CWD, 0, _NOFOLLOW), 1),
    "fchown": lambda call: _chown(call, open_file_of(call, call.signed(0)), 1),
    "fchownat": lambda call: _chown(call, _file(call, call.signed(0), 1, call.signed(4)), 2),
    "utime": _utime,
    "utimes": lambda call: _utimes(call, CWD, 0),
    "futimesat": lambda call: _utimes(call, call.signed(0), 1),
    "utimensat": _utimensat,
    "setxattr": lambda call: _setxattr(call, lambda: _file(call, CWD, 0)),
    "lsetxattr": lambda call: _setxattr(call, lambda: _file(call, CWD, 0, _NOFOLLOW)),
    "fsetxattr": lambda call: _setxattr(call, lambda: open_file_of(call, call.signed(0))),
    "removexattr": lambda call: _removexattr(call, lambda: _file(call, CWD, 0)),
    "lremovexattr": lambda call: _removexattr(call, lambda: _file(call, CWD, 0, _NOFOLLOW)),
    "fremovexattr": lambda call: _removexattr(call, lambda: open_file_of(call, call.signed(0))),
    "connect": lambda call: sending.connected(call, call.signed(0), _address(call, 1)),
    "bind": lambda call: sending.bound(call, call.signed(0), _address(call, 1)),
    "sendto": _sendto,
    "sendmsg": _sendmsg,
    "sendmmsg": sending.sent_all,
    "listen": lambda call: sending.listening(call, call.signed(0), call.signed(1)),
    "kill": lambda call: _to_own_process(call, 0, 1),
    "tkill": lambda call: _to_own_process(call, 0, 1),
    "tgkill": lambda call: _to_own_process(call, 0, 2),
    "rt_sigqueueinfo": lambda call: _to_own_process(call, 0, 1),
    "rt_tgsigqueueinfo": lambda call: _to_own_process(call, 0, 2),
    "fcntl": _set_owner,
    "setpriority": lambda call: _to_processes(call, _PRIO_USER),
    "ioprio_set": lambda call: _to_processes(call, _IOPRIO_WHO_USER),
    **{name: lambda call: _to_own_process(call, 0) for name in calls.OF_PROCESS},
    "execve": lambda call: _execve(call, CWD, 0),
    "execveat": lambda call: _execve(call, call.signed(0), 1, call.signed(4)),
}
