"""Files as a caller names them, reached once: what is decided about is what is acted on.

A path is resolved by the kernel to a descriptor that cannot be used for reading or writing (O_PATH). The
decision is about the descriptor's own name; the action goes through the descriptor. A link that is exchanged
between the two leads nowhere.
"""

import ctypes
import errno
import os
import re
import struct

from terp.kernels.sandbox.entering.notifications import SystemCall
from terp.kernels.sandbox.entering.system import syscall

_OPENAT2 = 437
_NO_MAGIC_LINKS, _NO_SYMLINKS, _BENEATH = 2, 4, 8
_CWD = -100
_MOST_LINKS = 40
_STANDARD = {
    b"/dev/stdin": b"/proc/self/fd/0",
    b"/dev/stdout": b"/proc/self/fd/1",
    b"/dev/stderr": b"/proc/self/fd/2",
}
_DESCRIPTOR = re.compile(rb"/proc/(\d+)(?:/task/\d+)?/fd/(\d+)")
_PLACE = re.compile(rb"(/proc/\d+(?:/task/\d+)?/(?:cwd|root|fd/\d+))/(.*)", re.DOTALL)
_PROCESS = re.compile(rb"/proc/(\d+)(?:/|$)")


def openat2(directory: int, path: bytes, flags: int, mode: int, resolve: int) -> int:
    """Open `path` as `openat2(2)` does.

    Raises:
        OSError: it failed.
    """
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, mode, resolve)
    while True:
        try:
            return syscall(
                _OPENAT2,
                ctypes.c_int(directory),
                ctypes.c_char_p(path),
                ctypes.c_char_p(how),
                ctypes.c_size_t(24),
            )
        except OSError as error:
            # The tree changed while the kernel walked it.
            if error.errno != errno.EAGAIN:
                raise


class Reached:
    """A file by a descriptor, or a name in a directory. Closed with `with`.

    `fd` is a descriptor (O_PATH) of the file itself, or, with `name`, of its directory. `path` is its real
    path; descriptors without one, as pipes, have "pipe:[…]".
    """

    __slots__ = ("fd", "name", "path")

    def __init__(self, fd: int, name: bytes = b"") -> None:
        self.fd = fd
        self.name = name
        folder = os.readlink(b"/proc/self/fd/%d" % fd)  # noqa: PTH115  (pathlib takes 5 ms to import)
        self.path = folder if not name else folder.rstrip(b"/") + b"/" + name.rstrip(b"/")

    @property
    def again(self) -> bytes:
        """A path that leads to exactly this file."""
        return b"/proc/self/fd/%d" % self.fd

    def kind(self) -> int | None:
        """Return the mode of what has that name, also of a link to nothing; None if nothing has it."""
        try:
            return os.lstat(self.name, dir_fd=self.fd).st_mode
        except OSError:
            return None

    def is_named(self) -> bool:
        """Return True if the file has a name anywhere."""
        return os.stat(self.again).st_nlink > 0  # noqa: PTH116  (pathlib takes 5 ms to import)

    def exists(self) -> bool:
        """Return True if something has that name."""
        return self.kind() is not None

    def link(self) -> bytes:
        """Return the target of the link of that name; "" if it is no link."""
        try:
            return os.readlink(self.name, dir_fd=self.fd)
        except OSError:
            return b""

    def file(self) -> "Reached":
        """Return the existing file of that name.

        Raises:
            OSError: there is none; ELOOP for a link.
        """
        fd = openat2(self.fd, self.name, os.O_PATH, 0, _BENEATH | _NO_SYMLINKS)
        return _checked(Reached(fd))

    def opened(self, flags: int, mode: int) -> int:
        """Create the file of that name and open it.

        Raises:
            OSError: it failed; ELOOP for a link.
        """
        return openat2(self.fd, self.name, flags, mode, _BENEATH | _NO_SYMLINKS)

    def __enter__(self) -> "Reached":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def file_of(call: SystemCall, directory: int, path: bytes, *, follow: bool = True) -> Reached:
    """Return the existing file that a caller names; `directory` is its descriptor for relative paths.

    Raises:
        OSError: there is no such file, or it belongs to another process.
    """
    path = _own(call, path)
    if follow and _DESCRIPTOR.fullmatch(path):
        _check_owner(path)
        # A descriptor for reading may be of memory.
        return _checked(Reached(os.open(path, os.O_PATH | os.O_CLOEXEC)))
    flags = os.O_PATH if follow else os.O_PATH | os.O_NOFOLLOW
    with _Base(call, directory, path) as base:
        try:
            return _checked(Reached(openat2(base.fd, base.path, flags, 0, _NO_MAGIC_LINKS)))
        except OSError as error:
            if error.errno != errno.ELOOP or not follow:
                raise
    # A link to /dev/stdout or the like, whose last part only its process can follow.
    with entry_of(call, directory, path) as entry:
        target = entry.link()
        if not _DESCRIPTOR.fullmatch(_own(call, target)):
            raise OSError(errno.ELOOP, "too many links")
    return file_of(call, directory, target)


