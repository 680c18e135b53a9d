"""Performing what a process asked the system for, after it was decided.

Each function performs one system call for its caller. It yields a `SystemEffect` when a decision is needed,
and is resumed only if that is allowed; it yields `BLOCKED` to be resumed later. It returns the result.

This process has the same rights as the caller: namespaces, Landlock's rules, no capabilities. What the
sandbox refuses to the caller it refuses here.
"""

import ctypes
import errno
import fcntl
import os
import stat
import struct

from terp.kernels.sandbox.entering.file_account import state_of
from terp.kernels.sandbox.entering.notifications import SystemCall
from terp.kernels.sandbox.entering.reached import Reached, descriptor_of, entry_of, file_of, names_descriptor
from terp.kernels.sandbox.entering.system import syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    Act = Generator[Any, None, int | str | None]

CWD = -100
BLOCKED = "blocked"
"""Yielded by a call that cannot be performed without waiting."""
GO_ON = "go on"
"""Returned by a call that the kernel is to perform itself."""
PERFORMED = "performed"
"""Yielded by a call whose effects have happened, and that may still fail."""

_FOLLOW, _EMPTY_PATH, _REMOVEDIR = 0x400, 0x1000, 0x200
_NOREPLACE, _EXCHANGE, _RENAME_FLAGS = 1, 2, 7
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}
_FCHOWNAT = {"x86_64": 260, "aarch64": 54}
_UTIMENSAT = {"x86_64": 280, "aarch64": 88}
_NOW = (1 << 30) - 1
_TMPFILE = 0o20000000
# All that Linux knows: the access mode, up to O_TMPFILE, and O_SYNC's own bit.
_OPEN_FLAGS = 0o37777703
_MULTIPLEXERS, _TIOCGPTN = (b"/dev/ptmx", b"/dev/pts/ptmx"), 0x80045430
_MOST_TRIES = 40


class SystemEffect:
    """A change that is about to happen.

    `verb` is "create", "modify", "delete", "connect", "listen" or "run". `what` is a real path, an address or
    the name of a program; `to` the new path of what is moved, of a `folder` if that is True, or the real path
    of a program, if it has one. `entry` is the name that appears or disappears, `file` what is changed, moved
    or linked to, `before` its state (`FileAccount`). An `unguarded` change is of a kind that a sandbox may
    not refuse. `socket` is the inode of one that listens; `datagrams` is True for a connection by UDP.
    """

    __slots__ = (
        "before", "datagrams", "entry", "file", "folder", "socket", "to", "unguarded", "verb", "what"
    )  # fmt: skip

    def __init__(  # noqa: PLR0913  (a record)
        self,
        verb: str,
        what: bytes,
        to: bytes = b"",
        *,
        entry: Reached | None = None,
        file: Reached | None = None,
        folder: bool = False,
        unguarded: bool = False,
        socket: int = 0,
        datagrams: bool = False,
        before: "tuple[int, ...]" = (),
    ) -> None:
        self.verb = verb
        self.what = what
        self.to = to
        self.entry = entry
        self.file = file
        self.folder = folder
        self.unguarded = unguarded
        self.socket = socket
        self.datagrams = datagrams
        self.before = before

    @property
    def target(self) -> bytes:
        """The new path of what is moved."""
        return b"" if self.verb == "run" else self.to

    def is_moot(self) -> bool:
        """Return True if the call will fail whatever is decided: the name exists already, or does not."""
        return self.entry is not None and self.entry.exists() == (self.verb == "create")


def checked_flags(flags: int) -> int:
    """Return flags as open(2) takes them, which ignores those that it does not know.

    Raises:
        OSError: EINVAL, which comes before any mistake in the path.
    """
    flags &= _OPEN_FLAGS
    if flags & os.O_CREAT and flags & os.O_DIRECTORY:
        raise OSError(errno.EINVAL, "a directory is not created by opening")
    if flags & _TMPFILE and not (flags & os.O_DIRECTORY and flags & os.O_ACCMODE):
        raise OSError(errno.EINVAL, "a file without a name, for reading")
    return flags


