"""The folder for temporary files that confined code has to itself, and what it leaves there."""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from terp.events.kernel import Kernel
from terp.kernels.jupyter.rundir import RunDir
from terp.kernels.sandbox.policy import Policy

if TYPE_CHECKING:
    from terp.kernels.sandbox.confinement import Confinement

# What programs make there for themselves: `tempfile`, `mktemp`, multiprocessing, R, Java, Go, Node, PyTorch.
_PASSING = re.compile(
    r"\.|tmp[a-z0-9_]{8}(\.|$)|tmp\.|pymp-|Rtmp|hsperfdata_|go-build|node-compile-cache|torchinductor_|pip-|uv-"
)
_MOST_LOOKED_AT, _MOST_NAMED = 1000, 5


class OwnTemporary:
    """One folder for all kernels of a session, made when it is first asked for.

    It outlives a kernel that starts anew, and `close` removes it with all that is in it.
    """

    def __init__(self) -> None:
        self._directory: RunDir | None = None

    def made(self) -> str:
        """Its path."""
        if self._directory is None:
            self._directory = RunDir()
            (self._directory.path / "tmp").mkdir(mode=0o700)
        return os.path.realpath(self._directory.path / "tmp")

    def close(self) -> None:
        """Remove it. Harmless when repeated."""
        directory, self._directory = self._directory, None
        if directory is not None:
            directory.close()


class Leftovers:
    """Finds the files that code leaves in the folder of what holds it back, if anything does."""

    def __init__(self, held: Callable[[], "Confinement | None"]) -> None:
        self._held = held
        self._told: set[str] = set()

    def told(self, kernel: Kernel) -> str:
        """What is there that was not before, and where it should have gone; "" for nothing."""
        held = self._held()
        if held is None or not held.temporary:
            return ""
        new = [name for name in _kept(held.temporary) if name not in self._told]
        self._told.update(new)
        if not new:
            return ""
        more = f" and {len(new) - _MOST_NAMED} more" if len(new) > _MOST_NAMED else ""
        return (
            "In the code's own folder for temporary files, and lost when terp ends: "
            f"{', '.join(new[:_MOST_NAMED])}{more}.{_instead(held.policy_of(kernel.language))}"
        )


def _instead(policy: Policy) -> str:
    return f" What is to stay belongs below {policy.cwd}." if policy.cwd in policy.writable else ""


def _kept(folder: str) -> Iterator[str]:
    """The files there that somebody may want, by their paths below `folder`.

    They have something in them: the places where bubblewrap mounts have not.
    """
    for path in sorted(islice(_below(Path(folder)), _MOST_LOOKED_AT)):
        with suppress(OSError):
            found = path.lstat()
            name = path.relative_to(folder)
            if stat.S_ISREG(found.st_mode) and found.st_size > 0 and not any(map(_PASSING.match, name.parts)):
                yield str(name)


def _below(folder: Path) -> Iterator[Path]:
    # It may never have been made, and the code may close it, and what is in it, to itself.
    with suppress(OSError):
        for path in folder.iterdir():
            yield path
            if path.is_dir() and not path.is_symlink() and not _PASSING.match(path.name):
                yield from path.rglob("*")