def names_descriptor(call: SystemCall, path: bytes) -> bool:
    """Return True for the path of an open file, which is no name in a directory."""
    return path.startswith((b"/dev/", b"/proc/")) and _DESCRIPTOR.fullmatch(_own(call, path)) is not None


def entry_of(call: SystemCall, directory: int, path: bytes) -> Reached:
    """Return a name in an existing directory; the last part of the path is not followed.

    Raises:
        OSError: there is no such directory.
    """
    if not path:
        raise OSError(errno.ENOENT, "no path")
    path = _own(call, path)
    with _Base(call, directory, path) as base:
        bare = base.path.rstrip(b"/")
        folder, slash, name = bare.rpartition(b"/")
        if not bare:
            folder, name = b".", b"/"
        folder = folder or (b"/" if slash else b".")
        fd = openat2(base.fd, folder, os.O_PATH | os.O_DIRECTORY, 0, _NO_MAGIC_LINKS)
        return _checked(Reached(fd, name if name == b"/" else name + base.path[len(bare) :]))


def descriptor_of(call: SystemCall, number: int) -> Reached:
    """Return the file behind an open descriptor of the caller.

    Raises:
        OSError: EBADF.
    """
    if number == _CWD:
        return Reached(os.open(f"/proc/{call.pid}/cwd", os.O_PATH | os.O_CLOEXEC))
    try:
        return Reached(os.open(f"/proc/{call.pid}/fd/{number}", os.O_PATH | os.O_CLOEXEC))
    except FileNotFoundError:
        raise OSError(errno.EBADF, "bad file descriptor") from None


def open_file_of(call: SystemCall, number: int) -> Reached:
    """Return the file that a caller has opened, for calls which a descriptor made with O_PATH does not serve.

    Raises:
        OSError: EBADF.
    """
    file = descriptor_of(call, number)
    with open(f"/proc/{call.pid}/fdinfo/{number}", "rb") as info:  # noqa: PTH123  (pathlib takes 5 ms to import)
        flags = int(info.read(256).partition(b"flags:")[2].split()[0], 8)
    if flags & os.O_PATH:
        os.close(file.fd)
        raise OSError(errno.EBADF, "bad file descriptor")
    return file


def _own(call: SystemCall, path: bytes) -> bytes:
    """Return the path with the names that mean something else in each process put into numbers."""
    if not path.startswith((b"/dev/", b"/proc/")):
        return path
    path = _terminal(call.pid) if path == b"/dev/tty" else _STANDARD.get(path, path)
    if path.startswith(b"/dev/fd/"):
        path = b"/proc/self/fd/" + path[8:]
    for name in (b"/proc/self", b"/proc/thread-self"):
        if path == name or path.startswith(name + b"/"):
            return b"/proc/%d" % call.pid + path[len(name) :]
    return path


def _terminal(pid: int) -> bytes:
    """Return the controlling terminal of a process.

    Raises:
        OSError: ENXIO: it has none.
    """
    with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  (pathlib takes 5 ms to import)
        device = int(file.read().rpartition(b")")[2].split()[4])
    major, minor = os.major(device), os.minor(device)
    if 136 <= major <= 143:
        return b"/dev/pts/%d" % (minor + 256 * (major - 136))
    if major == 4:
        return b"/dev/tty%d" % minor
    raise OSError(errno.ENXIO, "no terminal")


def _checked(reached: Reached) -> Reached:
    try:
        _check_owner(reached.path)
    except OSError:
        os.close(reached.fd)
        raise
    return reached


def _check_owner(path: bytes) -> None:
    """Raise for files of this process, of a sandbox's first one, which has no filter, and for memory.

    Raises:
        OSError: EACCES.
    """
    if not path.startswith(b"/proc/"):
        return
    found = _PROCESS.match(path)
    if found and (int(found[1]) in (1, os.getpid()) or path.rsplit(b"/", 1)[-1] == b"mem"):
        raise OSError(errno.EACCES, "not for code")


class _Base:
    """The directory from which a path is resolved: the root, the caller's own, or an open one.

    `path` is the rest of the path, from there.
    """

    def __init__(self, call: SystemCall, directory: int, path: bytes) -> None:
        self.path = path
        place = _PLACE.match(path)
        self._kept = place is None and path.startswith(b"/")
        if place is not None:
            _check_owner(path)
            where, self.path = place[1], place[2].lstrip(b"/") or b"."
        elif self._kept:
            self.fd = call.listener.root
            return
        else:
            where = b"/proc/%d/" % call.pid + (b"cwd" if directory == _CWD else b"fd/%d" % directory)
        try:
            self.fd = os.open(where, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            raise OSError(errno.EBADF, "bad file descriptor") from None

    def __enter__(self) -> "_Base":
        return self

    def __exit__(self, *_: object) -> None:
        if not self._kept:
            os.close(self.fd)