def opened(call: SystemCall, directory: int, path: bytes, flags: int, mode: int) -> "Act":
    """Open a file for writing; `flags` are those of `checked_flags`."""
    for _ in range(_MOST_TRIES):
        file = yield from _opened_once(call, directory, path, flags, mode)
        if not isinstance(file, bytes):
            # It exists even if the caller has no room for another open file.
            yield PERFORMED
            return call.give(file, close_on_exec=bool(flags & os.O_CLOEXEC))
        path = file
    raise OSError(errno.ELOOP, "too many links")


def _opened_once(
    call: SystemCall, directory: int, path: bytes, flags: int, mode: int
) -> "Generator[Any, None, int | bytes]":
    """Return the open file, or the path to try next."""
    if not flags & os.O_CREAT:
        with file_of(call, directory, path, follow=not flags & os.O_NOFOLLOW) as file:
            return (yield from _reopened(call, file, flags, mode))
    follow = not flags & (os.O_EXCL | os.O_NOFOLLOW)
    if follow and names_descriptor(call, path):
        with file_of(call, directory, path) as file:
            return (yield from _reopened(call, file, flags, mode))
    with entry_of(call, directory, path) as entry:
        _check_name(entry.name, flags)
        if not flags & os.O_EXCL:
            try:
                with entry.file() as file:
                    return (yield from _reopened(call, file, flags, mode))
            except FileNotFoundError:
                pass
            except OSError as error:
                if error.errno != errno.ELOOP or not follow:
                    raise
                return (yield from _opened_through(call, entry, flags, mode))
        yield SystemEffect("create", entry.path, entry=entry)
        try:
            made = mode & 0o7777 & ~call.umask
            return entry.opened(flags & ~os.O_CLOEXEC | os.O_EXCL | os.O_NOCTTY, _without_rights(made))
        except FileExistsError:
            if flags & os.O_EXCL:
                raise
            # Another program has created it, so this call has not.
            call.effects.clear()
            return path


def _without_rights(mode: int) -> int:
    """Return the mode of a new file.

    Raises:
        OSError: EPERM: others would run it with the rights of its owner, or of root's group.
    """
    if mode & (stat.S_ISUID if os.geteuid() else stat.S_ISUID | stat.S_ISGID):
        raise OSError(errno.EPERM, "a program with the rights of its owner")
    return mode


def _check_name(name: bytes, flags: int) -> None:
    if name in (b".", b"..", b"/"):
        raise OSError(errno.EEXIST if flags & os.O_EXCL else errno.EISDIR, "a directory")
    if name.endswith(b"/"):
        raise OSError(errno.EISDIR, "a directory")


def _opened_through(
    call: SystemCall, entry: Reached, flags: int, mode: int
) -> "Generator[Any, None, int | bytes]":
    """Open what a link leads to, or return the path where that is to be created."""
    target = entry.link()
    if not target.startswith(b"/"):
        target = entry.path.rpartition(b"/")[0] + b"/" + target
    if target.endswith(b"/"):
        # A name for a directory, which is refused before any link there is followed.
        return target
    try:
        with file_of(call, CWD, target) as file:
            return (yield from _reopened(call, file, flags, mode))
    except FileNotFoundError:
        return target


