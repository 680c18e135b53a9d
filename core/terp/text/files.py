"""Private folders, and safe access to files that other programs may have placed there.

Where code can write, a link could lead terp, which is in no sandbox, to places that are closed to the code;
a pipe would block it, and opening a device may have effects.
"""

import errno
import hashlib
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

_PIECE = 1 << 20


def new_file(path: Path) -> int:
    """Return a descriptor for writing a new file, which replaces any file at the path.

    Raises:
        OSError: it cannot be created, or another program keeps creating a file there.
    """
    with suppress(FileNotFoundError):
        path.unlink()
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def write_whole(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a file in place of the one at the path; a reader finds one of the two, complete.

    Raises:
        OSError: it cannot be written; the former file stays.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with os.fdopen(new_file(new), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(mode)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def content_of(path: Path | str, largest: int, *, folder: int | None = None) -> bytes:
    """Return the content of an ordinary file, no more than `largest` bytes of it.

    A relative path begins at the open `folder`, if there is one.

    Raises:
        OSError: it cannot be read, or is a link or no ordinary file.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(path, flags, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        return file.read(largest)


class Refused(Exception):
    """A file is not read; the message is the reason, to follow its name."""


def read_bounded(path: Path, largest: int) -> bytes:
    """Return the content of an ordinary file of at most `largest` bytes.

    Raises:
        Refused: it is no such file, or it cannot be read.
    """
    descriptor = _opened(path)
    with os.fdopen(descriptor, "rb") as file:
        try:
            content = file.read(largest + 1)
        except OSError as error:
            raise Refused(f"cannot be read: {error.strerror}") from error
    if len(content) > largest:
        raise Refused(f"is larger than {largest // 1024} KB")
    return content


def digest_of(path: Path, largest: int) -> str:
    """Return the SHA-256 of an ordinary file, which may be large but not larger than `largest` bytes.

    Raises:
        Refused: it is no such file, or it cannot be read.
    """
    digest, left = hashlib.sha256(), largest
    with os.fdopen(_opened(path), "rb") as file:
        while piece := file.read(min(_PIECE, left + 1)):
            left -= len(piece)
            if left < 0:
                raise Refused(f"is larger than {largest >> 20} MB")
            digest.update(piece)
    return digest.hexdigest()


def _opened(path: Path) -> int:
    """Return a descriptor of an ordinary file; opening a pipe would block, and a device may have effects."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Refused("is no ordinary file")
        # What lies there may be another one by now.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise Refused("is no ordinary file")


def make_private(directory: Path) -> Path:
    """Create a directory and its missing parents, readable only by the owner; return it."""
    if not directory.is_dir():
        make_private(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)
    return directory


def replace_private(path: Path, text: str) -> None:
    """Replace a file by one with this text, in one step; only the owner can read it.

    Raises:
        OSError: it cannot be written.
    """
    make_private(path.parent)
    write_whole(path, text.encode())


_UNITS = ("bytes", "kB", "MB", "GB")


def size_text(size: float) -> str:
    """Format a number of bytes with its unit: `9.4 MB`."""
    if size == 1:
        return "1 byte"
    for unit in _UNITS[:-1]:
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} {_UNITS[-1]}"
