"""What calls of models have used, over all sessions: files of lines that only grow, one for each month.

A line is written as soon as the call is over, so `kill -9` costs none, and any number of terps write at once.
There are numbers and names in it, and nothing that was said.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from terp.events import UsageReported
from terp.session.cost.budget import Tally
from terp.settings.places import make_private

Key = tuple[str, ...]
_MONTH = "%Y-%m"
_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """One call: when, in seconds since the epoch, in which session, for which profile, and what it used."""

    time: float
    profile: str
    session: str
    used: UsageReported

    @property
    def day(self) -> str:
        """The day here on which it was: `2026-11-22`."""
        return time.strftime("%Y-%m-%d", time.localtime(self.time))


class Ledger:
    """The files in `folder`. A month is one of the calendar here, by the time of this machine."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._month = ""
        self._read = 0
        self._spent: dict[str, float] = {}

    @property
    def month(self) -> str:
        """The present one: `2026-11`."""
        return time.strftime(_MONTH, time.localtime(self._clock()))

    def months(self) -> list[str]:
        """Those of which there is anything, the oldest first."""
        return sorted(path.stem for path in self._folder.glob(f"*{_SUFFIX}"))

    def add(self, profile: str, session: str, used: UsageReported) -> None:
        """Note a call.

        Raises:
            OSError: it cannot be written, or not whole.
        """
        now = self._clock()
        line = json.dumps(
            {"time": round(now, 3), "profile": profile, "session": session, **asdict(used)},
            separators=(",", ":"),
        )
        # The end of a line comes first: one that a full disk has cut off spoils no other.
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

    def entries(self, month: str) -> Iterator[Entry]:
        """The calls of a month, without lines that are damaged.

        Raises:
            OSError: its file cannot be read.
        """
        yield from _entries(self._since(month, 0))

    def spent_usd(self, profile: str) -> float:
        """What the calls of a profile have cost in this month, as far as prices were known.

        What was read once is not read again.

        Raises:
            OSError: the file cannot be read.
        """
        if self.month != self._month:
            self._month, self._read, self._spent = self.month, 0, {}
        new = self._since(self._month, self._read)
        # What has no end yet is read again with it.
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
class Account:
    """What a session notes in the ledger, for the profile that it has at that time."""

    ledger: Ledger
    profile: str
    session: str
    _unwritten_usd: float = 0.0

    def note(self, used: UsageReported) -> None:
        """Note a call.

        Raises:
            OSError: it cannot be written; it counts for this session all the same.
        """
        try:
            self.ledger.add(self.profile, self.session, used)
        except OSError:
            self._unwritten_usd += used.cost_usd or 0.0
            raise

    def spent_usd(self) -> float:
        """What the profile's calls have cost in this month.

        Raises:
            OSError: the ledger cannot be read.
        """
        return self.ledger.spent_usd(self.profile) + self._unwritten_usd


def tallies(entries: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, Tally]:
    """What all calls have used for which `key` is the same, in order of the keys."""
    found: dict[Key, Tally] = {}
    for entry in entries:
        found[key(entry)] = found.get(key(entry), Tally()).plus(entry.used)
    return dict(sorted(found.items()))


def _entries(lines: bytes) -> Iterator[Entry]:
    import jiter  # noqa: PLC0415  (to write needs none)

    for line in filter(None, lines.split(b"\n")):
        try:
            entry = _entry(jiter.from_json(line))
        except (LookupError, TypeError, ValueError):
            # It was cut off, or a newer terp has written it.
            continue
        yield entry


def _entry(read: Mapping[str, Any]) -> Entry:
    return Entry(float(read["time"]), str(read["profile"]), str(read["session"]), _used(read))


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
