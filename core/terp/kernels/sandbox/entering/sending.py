"""Connecting, listening and sending for a process, after it was decided.

As in `acting`, each function performs one system call for its caller and yields its effects.
"""

import _socket as socket  # without the enumerations, which take 4 ms to import
import ctypes
import errno
import fcntl
import os
import select
import struct
import sys
from contextlib import closing

from terp.kernels.sandbox.entering.acting import BLOCKED, CWD, SystemEffect
from terp.kernels.sandbox.entering.notifications import SystemCall
from terp.kernels.sandbox.entering.reached import Reached, descriptor_of, entry_of, file_of
from terp.kernels.sandbox.entering.system import libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from terp.kernels.sandbox.entering.acting import Act

_LARGEST_MESSAGE = 1 << 20
_MOST_MESSAGES = 1024
_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _DONE, _ERROR, _DUMP = 4, 20, 3, 2, 0x301
_LISTENING, _ANY_STATE = 1 << 10, 0xFFFFFFFF
_NO_COOKIE = 0xFFFFFFFF


def _shown(raw: bytes) -> bytes:
    """Return an address as shown to a user; "" for one that reaches nobody.

    Raises:
        OSError: EAFNOSUPPORT for a kind of address that is not known here.
    """
    family = int.from_bytes(raw[:2], sys.byteorder) if len(raw) >= 2 else socket.AF_UNSPEC
    # Sockets of version 4 take an unspecified family for theirs.
    if family in (socket.AF_INET, socket.AF_UNSPEC) and len(raw) >= 16:
        return b"%s:%d" % (_host(socket.AF_INET, raw[4:8]), int.from_bytes(raw[2:4], "big"))
    if family == socket.AF_INET6 and len(raw) >= 24:
        return b"[%s]:%d" % (_host(socket.AF_INET6, raw[8:24]), int.from_bytes(raw[2:4], "big"))
    if family == socket.AF_UNIX:
        return b"unix:@" + raw[3:]
    # Too short an address is the system's to refuse, and netlink reaches only the system.
    if family in (socket.AF_UNSPEC, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
        return b""
    raise OSError(errno.EAFNOSUPPORT, "unknown family of addresses")


def _host(family: int, raw: bytes) -> bytes:
    return socket.inet_ntop(family, raw).encode()


class _Destination:
    """An address to which a caller connects or sends: `shown` to a user, `raw` for the system.

    The path of a Unix socket leads through a descriptor of the socket itself. Closed with `with`.
    """

    def __init__(self, call: SystemCall, file: int, raw: bytes) -> None:
        self._reached: Reached | None = None
        self.raw = raw
        self._datagrams = False
        if path := _unix_path(raw):
            self._reached = file_of(call, CWD, path)
            self.shown = b"unix:" + self._reached.path
            self.raw = struct.pack("=H", socket.AF_UNIX) + self._reached.again + b"\0"
        else:
            self.shown = _shown(raw)
            self._datagrams = _option(file, socket.SO_TYPE) == socket.SOCK_DGRAM

    def effects(self) -> "Generator[SystemEffect, None, None]":
        """Yield the effect of reaching the address, if that is one."""
        if self.shown:
            yield SystemEffect("connect", self.shown, datagrams=self._datagrams)

    def __enter__(self) -> "_Destination":
        return self

    def __exit__(self, *_: object) -> None:
        if self._reached is not None:
            os.close(self._reached.fd)


def _option(file: int, which: int) -> int:
    with closing(socket.socket(fileno=os.dup(file))) as one:
        return one.getsockopt(socket.SOL_SOCKET, which)


def _unix_path(raw: bytes) -> bytes:
    if raw[:2] != struct.pack("=H", socket.AF_UNIX) or raw[2:3] in (b"", b"\0"):
        return b""
    return raw[2:].split(b"\0")[0]


def connected(call: SystemCall, number: int, raw: bytes) -> "Act":
    """Connect a socket."""
    file = call.descriptor(number)
    try:
        with _Destination(call, file, raw) as destination:
            yield from destination.effects()
            return (yield from _connecting(file, destination.raw))
    finally:
        os.close(file)


def _connecting(file: int, address: bytes) -> "Act":
    """Connect, without holding up other calls while the other end does not answer."""
    status = fcntl.fcntl(file, fcntl.F_GETFL)
    if status & os.O_NONBLOCK:
        _connect(file, address)
        return 0
    while True:
        # The flag is the caller's too, for the moment of this call only.
        fcntl.fcntl(file, fcntl.F_SETFL, status | os.O_NONBLOCK)
        try:
            _connect(file, address)
            return 0
        except BlockingIOError as error:
            if error.errno == errno.EINPROGRESS:
                break
            # A Unix socket whose queue is full.
            yield BLOCKED
        finally:
            fcntl.fcntl(file, fcntl.F_SETFL, status)
    # A program of this machine answers within this time.
    wait_ms = 1
    while not _poll(file, wait_ms):
        wait_ms = 0
        yield BLOCKED
    if code := _option(file, socket.SO_ERROR):
        raise OSError(code, os.strerror(code))
    # Until a second call the system takes the connection for one that is still being made.
    _connect(file, address)
    return 0


def _poll(file: int, wait_ms: int) -> bool:
    poll = select.poll()
    poll.register(file, select.POLLOUT)
    return bool(poll.poll(wait_ms))


def _connect(file: int, address: bytes) -> None:
    if libc().connect(ctypes.c_int(file), ctypes.c_char_p(address), ctypes.c_uint(len(address))) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def bound(call: SystemCall, number: int, raw: bytes) -> "Act":
    """Give a socket its address."""
    file = call.descriptor(number)
    try:
        if path := _unix_path(raw):
            with entry_of(call, CWD, path) as entry, descriptor_of(call, CWD) as folder:
                yield SystemEffect("create", entry.path, entry=entry)
                # By the caller's own words, which `getsockname` returns. If a directory is exchanged now, an
                # empty socket appears elsewhere, where the sandbox allows it.
                before = os.umask(call.umask)
                os.fchdir(folder.fd)
                try:
                    _bind(file, raw)
                finally:
                    os.umask(before)
                    os.chdir("/")
            return 0
        if shown := _shown(raw):
            yield SystemEffect("listen", shown, socket=os.fstat(file).st_ino)
        _bind(file, raw)
        return 0
    finally:
        os.close(file)


def listening(call: SystemCall, number: int, backlog: int) -> "Act":
    """Let a socket listen; without an address of its own it gets a port on all of the machine's."""
    file = call.descriptor(number)
    try:
        # Not by its family: bound or not, an address of a Unix socket starts nothing.
        with closing(socket.socket(fileno=os.dup(file))) as one:
            address = one.getsockname() if one.family in (socket.AF_INET, socket.AF_INET6) else ("", -1)
        if address[1] == 0:
            yield SystemEffect("listen", b"0.0.0.0:0", socket=os.fstat(file).st_ino)
        if libc().listen(ctypes.c_int(file), ctypes.c_int(backlog)) < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return 0
    finally:
        os.close(file)


def _bind(file: int, address: bytes) -> None:
    if libc().bind(ctypes.c_int(file), ctypes.c_char_p(address), ctypes.c_uint(len(address))) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


class Message:
    """One message to send, copied from the caller: its address, data and control data."""

    def __init__(self, call: SystemCall, address: bytes, data: bytes, control: bytes = b"") -> None:
        self.address = address
        self.data = data
        self._call = call
        self._control = control

    def sent(self, file: int, flags: int) -> "Act":
        """Send the message through `file`; return the number of bytes."""
        given: list[int] = []
        try:
            with _Destination(self._call, file, self.address) as destination:
                yield from destination.effects()
                control, given = self._translated()
                waits = not (flags & socket.MSG_DONTWAIT or fcntl.fcntl(file, fcntl.F_GETFL) & os.O_NONBLOCK)
                while True:
                    try:
                        return _send(file, destination.raw, self.data, control, flags | socket.MSG_DONTWAIT)
                    except BlockingIOError:
                        if not waits:
                            raise
                        yield BLOCKED
        finally:
            for one in given:
                os.close(one)

    def _translated(self) -> "tuple[bytes, list[int]]":
        """Return the control data with duplicates of the caller's files, and these."""
        control, given, at = bytearray(self._control), list[int](), 0
        while at + 16 <= len(control):
            length, level, kind = struct.unpack_from("=Qii", control, at)
            if length < 16:
                break
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                for place in range(at + 16, min(at + length, len(control)) - 3, 4):
                    (number,) = struct.unpack_from("=i", control, place)
                    given.append(self._call.descriptor(number))
                    struct.pack_into("=i", control, place, given[-1])
            elif level == socket.SOL_SOCKET:
                raise OSError(errno.EPERM, "credentials of another process")
            at += (length + 7) & ~7
        return bytes(control), given


def _send(file: int, address: bytes, data: bytes, control: bytes, flags: int) -> int:
    name, body, extra = (
        ctypes.create_string_buffer(one, max(len(one), 1)) for one in (address, data, control)
    )
    vector = struct.pack("=QQ", ctypes.addressof(body), len(data))
    vectors = ctypes.create_string_buffer(vector, 16)
    header = struct.pack(
        "=QI4xQQQQi4x",
        ctypes.addressof(name) if address else 0,
        len(address),
        ctypes.addressof(vectors),
        1,
        ctypes.addressof(extra) if control else 0,
        len(control),
        0,
    )
    # A socket whose other end is gone fails here; the signal is the caller's to get.
    count = int(
        libc().sendmsg(ctypes.c_int(file), ctypes.c_char_p(header), ctypes.c_int(flags | socket.MSG_NOSIGNAL))
    )
    if count < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return count


def message_at(call: SystemCall, address: int) -> Message:
    """Return the message of a `struct msghdr` in the caller's memory.

    Raises:
        OSError: EMSGSIZE for more than a megabyte, and as for `SystemCall.memory`.
    """
    name, name_size, vectors, count, control, control_size, _ = struct.unpack(
        "=QI4xQQQQi4x", call.memory(address, 56)
    )
    if count > _MOST_MESSAGES or control_size > 65536 or name_size > 128:
        raise OSError(errno.EMSGSIZE, "message too long")
    pieces, left = [], _LARGEST_MESSAGE
    raw = call.memory(vectors, 16 * count)
    for at in range(count):
        base, size = struct.unpack_from("=QQ", raw, 16 * at)
        # A stream may take less than it is offered.
        pieces.append(call.memory(base, min(size, left)))
        left -= len(pieces[-1])
    return Message(
        call,
        call.memory(name, name_size) if name else b"",
        b"".join(pieces),
        call.memory(control, control_size) if control else b"",
    )


def sent(call: SystemCall, number: int, message: Message, flags: int) -> "Act":
    """Send one message."""
    file = call.descriptor(number)
    try:
        return (yield from message.sent(file, flags))
    finally:
        os.close(file)


def sent_all(call: SystemCall) -> "Act":
    """Send the messages of `sendmmsg` in order; return how many were sent, and write their lengths."""
    start, count = call.arguments[1], min(call.arguments[2] & 0xFFFFFFFF, _MOST_MESSAGES)
    file, done = call.descriptor(call.signed(0)), 0
    try:
        for at in range(start, start + 64 * count, 64):
            length = yield from message_at(call, at).sent(file, call.signed(3))
            call.write(at + 56, struct.pack("=I", length or 0))
            done += 1
    except OSError:
        # As the system does: the error is reported only if nothing was sent.
        if not done:
            raise
    finally:
        os.close(file)
    return done


def receivers_at(port: int, *, datagrams: bool) -> set[int]:
    """Return the inodes of all sockets that receive at a port of this machine (sock_diag(7)).

    /proc/net has them too, and is read in 60 ms.

    Raises:
        OSError: the system does not say.
    """
    found: set[int] = set()
    with closing(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG)) as system:
        for family in (socket.AF_INET, socket.AF_INET6):
            protocol = socket.IPPROTO_UDP if datagrams else socket.IPPROTO_TCP
            states = _ANY_STATE if datagrams else _LISTENING
            about = struct.pack("=BBBxI", family, protocol, 0, states)
            about += struct.pack(">H42x", port) + struct.pack("=II", _NO_COOKIE, _NO_COOKIE)
            system.send(struct.pack("=IHHII", 16 + len(about), _SOCK_DIAG_BY_FAMILY, _DUMP, 0, 0) + about)
            while not _read_sockets(system.recv(1 << 16), found):
                pass
    return found


def _read_sockets(answer: bytes, found: set[int]) -> bool:
    """Add the inodes of one answer; return True after the last."""
    at = 0
    while at < len(answer):
        size, kind = struct.unpack_from("=IH", answer, at)
        if kind == _ERROR:
            raise OSError(-struct.unpack_from("=i", answer, at + 16)[0], "sock_diag")
        if kind == _DONE:
            return True
        found.add(struct.unpack_from("=I", answer, at + 84)[0])
        at += (size + 3) & ~3
    return False
