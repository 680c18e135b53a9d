"""The ledger of all model calls of all sessions: one append-only file of JSON lines for each month.

A line is written as soon as its call is over, so `kill -9` loses none, and any number of processes may write.
Lines hold numbers and names, no text of conversations.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from terp.events import UsageReported
from terp.session.cost.budget import Tally
from terp.text.dataclasses import asdict, dataclass
from terp.text.files import make_private

Key = tuple[str, ...]
_MONTH = "%Y-%m"
_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class UsageEntry:
    """One call: its time in seconds since the epoch, its profile and session, and what it used."""

    time: float
    profile: str
    session: str
    used: UsageReported

    @property
    def day(self) -> str:
        """The day of the call in local time: `2026-11-22`."""
        return time.strftime("%Y-%m-%d", time.localtime(self.time))


class Ledger:
    """The files in `folder`. Months are those of the local calendar."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._month = ""
        self._read = 0
        self._spent: dict[str, float] = {}

    @property
    def month(self) -> str:
        """The current month: `2026-11`."""
        return time.strftime(_MONTH, time.localtime(self._clock()))

    def months(self) -> list[str]:
        """Return the months with a file, the oldest first."""
        return sorted(path.stem for path in self._folder.glob(f"*{_SUFFIX}"))

    def add(self, profile: str, session: str, used: UsageReported) -> None:
        """Append a call.

        Raises:
            OSError: the line cannot be written, or only in part.
        """
        now = self._clock()
        line = json.dumps(
            {"time": round(now, 3), "profile": profile, "session": session, **asdict(used)},
            separators=(",", ":"),
        )
        # A newline comes first: a line that a full disk has cut off spoils no other.
        written = f"\n{line}\n".encode()
        make_private(self._folder)
        path = self._folder / f"{time.strftime(_MONTH, time.localtime(now))}{_SUFFIX}"
        # One write to a file that is open for appending is never mixed with that of another process.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            if os.write(descriptor, written) < len(written):
                raise OSError("there is no room for a whole line")
        finally:
            os.close(descriptor)

    def entries(self, month: str) -> Iterator[UsageEntry]:
        """Yield the calls of a month, without damaged lines.

        Raises:
            OSError: the file of the month cannot be read.
        """
        yield from _entries(self._since(month, 0))

    def spent_usd(self, profile: str) -> float:
        """Return the cost of a profile's calls in this month, without calls of unknown price.

        Each call reads only the lines added since the one before.

        Raises:
            OSError: the file cannot be read.
        """
        if self.month != self._month:
            self._month, self._read, self._spent = self.month, 0, {}
        new = self._since(self._month, self._read)
        # A line without an end is read again once it has one.
        new = new[: new.rfind(b"\n") + 1]
        self._read += len(new)
        for entry in _entries(new):
            self._spent[entry.profile] = self._spent.get(entry.profile, 0.0) + (entry.used.cost_usd or 0.0)
        return self._spent.get(profile, 0.0)

    def _since(self, month: str, start: int) -> bytes:
        try:
            with (self._folder / f"{month}{_SUFFIX}").open("rb") as file:
                file.seek(start)
                return file.read()
        except FileNotFoundError:
            return b""


@dataclass(slots=True)
class LedgerAccount:
    """The account of a session in the ledger, under the profile that it has at that time."""

    ledger: Ledger
    profile: str
    session: str
    _unwritten_usd: float = 0.0

    def note(self, used: UsageReported) -> None:
        """Append a call.

        Raises:
            OSError: the line cannot be written; its cost counts for this session all the same.
        """
        try:
            self.ledger.add(self.profile, self.session, used)
        except OSError:
            self._unwritten_usd += used.cost_usd or 0.0
            raise

    def spent_usd(self) -> float:
        """Return the cost of the profile's calls in this month.

        Raises:
            OSError: the ledger cannot be read.
        """
        return self.ledger.spent_usd(self.profile) + self._unwritten_usd


def tallies(entries: Iterable[UsageEntry], key: Callable[[UsageEntry], Key]) -> dict[Key, Tally]:
    """Return the sums of the calls that share a `key`, in order of the keys."""
    found: dict[Key, Tally] = {}
    for entry in entries:
        found[key(entry)] = found.get(key(entry), Tally()).plus(entry.used)
    return dict(sorted(found.items()))


def _entries(lines: bytes) -> Iterator[UsageEntry]:
    import jiter  # noqa: PLC0415  (writing needs none)

    for line in filter(None, lines.split(b"\n")):
        try:
            entry = _entry(jiter.from_json(line))
        except (LookupError, TypeError, ValueError):
            # The line was cut off, or a newer version has written it.
            continue
        yield entry


def _entry(read: Mapping[str, Any]) -> UsageEntry:
    return UsageEntry(float(read["time"]), str(read["profile"]), str(read["session"]), _used(read))


def _used(read: Mapping[str, Any]) -> UsageReported:
    cost = read["cost_usd"]
    return UsageReported(
        int(read["input_tokens"]),
        int(read["output_tokens"]),
        int(read["cached_tokens"]),
        None if cost is None else float(cost),
        str(read["model"]),
        float(read["seconds"]),
    )
