"""The file of a recording: one JSON object on a line for each call of the model, in their order.

    {"request": {"model": …, "messages": […], "tools": […], "sampling": {…}}, "reply": […], "usage": {…}}

`reply` is described in `recorded_reply`, `request` in `recorded_request`. What is taken out of a request
matches anything; a request of null answers by its turn only (mode "sequence"). `"too_long": true` stands in
place of a reply where the model could not read a request of that length, so that what is done about it is
done again. `"skip": true` takes an entry out, `"pin": true` lets it answer every time.
Blank lines, and lines that begin with `#` or `//`, are ignored. The file is made to be edited by hand.
"""

import errno
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terp.errors import ContextFull, SettingsError
from terp.events.messages import Message
from terp.events.model import Chunk
from terp.models.recording.recorded_reply import BadReply, reply_from_json

_FIELDS = {"request", "reply", "usage", "finish", "extras", "too_long", "pin", "skip"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One call of a recording; `line` is where it stands in the file, from 1."""

    line: int
    request: Mapping[str, Any] | None
    fields: Mapping[str, Any]

    @property
    def _was_too_long(self) -> bool:
        return self.fields.get("too_long") is True

    def check(self) -> None:
        """Return when it can answer.

        Raises:
            ValueError: its reply is none.
        """
        if not self._was_too_long:
            self.chunks()

    @property
    def is_pinned(self) -> bool:
        """Whether it answers every time instead of once."""
        return bool(self.fields.get("pin"))

    def chunks(self, messages: Sequence[Message] = ()) -> list[Chunk]:
        """Its reply, as the answer to `messages`.

        Raises:
            ContextFull: the request was too long for the model.
        """
        if self._was_too_long:
            raise ContextFull(
                f"The recording has it that this was too long for the model (line {self.line})."
            )
        return reply_from_json(self.fields, messages)


class Recording:
    """The file of a recording."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def entries(self) -> list[Entry]:
        """All entries that are not skipped.

        Raises:
            SettingsError: the file cannot be read, or lines of it are broken; says which, and how.
        """
        try:
            lines = self.path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError([f"{self.path}: cannot be read as a recording: {error}"]) from error
        entries, problems = [], []
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.lstrip().startswith(("#", "//")):
                continue
            try:
                entries.append(_entry(number, line))
            except ValueError as error:
                problems.append(f"{self.path}:{number}: {error}")
        if problems:
            raise SettingsError(problems)
        return [entry for entry in entries if not entry.fields.get("skip")]

    def append(self, fields: Mapping[str, Any]) -> None:
        """Add an entry as one line with one write, so that recordings made at once do not mix.

        Raises:
            SettingsError: the file cannot be written.
        """
        self._write(json.dumps(fields, ensure_ascii=False).encode(errors="replace") + b"\n")

    def make_sure_it_can_be_written(self) -> None:
        """Create the file if it is missing, for its owner alone.

        Raises:
            SettingsError: the file cannot be written.
        """
        self._write(b"")

    def _write(self, line: bytes) -> None:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(file).st_size
                if line and size and os.pread(file, 1, size - 1) != b"\n":
                    line = b"\n" + line
                if os.write(file, line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            finally:
                os.close(file)
        except OSError as error:
            raise SettingsError([f"{self.path}: cannot be written: {error.strerror}"]) from error


def _entry(number: int, line: str) -> Entry:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at column {error.colno}.") from error
    if not isinstance(fields, dict):
        raise BadReply("must be a JSON object with `request` and `reply`.")
    if unknown := fields.keys() - _FIELDS:
        raise BadReply(f"unknown field `{min(unknown)}`; an entry has {', '.join(sorted(_FIELDS))}.")
    request = fields.get("request")
    if not isinstance(request, dict | None):
        raise BadReply("`request` must be an object or null.")
    entry = Entry(number, request, fields)
    entry.check()
    return entry
