"""System calls that wait for the holder's answer: received from the kernel, read, and answered.

The structures and `ioctl` numbers are those of linux/seccomp.h.
"""

import ctypes
import errno
import fcntl
import os
import struct
from contextlib import suppress

from terp.kernels.sandbox.entering.system import libc, syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RECEIVE, _SEND, _IS_VALID, _ADD_FD, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103, 0x40082104
# The answer wakes the caller on the same processor: 20 µs a call less. Since Linux 6.6.
_SYNC_WAKE_UP = 1
_CONTINUE = 1
_NOTIFICATION, _EMPTY = "=QIIiIQ6Q", bytes(80)
_LONGEST_PATH = 4096
_MOST_STATUSES = 32
_PIDFD_GETFD, _PIDFD_OPEN = 438, 434


class _Iov(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class SystemCall:
    """One system call that waits. `pid` is the calling thread; `arguments` are six numbers of 64 bits."""

    __slots__ = ("arguments", "effects", "listener", "name", "number", "pid")

    def __init__(
        self, listener: "Listener", number: int, pid: int, name: str, arguments: tuple[int, ...]
    ) -> None:
        self.listener = listener
        self.number = number
        self.pid = pid
        self.name = name
        self.arguments = arguments
        # Those that were allowed, with the moment when they count.
        self.effects: list[Any] = []

    def signed(self, at: int) -> int:
        """Return an argument as a signed number of 32 bits."""
        value = self.arguments[at] & 0xFFFFFFFF
        return value - (1 << 32) if value >> 31 else value

    def path(self, at: int) -> bytes:
        """Return the path to which an argument points.

        Raises:
            OSError: EFAULT, ENAMETOOLONG, EPERM for a process that cannot be read, or the caller is gone.
        """
        found, address = b"", self.arguments[at]
        while len(found) <= _LONGEST_PATH:
            # Reading past the end of a page could fail.
            size = min(512, 4096 - (address & 4095))
            piece = self.listener.memory(self.pid, address, size)
            end = piece.find(b"\0")
            if end >= 0:
                self.check()
                return found + piece[:end]
            found += piece
            address += len(piece)
        raise OSError(errno.ENAMETOOLONG, "path too long")

    def memory(self, address: int, size: int) -> bytes:
        """Return `size` bytes of the caller's memory.

        Raises:
            OSError: as for `path`.
        """
        found = self.listener.memory(self.pid, address, size) if size else b""
        if len(found) < size:
            raise OSError(errno.EFAULT, "bad address")
        self.check()
        return found

    def write(self, address: int, data: bytes) -> None:
        """Write into the caller's memory.

        Raises:
            OSError: as for `path`.
        """
        self.check()
        self.listener.write(self.pid, address, data)

    def check(self) -> None:
        """Raise unless the call still waits: the number of its process may belong to another one by now.

        Raises:
            OSError: ENOENT: it waits no more.
        """
        fcntl.ioctl(self.listener.fd, _IS_VALID, struct.pack("=Q", self.number))

    def still_waits(self) -> bool:
        """Return False if the call was ended by the death of its process."""
        try:
            self.check()
        except OSError:
            return False
        return True

    def descriptor(self, number: int) -> int:
        """Return a duplicate of the caller's open file `number`.

        Raises:
            OSError: EBADF, or the caller is gone.
        """
        process = syscall(_PIDFD_OPEN, ctypes.c_int(self.process), ctypes.c_uint(0))
        try:
            return syscall(_PIDFD_GETFD, ctypes.c_int(process), ctypes.c_int(number), ctypes.c_uint(0))
        finally:
            os.close(process)

    @property
    def process(self) -> int:
        """The process of the calling thread."""
        return int(self._status(b"Tgid:"))

    @property
    def umask(self) -> int:
        """The caller's umask."""
        return int(self._status(b"Umask:"), 8)

    def _status(self, field: bytes) -> bytes:
        text = self.listener.status(self.pid)
        start = text.find(field) + len(field)
        return text[start : text.find(b"\n", start)]

    def done(self, value: int = 0) -> None:
        """Let the call return `value`."""
        self.listener.send(self.number, value, 0, 0)

    def fail(self, code: int) -> None:
        """Let the call fail with this errno."""
        self.listener.send(self.number, 0, -code, 0)

    def go_on(self) -> None:
        """Let the kernel perform the call. Only for what was decided from numbers, not from memory."""
        self.listener.send(self.number, 0, 0, _CONTINUE)

    def give(self, file: int, *, close_on_exec: bool) -> int:
        """Open `file` in the caller, close it here, and return the caller's number for it.

        Closed before the caller goes on: a lock or a program that is written would stay open here.
        """
        flags = os.O_CLOEXEC if close_on_exec else 0
        try:
            added = bytearray(struct.pack("=QIIII", self.number, 0, file, 0, flags))
            return int(fcntl.ioctl(self.listener.fd, _ADD_FD, added))
        finally:
            os.close(file)


class Listener:
    """The descriptor from which calls are received. `names` are the names of calls by their numbers."""

    def __init__(self, fd: int, names: dict[int, str]) -> None:
        self.fd = fd
        self.root = os.open("/", os.O_PATH | os.O_CLOEXEC)
        self._names = names
        self._statuses: dict[int, int] = {}
        self._request = bytearray(80)
        self._buffer = ctypes.create_string_buffer(1 << 16)
        self._here = _Iov(ctypes.addressof(self._buffer), 0)
        self._there = _Iov(0, 0)
        self._here_at, self._there_at = ctypes.byref(self._here), ctypes.byref(self._there)
        self._read = libc().process_vm_readv
        # Where it is refused all is slower, and the same otherwise.
        with suppress(OSError):
            fcntl.ioctl(fd, _SET_FLAGS, _SYNC_WAKE_UP)

    def receive(self) -> SystemCall | None:
        """Return the next call; None if it has ended meanwhile."""
        self._request[:] = _EMPTY
        try:
            fcntl.ioctl(self.fd, _RECEIVE, self._request)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):
                return None
            raise
        number, pid, _, call, _, _, *arguments = struct.unpack(_NOTIFICATION, self._request)
        return SystemCall(self, number, pid, self._names.get(call, ""), tuple(arguments))

    def send(self, number: int, value: int, error: int, flags: int) -> None:
        """Answer a call; nothing happens if it waits no more."""
        try:
            fcntl.ioctl(self.fd, _SEND, bytearray(struct.pack("=QqiI", number, value, error, flags)))
        except OSError as failure:
            if failure.errno != errno.ENOENT:
                raise

    def status(self, pid: int) -> bytes:
        """Return the beginning of /proc/PID/status. The file is kept open: opening takes longer than reading.

        Raises:
            OSError: ESRCH: the thread is gone.
        """
        for _ in range(2):
            file = self._statuses.get(pid)
            if file is None:
                self._forget_statuses()
                file = self._statuses[pid] = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
            try:
                return os.pread(file, 600, 0)
            except ProcessLookupError:
                # Another thread has the number by now.
                os.close(self._statuses.pop(pid))
        raise OSError(errno.ESRCH, "no such thread")

    def _forget_statuses(self) -> None:
        if len(self._statuses) >= _MOST_STATUSES:
            for file in self._statuses.values():
                os.close(file)
            self._statuses.clear()

    def memory(self, pid: int, address: int, size: int) -> bytes:
        """Return up to `size` bytes of a process's memory.

        Raises:
            OSError: EFAULT, EPERM, ESRCH.
        """
        if size > len(self._buffer):
            self._buffer = ctypes.create_string_buffer(size)
            self._here.base = ctypes.addressof(self._buffer)
        self._here.length = self._there.length = size
        self._there.base = address
        count = self._read(pid, self._here_at, 1, self._there_at, 1, 0)
        if count < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return ctypes.string_at(self._buffer, count)

    def write(self, pid: int, address: int, data: bytes) -> None:
        """Write into a process's memory.

        Raises:
            OSError: EFAULT, EPERM, ESRCH.
        """
        here = _Iov(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, len(data))
        there = _Iov(address, len(data))
        if libc().process_vm_writev(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
