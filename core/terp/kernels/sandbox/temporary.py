"""The folder for temporary files of code in a sandbox, and reports of files left there."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from terp.events.kernel import Kernel
from terp.kernels.jupyter.rundir import RunDir
from terp.kernels.sandbox.policy import Policy
from terp.text.wording import first_names

if TYPE_CHECKING:
    from terp.kernels.sandbox.confinement import Confinement

# Files that programs create for themselves: `tempfile`, `mktemp`, multiprocessing, R, Java, Go, Node, torch.
_PASSING = re.compile(
    r"\.|tmp[a-z0-9_]{8}(\.|$)|tmp\.|pymp-|Rtmp|hsperfdata_|go-build|node-compile-cache|torchinductor_|pip-|uv-"
)
_MOST_LOOKED_AT, _MOST_NAMED = 1000, 5


class OwnTemporary:
    """One folder for all kernels of a session, created on first use.

    It outlives restarts of kernels; `close` removes it with its content.
    """

    def __init__(self) -> None:
        self._directory: RunDir | None = None

    def made(self) -> str:
        """Return its path, creating the folder on first use."""
        if self._directory is None:
            self._directory = RunDir()
            (self._directory.path / "tmp").mkdir(mode=0o700)
        return os.path.realpath(self._directory.path / "tmp")

    def close(self) -> None:
        """Remove the folder. Harmless if repeated."""
        directory, self._directory = self._directory, None
        if directory is not None:
            directory.close()


class Leftovers:
    """Reports files that code leaves in a sandbox's folder for temporary files."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def message(self, confinement: "Confinement", kernel: Kernel) -> str:
        """Return a message about new files and where to write instead; "" for none."""
        if not confinement.temporary:
            return ""
        new = [name for name in _kept(confinement.temporary) if name not in self._reported]
        self._reported.update(new)
        if not new:
            return ""
        return (
            "In the code's own folder for temporary files, and lost when terp ends: "
            f"{first_names(new, _MOST_NAMED)}.{_instead(confinement.policy_of(kernel.language))}"
        )


def _instead(policy: Policy) -> str:
    return f" Write files to keep below {policy.cwd}." if policy.cwd in policy.writable else ""


def _kept(folder: str) -> Iterator[str]:
    """Yield non-empty files that look like results, by their paths below `folder`.

    Mount points of bubblewrap are empty files.
    """
    for path in sorted(islice(_below(Path(folder)), _MOST_LOOKED_AT)):
        with suppress(OSError):
            found = path.lstat()
            name = path.relative_to(folder)
            if stat.S_ISREG(found.st_mode) and found.st_size > 0 and not any(map(_PASSING.match, name.parts)):
                yield str(name)


def _below(folder: Path) -> Iterator[Path]:
    # It may not exist, and code may have removed read permissions.
    with suppress(OSError):
        for path in folder.iterdir():
            yield path
            if path.is_dir() and not path.is_symlink() and not _PASSING.match(path.name):
                yield from path.rglob("*")
