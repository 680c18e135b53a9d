"""A record of tiers that passed their test, so that each start need not repeat it (50 ms).

It holds digests of all that a result depends on: this boot, the kernel and its settings, the rights of this
process, the tier's program, Python and terp's own files. Only successes are recorded. Whatever cannot be read
leads to another test. Code in the sandbox cannot write the record: it lies in terp's hidden folder.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from terp import __version__
from terp.text.files import content_of, replace_private

_DIGEST_CHARS, _MOST = 64, 16
# Settings of Linux that open and close namespaces; a distribution has some of them.
_SETTINGS = (
    "kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/apparmor_restrict_unprivileged_unconfined", "user/max_user_namespaces", "user/max_net_namespaces",
)  # fmt: skip
_RIGHTS = ("Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "CapEff", "CapPrm", "CapBnd")


def unless_recorded(record: Path | None, about: str, program: str, test: Callable[[], str]) -> str:
    """Return "" if `record` has a success of this test as things are, else the result of `test()`.

    A failure is tested again: a socket that the sandbox hides may have vanished while it was set up.
    `about` names the test; `program` is the path of the tier's program, or "".
    """
    digest = _digest(about, program) if record is not None else ""
    if record is not None and digest and digest in _digests(record):
        return ""
    failure = test() and test()
    if record is not None and digest and not failure:
        with suppress(OSError):
            replace_private(record, "\n".join([*_digests(record), digest][-_MOST:]) + "\n")
    return failure


def _digest(about: str, program: str) -> str:
    """Return the digest of all that a result depends on; "" if some of it is unknown."""
    try:
        facts = [about, __version__, sys.version, tempfile.gettempdir(), *os.uname(), *_of_linux()]
        own = map(str, sorted(Path(__file__).parent.rglob("*.py")))
        files = [sys.executable, *([program] if program else []), *own]
        states = [(os.path.realpath(file), os.stat(file)) for file in files]  # noqa: PTH116
    except (OSError, ValueError):
        return ""
    facts += [repr((path, *found[:7], found.st_mtime_ns, found.st_ctime_ns)) for path, found in states]
    return hashlib.sha256("\0".join(facts).encode(errors="surrogateescape")).hexdigest()


def _of_linux() -> Iterator[str]:
    """Yield the facts about this boot and this process.

    Raises:
        OSError: this is no Linux, or /proc is not there.
    """
    yield Path("/proc/sys/kernel/random/boot_id").read_text()
    for name in ("user", "mnt", "pid", "net", "cgroup"):
        yield os.readlink(f"/proc/self/ns/{name}")  # noqa: PTH115
    lines = Path("/proc/self/status").read_text().splitlines()
    yield from (line for line in lines if line.partition(":")[0] in _RIGHTS)
    # A system without one of these has no such rule.
    for path in (*(f"/proc/sys/{name}" for name in _SETTINGS), "/proc/self/attr/current"):
        try:
            yield Path(path).read_text()
        except OSError as error:
            yield str(error.errno)


def _digests(record: Path) -> list[str]:
    """Return the recorded digests; none if another user, or a link, could have written them."""
    try:
        found = record.lstat()
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            return []
        return content_of(record, _MOST * (_DIGEST_CHARS + 1)).decode(errors="replace").split()
    except OSError:
        return []