def _reopened(call: SystemCall, file: Reached, flags: int, mode: int) -> "Generator[Any, None, int]":
    found = os.stat(file.again)  # noqa: PTH116  (pathlib takes 5 ms to import)
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFLNK:
        raise OSError(errno.ENOTDIR if flags & os.O_DIRECTORY else errno.ELOOP, "a link")
    if kind == stat.S_IFDIR:
        if not flags & _TMPFILE:
            raise OSError(errno.EISDIR, "a directory")
        mode &= 0o7777 & ~call.umask
    elif kind != stat.S_IFSOCK and file.path.startswith(b"/") and found.st_nlink:
        truncates, before = bool(flags & os.O_TRUNC), state_of(found)
        yield SystemEffect("modify", file.path, file=file, unguarded=truncates, before=before)
    # A pipe without a reader, a leased file and some devices would hold up all other calls.
    plain = flags & ~(os.O_CREAT | os.O_NOFOLLOW) | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    while True:
        try:
            opened_file = os.open(file.again, plain, mode)
            break
        except OSError as error:
            waits = error.errno == (errno.ENXIO if kind == stat.S_IFIFO else errno.EWOULDBLOCK)
            if flags & os.O_NONBLOCK or not waits:
                raise
            yield BLOCKED
    if not flags & os.O_NONBLOCK:
        status = fcntl.fcntl(opened_file, fcntl.F_GETFL)
        fcntl.fcntl(opened_file, fcntl.F_SETFL, status & ~os.O_NONBLOCK)
    if file.path in _MULTIPLEXERS:
        # The terminal that was made is the caller's.
        (number,) = struct.unpack("=I", fcntl.ioctl(opened_file, _TIOCGPTN, bytes(4)))
        yield SystemEffect("create", b"/dev/pts/%d" % number)
    return opened_file


def made_folder(call: SystemCall, directory: int, path: bytes, mode: int) -> "Act":
    """Make a directory."""
    with entry_of(call, directory, path) as entry:
        yield SystemEffect("create", entry.path, entry=entry)
        os.mkdir(entry.name, mode & 0o1777 & ~call.umask, dir_fd=entry.fd)
        return 0


def made_node(call: SystemCall, directory: int, path: bytes, mode: int, device: int) -> "Act":
    """Make a pipe, a socket or an empty file."""
    with entry_of(call, directory, path) as entry:
        yield SystemEffect("create", entry.path, entry=entry)
        os.mknod(entry.name, mode & 0o171777 & ~call.umask, device, dir_fd=entry.fd)
        return 0


def deleted(call: SystemCall, directory: int, path: bytes, flags: int) -> "Act":
    """Delete a file or an empty directory."""
    if flags & ~_REMOVEDIR:
        raise OSError(errno.EINVAL, "unknown flags")
    with entry_of(call, directory, path) as entry:
        yield SystemEffect("delete", entry.path, entry=entry, folder=bool(flags))
        if flags:
            os.rmdir(entry.name, dir_fd=entry.fd)
        else:
            os.unlink(entry.name, dir_fd=entry.fd)
        return 0


def renamed(call: SystemCall, old: "tuple[int, bytes]", new: "tuple[int, bytes]", flags: int) -> "Act":
    """Rename a file or a directory."""
    if flags & ~_RENAME_FLAGS or (flags & _EXCHANGE and flags != _EXCHANGE):
        raise OSError(errno.EINVAL, "unknown flags")
    with entry_of(call, *old) as source, entry_of(call, *new) as target:
        if (kind := source.kind()) is not None:
            folder = stat.S_ISDIR(kind)
            if flags & _EXCHANGE:
                yield SystemEffect("modify", target.path, source.path, file=target, folder=True)
                yield SystemEffect("modify", source.path, target.path, file=source, folder=True)
            else:
                if not flags & _NOREPLACE and target.exists():
                    yield SystemEffect("modify", target.path, file=target)
                yield SystemEffect("delete", source.path, target.path, file=source, folder=folder)
        names = (ctypes.c_int(source.fd), source.name, ctypes.c_int(target.fd), target.name)
        syscall(_RENAMEAT2[os.uname().machine], *names, ctypes.c_uint(flags))
        return 0


