"""What a check's process tells beside its output: by a file, and with a word that was given to it alone."""

import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terp.checks.until.inside.channel import VARIABLE
from terp.settings.project.bounded import Refused, read_bounded

_LARGEST = 1 << 20
_NUMBERS = ("status", "collected", "ended", "passed", "failed")
_LISTS = ("skipped", "files", "broken", "by", "loaded")


@dataclass(frozen=True, slots=True)
class Tests:
    """The tests of one session of pytest; `files` have them, and those that are `skipped_by` skipped some.

    Code in the files `by` has judged them, and modules of the project were `loaded` beside it. The names that
    are `broken` stood for something else in the end.
    """

    status: int
    collected: int
    ended: int
    passed: int
    failed: int
    skipped_by: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()


class Channel:
    """A folder in which one process may say what it found, and the programs by which it does.

    Those have a name that no project can have prepared for. Files that are `left_out` have no tests for it.
    """

    def __init__(self, folder: Path, left_out: Sequence[str] = ()) -> None:
        self._folder = folder
        self._word = secrets.token_hex(16)
        self.package = f"terp_{secrets.token_hex(8)}"
        folder.mkdir()
        shutil.copytree(
            Path(__file__).with_name("inside"),
            folder / self.package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (folder / "word").write_text(self._word)
        (folder / "left_out").write_text(json.dumps(left_out))

    @property
    def variables(self) -> Mapping[str, str]:
        """What the environment of the process must have, the folder of programs first in its `PYTHONPATH`."""
        return {VARIABLE: str(self._folder), "PYTHONPATH": str(self._folder)}

    def facts(self) -> Mapping[str, Any] | None:
        """What the process has told; None when it did not come to that, or another has written there."""
        try:
            told = json.loads(read_bounded(self._folder / "report", _LARGEST))
        except (Refused, ValueError, RecursionError):
            return None
        return told if isinstance(told, dict) and told.get("word") == self._word else None


def tests_in(facts: Mapping[str, Any] | None, copy: Path, root: Path) -> Tests | None:
    """The tests that a process has told of, which ran in a `copy` of the project at `root`."""
    if facts is None:
        return None
    numbers = [facts.get(name) for name in _NUMBERS]
    lists = [facts.get(name) for name in _LISTS]
    if not all(type(number) is int for number in numbers) or not all(isinstance(one, list) for one in lists):
        return None
    status, collected, ended, passed, failed = (int(number or 0) for number in numbers)
    here = (tuple(str(path).replace(str(copy), str(root)) for path in paths or ()) for paths in lists)
    return Tests(status, collected, ended, passed, failed, *here)
