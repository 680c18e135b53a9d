"""Files of terp's own in folders where code can write: what lies at their paths may be a trap by then.

A link there would lead terp, which nothing confines, to where the code itself cannot go; a pipe would keep
it waiting.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path


def made_anew(path: Path) -> int:
    """A descriptor of a new file for writing, in the place of whatever was there.

    Raises:
        OSError: it cannot be made, or somebody is putting something else there.
    """
    with suppress(FileNotFoundError):
        path.unlink()
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def content_of(path: Path, largest: int) -> bytes:
    """What an ordinary file holds, no more than `largest` bytes of it.

    Raises:
        OSError: it cannot be read, or is a link or no ordinary file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        return file.read(largest)
