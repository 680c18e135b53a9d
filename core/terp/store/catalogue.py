"""A catalogue of the stored sessions: find, list, search and remove them."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import jiter

from terp.errors import SessionError, SessionInUse
from terp.events.messages import Assistant, User
from terp.session.artifacts import CHECKPOINTS
from terp.store.forms import Header, title_of
from terp.store.journal import NAME, Lock, holder, in_use
from terp.store.reading import read, read_header
from terp.store.titles import read_title, store_title
from terp.text.dataclasses import dataclass

_DAY_S = 24 * 3600.0
_MONTH_S = 30 * _DAY_S
_CHANGE = re.compile(rb'^\{"history":"(user|assistant|result|system|cut|all)".*\n', re.MULTILINE)
_AROUND = 60


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One session in a list. `used` is when it last grew, in seconds since the epoch."""

    id: str
    folder: Path
    cwd: str
    title: str
    turns: int
    started: float
    used: float
    model: str
    forked_from: str = ""
    open: bool = False


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A session that contains all searched words, and the line with the first of them."""

    entry: SessionEntry
    line: str


@dataclass(frozen=True, slots=True)
class Pruned:
    """The sessions that were removed to make room, and the bytes freed and left."""

    removed: tuple[str, ...]
    freed: int
    left: int


class Catalogue:
    """The sessions below one directory; other entries there are ignored."""

    def __init__(
        self, sessions: Path, work: Path | None = None, *, clear: Callable[[Path], object] = shutil.rmtree
    ) -> None:
        """Use the sessions below `sessions`, and the working directories made for some of them below `work`.

        `clear` deletes the folder of a removed session.
        """
        self._sessions = sessions
        self._work = work
        self._clear = clear
        # What was read of each log, with its size and its time then. A list of many is asked for often.
        self._known: dict[Path, tuple[tuple[int, int], Header | None, _Turns | None]] = {}

    def listed(self, cwd: str = "") -> list[SessionEntry]:
        """Return the sessions of the directory `cwd`, a real path, or of all; the last used comes first."""
        return [self._entry(folder, header, used) for folder, header, used in self._newest(cwd)]

    def last(self, cwd: str) -> Path:
        """Return the session of this directory that was used last.

        Raises:
            SessionError: there is none.
        """
        for folder, _, _ in self._newest(cwd):
            return folder
        raise SessionError(
            f"There is no session of {cwd} to resume.",
            "terp sessions --all lists all.",
        )

    def models(self, most: int = 100) -> list[str]:
        """Return the models of the last `most` sessions, of all directories; the newest first."""
        try:
            # They begin with the day. Nothing but the headers is read, as this is for a line being typed.
            newest = sorted(os.listdir(self._sessions), reverse=True)[:most]  # noqa: PTH208  (no Path for each)
        except OSError:
            return []
        headers = (read_header(self._sessions / name) for name in newest)
        return list(dict.fromkeys(header.model for header in headers if header and header.model))

    def find(self, name: str, cwd: str = "") -> Path:
        """Return the session with this id, or the only one whose id begins so, with or without its date.

        A session of the directory `cwd` takes precedence.

        Raises:
            SessionError: there is none, or more than one.
        """
        for where in dict.fromkeys((cwd, "")):
            found = [folder for folder, _, _ in self._newest(where) if _is_named(folder.name, name)]
            exact = [folder for folder in found if folder.name == name]
            if len(exact or found) == 1:
                return (exact or found)[0]
            if found:
                ids = ", ".join(folder.name for folder in found[:5])
                raise SessionError(
                    f"More than one session begins with '{name}': {ids}.", "Write more of its id."
                )
        raise SessionError(f"There is no session '{name}'.", "terp sessions --all lists them.")

    def search(self, words: Sequence[str], cwd: str = "") -> Iterator[SearchHit]:
        """Yield the sessions whose messages have all words, ignoring case."""
        wanted = [word.lower() for word in words if word]
        if not wanted:
            return
        for folder, header, used in self._newest(cwd):
            if line := _line_with(folder, wanted):
                yield SearchHit(self._entry(folder, header, used), line)

    def rename(self, folder: Path, title: str) -> None:
        """Give a session another title, also while it is open; "" is that of its first prompt again.

        Raises:
            SessionError: it cannot be written.
        """
        try:
            store_title(folder, title)
        except OSError as error:
            raise SessionError(f"The session {folder.name} cannot be renamed: {error.strerror}.") from error

    def remove(self, folder: Path) -> None:
        """Remove a session and all its files, with a working directory that was made for it.

        Raises:
            SessionInUse: a process has it open.
            SessionError: it cannot be removed.
        """
        try:
            self._remove(folder)
        except SessionInUse:
            pid = holder(folder)
            raise SessionInUse(
                f"The session {folder.name} is open (process {pid}), so it was not removed."
            ) from None
        except OSError as error:
            raise SessionError(f"The session {folder.name} cannot be removed: {error.strerror}.") from error

    def prune(self, limit: int, now: float | None = None) -> Pruned:
        """Remove the sessions that were not used for longest until all take `limit` bytes or less.

        An open session stays, and so does a folder without a log that is younger than a day. Checkpoints do
        not count, and are removed when their session was not used for a month.
        """
        now = time.time() if now is None else now
        for folder in self._folders():
            if (folder / CHECKPOINTS).is_dir() and _last_use(folder) < now - _MONTH_S and not in_use(folder):
                shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
        sizes = {folder: sum(map(_size, self._all_of(folder))) for folder in self._folders()}
        total = left = sum(sizes.values())
        removed: list[str] = []
        for folder in sorted(sizes, key=_last_use):
            if left <= limit:
                break
            young = not (folder / NAME).is_file() and _last_use(folder) > now - _DAY_S
            if young or in_use(folder):
                continue
            with suppress(SessionInUse, OSError):
                self._remove(folder)
            if not folder.exists():
                left -= sizes[folder]
                removed.append(folder.name)
        return Pruned(tuple(removed), total - left, left)

    def _remove(self, folder: Path) -> None:
        # Who opens the session meanwhile waits for the lock, and then finds none. The lock is let go
        # before its file: one that is open cannot be removed from every file system.
        lock = Lock(folder)
        try:
            (folder / NAME).unlink(missing_ok=True)
        finally:
            lock.release()
        for path in self._all_of(folder):
            self._clear(path)

    def _all_of(self, folder: Path) -> list[Path]:
        """Return the folder of a session, and before it the working directory made for it, if any."""
        made = self._work / folder.name if self._work else None
        return [made, folder] if made is not None and made.is_dir() and not made.is_symlink() else [folder]

    def _folders(self) -> list[Path]:
        try:
            with os.scandir(self._sessions) as found:
                return [Path(one.path) for one in found if one.is_dir(follow_symlinks=False)]
        except OSError:
            return []

    def _newest(self, cwd: str) -> Iterator[tuple[Path, Header, float]]:
        logs = []
        for folder in self._folders():
            with suppress(OSError):
                stat = os.stat(f"{folder}/{NAME}")  # noqa: PTH116  (there may be thousands)
                logs.append((stat.st_mtime, folder, (stat.st_size, stat.st_mtime_ns)))
        self._known = {folder: self._known[folder] for _, folder, _ in logs if folder in self._known}
        for used, folder, stamp in sorted(logs, reverse=True):
            if folder not in self._known or self._known[folder][0] != stamp:
                self._known[folder] = stamp, read_header(folder), None
            header = self._known[folder][1]
            if header is not None and cwd in ("", header.cwd):
                yield folder, header, used

    def _entry(self, folder: Path, header: Header, used: float) -> SessionEntry:
        # Another thread may list them, too.
        stamp, _, turns = self._known.get(folder, ((0, 0), header, None))
        if turns is None:
            turns = _turns(folder)
            self._known[folder] = stamp, header, turns
        count, first, was_reset = turns
        return SessionEntry(
            folder.name,
            folder,
            header.cwd,
            read_title(folder) or (first if was_reset else header.title or first),
            count,
            header.started,
            used,
            header.model,
            header.forked_from,
            in_use(folder),
        )


def _is_named(id: str, name: str) -> bool:  # noqa: A002  # what it is
    # After the date, "2025-11-21-".
    return id.startswith(name) or (bool(name) and id[11:].startswith(name))


_Turns = tuple[int, str, bool]


def _turns(folder: Path) -> _Turns:
    """Return the number of turns of the conversation, and the first line of its first prompt.

    The last is True if the conversation was reset before. The messages are not decoded.
    """
    count, turns, first, was_reset = 0, list[int](), "", False
    try:
        content = (folder / NAME).read_bytes()
    except OSError:
        return 0, "", False
    for change in _CHANGE.finditer(content):
        kind = change[1]
        if kind == b"cut":
            count = _parsed(change[0]).get("left", 0)
            turns = [at for at in turns if at < count]
        elif kind == b"all":
            line = _parsed(change[0])
            count = len(line.get("messages", ()))
            turns = [turn["at"] for turn in line.get("turns", ())]
            if not count:
                first, was_reset = "", True
        else:
            if kind == b"user":
                turns.append(count)
                first = first or title_of(_parsed(change[0]).get("text", ""))
            count += 1
    return len(turns), first, was_reset


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        parsed = jiter.from_json(line)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _line_with(folder: Path, words: Sequence[str]) -> str:
    """Return the line around the first word if the messages have all of them; else ""."""
    try:
        content = (folder / NAME).read_text(encoding="utf-8", errors="replace").lower()
        # Most sessions are passed over without being read as such.
        if not all(word in content or not (word.isascii() and word.isalnum()) for word in words):
            return ""
        history = read(folder).history
    except (OSError, SessionError):
        return ""
    # Compacted messages count as well.
    messages = [*(history.snapshot.messages if history.snapshot else ()), *history]
    texts = [message.text for message in messages if isinstance(message, User | Assistant)]
    said = "\n".join(texts).lower()
    if not all(word in said for word in words):
        return ""
    text = next((text for text in texts if words[0] in text.lower()), "")
    at = max(0, text.lower().find(words[0]))
    return " ".join(text[max(0, at - _AROUND) : at + _AROUND].split())


def _last_use(folder: Path) -> float:
    for path in (folder / NAME, folder):
        try:
            return path.stat().st_mtime
        except OSError:
            continue
    return 0.0


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        if CHECKPOINTS in path.relative_to(folder).parts[:1]:
            continue
        try:
            total += path.lstat().st_size
        except OSError:
            continue
    return total
