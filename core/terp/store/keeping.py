"""Storing a session while it runs."""

import asyncio
import errno
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terp.errors import SessionError, SessionInUse
from terp.events import (
    CodeDelta,
    CodeStarted,
    Event,
    ModelRetrying,
    Noticed,
    ReasoningDelta,
    SessionResumed,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp.events.log import Record
from terp.events.messages import Assistant
from terp.secrets.redactor import StreamRedactor
from terp.session.context.history import Appended, Change
from terp.session.keeping import LineStore
from terp.store.folders import fork
from terp.store.forms import Header, change_to_json, event_to_json, header_to_json, title_of
from terp.store.journal import NAME, Journal

if TYPE_CHECKING:
    from terp.secrets.redactor import Redactor
    from terp.store.reading import StoredLog, StoredRecords


class Keeper:
    """Stores one session in a folder from its first turn on; without a turn nothing is written.

    A resumed session is written from its first turn, or the first change of its conversation, on.

    A line is written before anyone sees its event, but for the end of a text in which a secret may have
    begun (`StreamRedactor`). When the disk is full, the session continues in memory, with a notice.
    """

    def __init__(
        self,
        folder: Path,
        header: Header,
        redactor: "Callable[[], Redactor]",
        *,
        stored: "StoredLog | None" = None,
        journal: LineStore | None = None,
    ) -> None:
        """Store a new session in `folder`, or in `journal`; `resumed` is for a stored one.

        `redactor` is called when a line is written.
        """
        self.folder = folder
        self.stored = stored
        self._header = header
        self._redacting = redactor
        self._stream = StreamRedactor(redactor)
        self._journal = journal
        self._begun = False
        # What is changed before that is what resuming changes.
        self._resumed = False
        self._failed = stored is not None and journal is None
        self._waiting: list[bytes] = []
        self._notice: Callable[[Event], object] = lambda _: None
        # Pieces of text and reasoning are not written: the message that they become is. These are the
        # numbers of the last ones, under which they can be shown again.
        self._pieces = {"text": 0, "reasoning": 0}
        # Values that stand in its text in place of references: number, reference and value.
        self._values: list[tuple[int, str, str]] = []

    @property
    def note_word(self) -> str:
        """The word that marks terp's notes to the model in this session."""
        return self._header.note_word

    def begin(self, notice: Callable[[Event], object], model: str) -> None:
        """Begin with this model; failures are logged with `notice`."""
        self._notice = notice
        self._header = replace(self._header, model=model)

    def event(self, record: Record) -> None:
        """Store an event of the session's log."""
        match record.event:
            case TextDelta(text=text, reference=reference):
                self._pieces["text"] = record.number
                self._values += [(record.number, reference, text)] if reference else []
                return
            case ReasoningDelta():
                self._pieces["reasoning"] = record.number
                return
            case CodeDelta():
                return
            case ModelRetrying():
                self._pieces = {"text": 0, "reasoning": 0}
                self._values = []
            case TurnStarted(prompt=prompt):
                self._begin(prompt)
            case CodeStarted():
                self._begin("")
            case SessionResumed():
                self._resumed = True
        for one in self._stream.passed(record):
            self._write(event_to_json(one))
        if isinstance(record.event, TurnFinished):
            self._sync_soon()

    def change(self, change: Change) -> None:
        """Store a change of the session's messages."""
        if self._resumed:
            self._begin("")
        line = change_to_json(change)
        if isinstance(change, Appended) and isinstance(change.message, Assistant):
            line |= {"time": round(time.time(), 6), "numbers": self._pieces}
            line |= {"values": self._values} if self._values else {}
            self._pieces, self._values = {"text": 0, "reasoning": 0}, []
        self._write(line)

    def earlier(self, last: int) -> "StoredRecords | None":
        """Return the stored events up to record `last`; None if they are in no file, or not all in it."""
        from terp.store.reading import StoredRecords  # noqa: PLC0415  (for a long session)

        if self._failed or not isinstance(self._journal, Journal):
            return None
        return StoredRecords.of(self.folder, last)

    def as_kept(self, text: str) -> str:
        """Return a text as it is stored: without secrets."""
        return self._redacting().redacted(text)

    def copy(self) -> str:
        """Copy the session as it is stored, and return the id of the copy.

        Raises:
            SessionError: nothing is kept, or it cannot be copied.
        """
        if self._failed:
            raise SessionError("This session is not stored, so there is nothing to fork.")
        if not (self._begun or self.stored):
            raise SessionError("There is nothing to fork yet.")
        # A session that was resumed may have changed without a turn since.
        self._begin("")
        self._release()
        self._flush()
        return fork(self.folder)

    def close(self) -> None:
        """Flush to the disk and let others open the session. Harmless when called twice."""
        self._release()
        if error := self._end():
            self._report(error)

    def _begin(self, prompt: str) -> None:
        if self._begun or self._failed:
            return
        self._begun = True
        if self.stored:
            return
        title = title_of(self.as_kept(prompt))
        header = {**header_to_json(self._header), "title": title}
        self._waiting.insert(0, _encoded(header))
        try:
            self._journal = self._journal or Journal(self.folder, new=True)
        except SessionInUse:
            self._fail(OSError(errno.EBUSY, "another terp stores a session there"))
        except OSError as error:
            self._fail(error)

    def _release(self) -> None:
        for record in self._stream.rest():
            self._write(event_to_json(record))

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._failed:
            return
        try:
            written = _encoded(self._redacting().redacted_fields(line))
        except RecursionError:
            self._notice(Noticed("An output of this session is not stored: it is nested too deeply."))
            return
        self._waiting.append(written)
        if self._begun:
            self._flush()

    def _flush(self) -> None:
        if self._journal is None or not self._waiting:
            return
        lines, self._waiting = b"".join(self._waiting), []
        try:
            self._journal.append(lines)
        except OSError as error:
            self._fail(error)

    def _sync_soon(self) -> None:
        """Flush the turn to the disk without blocking the event loop."""
        if self._journal is None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._sync(self._journal)
        else:
            loop.run_in_executor(None, self._sync, self._journal).add_done_callback(self._synced)

    @staticmethod
    def _sync(journal: LineStore) -> OSError | None:
        try:
            journal.sync()
        except OSError as error:
            return error
        return None

    def _synced(self, future: asyncio.Future[OSError | None]) -> None:
        if not future.cancelled() and (error := future.result()) is not None:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        if not self._failed:
            # A failure to close it as well needs no second notice.
            self._end()
            self._waiting.clear()
            self._report(error)

    def _end(self) -> OSError | None:
        """Stop writing, and let others open the session."""
        journal, self._journal = self._journal, None
        self._failed = True
        try:
            if journal is not None:
                journal.close()
        except OSError as error:
            return error
        return None

    def _report(self, error: OSError) -> None:
        why = error.strerror or str(error)
        self._notice(
            Noticed(
                f"This session is not stored any further: {why} ({self.folder}).",
                "It continues in memory.",
            )
        )


def resumed(folder: Path, redactor: "Callable[[], Redactor]") -> Keeper:
    """Return the keeper of the session stored in `folder`, which it has read.

    If nothing can be written, the session continues in memory, with a notice.

    Raises:
        SessionInUse: another process has the session open.
        SessionError: there is no such session, or nothing of it can be read.
    """
    from terp.store.reading import read  # noqa: PLC0415  (a new session has nothing to read)

    try:
        journal = Journal(folder) if (folder / NAME).is_file() else None
        problem = ""
    except OSError as error:
        journal, problem = None, error.strerror or str(error)
    try:
        stored = read(folder)
    except BaseException:
        if journal is not None:
            journal.close()
        raise
    if journal is not None:
        journal.go_on_at(stored.end)
    else:
        stored.notices = (*stored.notices, f"Further events are not stored: {problem} ({folder}).")
    return Keeper(folder, stored.header, redactor, stored=stored, journal=journal)


def _encoded(line: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str)
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        # Half of a surrogate pair has a form in JSON, but none in UTF-8.
        return json.dumps(line, separators=(",", ":"), default=str).encode() + b"\n"