def linked(call: SystemCall, old: "tuple[int, bytes]", new: "tuple[int, bytes]", flags: int) -> "Act":
    """Make another name for a file. Through it the file can be changed."""
    directory, path = old
    if flags & ~(_FOLLOW | _EMPTY_PATH):
        raise OSError(errno.EINVAL, "unknown flags")
    if flags & _EMPTY_PATH and not path:
        source = descriptor_of(call, directory)
    else:
        source = file_of(call, directory, path, follow=bool(flags & _FOLLOW))
    with source, entry_of(call, *new) as target:
        # A file without a name is the caller's own.
        if source.path.startswith(b"/") and source.is_named():
            yield SystemEffect("modify", source.path, file=source, before=_state(source))
        yield SystemEffect("create", target.path, entry=target, file=source)
        os.link(source.again, target.name, dst_dir_fd=target.fd, follow_symlinks=True)
        return 0


def symlinked(call: SystemCall, target: bytes, directory: int, path: bytes) -> "Act":
    """Make a symbolic link."""
    if not target:
        raise OSError(errno.ENOENT, "a link to nothing")
    with entry_of(call, directory, path) as entry:
        yield SystemEffect("create", entry.path, entry=entry)
        os.symlink(target, entry.name, dir_fd=entry.fd)
        return 0


def started(name: bytes, file: Reached | None) -> "Act":
    """Let the kernel start a program; without a `file` it is not known which.

    The kernel reads the path once more, and another thread may change it: the program is held all the same.
    """
    path = b""
    if file is not None:
        with file:
            path = file.path if file.is_named() else b""
    yield SystemEffect("run", name or path.rpartition(b"/")[2] or b"a program without a name", path)
    return GO_ON


def changed(file: Reached, change: "Callable[[Reached], Any]") -> "Act":
    """Change the attributes or the length of a file."""
    with file:
        if file.path.startswith(b"/") and file.is_named():
            yield SystemEffect("modify", file.path, file=file, unguarded=True, before=_state(file))
        change(file)
        return 0


def _state(file: Reached) -> tuple[int, ...]:
    return state_of(os.stat(file.again))  # noqa: PTH116  (pathlib takes 5 ms to import)


def of_mode(mode: int) -> "Callable[[Reached], None]":
    """Return the change of a file's mode."""
    return lambda file: os.chmod(file.again, mode & 0o7777)  # noqa: PTH101  (pathlib takes 5 ms to import)


def of_owner(user: int, group: int) -> "Callable[[Reached], None]":
    """Return the change of a file's owner; -1 keeps one."""

    def change(file: Reached) -> None:
        numbers = (ctypes.c_int(user), ctypes.c_int(group), ctypes.c_int(_EMPTY_PATH))
        syscall(_FCHOWNAT[os.uname().machine], ctypes.c_int(file.fd), ctypes.c_char_p(b""), *numbers)

    return change


def of_times(times: bytes | None) -> "Callable[[Reached], None]":
    """Return the change of a file's times: two `struct timespec`; None is now."""

    def change(file: Reached) -> None:
        both = None if times is None else ctypes.c_char_p(times)
        syscall(
            _UTIMENSAT[os.uname().machine],
            ctypes.c_int(file.fd),
            ctypes.c_char_p(b""),
            both,
            ctypes.c_int(_EMPTY_PATH),
        )

    return change


def of_length(length: int) -> "Callable[[Reached], None]":
    """Return the change of a file's length."""
    return lambda file: os.truncate(file.again, length)


def named_times(seconds: "tuple[tuple[int, int], tuple[int, int]]", unit: int) -> bytes:
    """Return times as two `struct timespec`; the parts of seconds count `unit` nanoseconds."""
    if any(not 0 <= part * unit < 1_000_000_000 for _, part in seconds):
        raise OSError(errno.EINVAL, "no part of a second")
    return b"".join(struct.pack("=qq", whole, part * unit) for whole, part in seconds)


def of_attribute(name: bytes, value: bytes | None, flags: int) -> "Callable[[Reached], None]":
    """Return the change of an extended attribute; None removes it."""

    def change(file: Reached) -> None:
        if value is None:
            os.removexattr(file.again, name)
        else:
            os.setxattr(file.again, name, value, flags)

    return change
