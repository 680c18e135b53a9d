"""Decisions of the user about projects, in a file that only they can read."""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, get_args

from terp.errors import TerpError
from terp.text.dataclasses import asdict, dataclass
from terp.text.files import make_private, replace_private

Answer = Literal["yes", "no"]
# A person goes back and forth between the branches of a project; old states are forgotten.
_STATES_OF_ONE = 32


class DecisionsUnreadable(TerpError):
    """The file of decisions is damaged; the message names it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer about the folder at the real path `root` in the state that `digest` names."""

    root: str
    digest: str
    answer: Answer


class Decisions:
    """The decisions in `file`. If it cannot be read, there are none, and no project is trusted."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def problem(self) -> str:
        """A line about a damaged file; "" if it is valid."""
        try:
            self._all()
        except DecisionsUnreadable as error:
            return f"{error.message} {error.remedy}"
        return ""

    def listed(self) -> Sequence[Decision]:
        """Return all of them, the oldest first; of a file that cannot be read none."""
        with suppress(DecisionsUnreadable):
            return self._all()
        return ()

    def about(self, root: str, digest: str) -> Answer | None:
        """Return the answer about this state of a folder; None without one."""
        found = [one.answer for one in self.listed() if (one.root, one.digest) == (root, digest)]
        return found[-1] if found else None

    def keep(self, decision: Decision) -> None:
        """Remember a decision in place of an earlier one about the same state.

        Raises:
            DecisionsUnreadable: the file is damaged; it is not changed.
            OSError: it cannot be written.
        """
        with self._locked():
            same = (decision.root, decision.digest)
            others = [one for one in self._all() if (one.root, one.digest) != same]
            of_it = [one for one in others if one.root == decision.root]
            dropped = set(of_it[: max(0, len(of_it) + 1 - _STATES_OF_ONE)])
            self._write([*(one for one in others if one not in dropped), decision])

    def forget(self, root: str) -> bool:
        """Delete the decisions about a folder. Return True if there were any.

        Raises:
            DecisionsUnreadable: the file is damaged; it is not changed.
            OSError: it cannot be written.
        """
        with self._locked():
            known = self._all()
            kept = [one for one in known if one.root != root]
            if len(kept) < len(known):
                self._write(kept)
            return len(kept) < len(known)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the file, so that one process at a time reads and replaces it."""
        make_private(self._file.parent)
        lock = os.open(
            self._file.with_name(f"{self._file.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            # A file system without locks must not keep anybody from working.
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _all(self) -> list[Decision]:
        try:
            stored = json.loads(self._file.read_text(encoding="utf-8"))
            return [_decision(entry) for entry in stored["decisions"]]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unreadable(f"cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._unreadable("was not written by terp") from error

    def _unreadable(self, why: str) -> DecisionsUnreadable:
        return DecisionsUnreadable(f"{self._file} {why}: no project is trusted.", "Remove the file.")

    def _write(self, decisions: Sequence[Decision]) -> None:
        text = json.dumps({"version": 1, "decisions": [asdict(one) for one in decisions]}, indent=1)
        replace_private(self._file, text + "\n")


def _decision(entry: dict[str, Any]) -> Decision:
    decision = Decision(entry["root"], entry["digest"], entry["answer"])
    texts = isinstance(decision.root, str) and isinstance(decision.digest, str)
    if not texts or decision.answer not in get_args(Answer):
        raise ValueError(entry)
    return decision
