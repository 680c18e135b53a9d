"""The text and pictures that the model reads of a run, and of events between runs."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from terp.events import KernelChanged, KernelState, LateOutput
from terp.events.changes import delta_line, file_name, stopped_line
from terp.events.error_text import hint, readable
from terp.events.log import EventLog
from terp.events.messages import Image
from terp.events.outputs import (
    Clear,
    Display,
    DisplayUpdate,
    Error,
    FileChange,
    Omitted,
    Output,
    RunEnded,
    Text,
)
from terp.text import pictures
from terp.text.note_mark import NoteMark
from terp.text.plain import HeadTail, Lines, without_escapes
from terp.text.wording import first_names

_SATISFIED = "Requirement already satisfied:"
_BARE = re.compile(r"<IPython\.core\.display\.\w+ object>")
_IMAGES = 4
_IMAGE_BASE64 = 4_000_000
_FILES = 20
_LATE_CHARS = 2_000
# A longer result says how code can read it again.
_LONG = 800


class Observation:
    """Collects the outputs of one run in bounded memory, and returns them as text and images.

    Notes in the text have the `mark`, and output has not.
    """

    def __init__(self, max_chars: int, cwd: str, mark: NoteMark | None = None) -> None:
        self._cwd = cwd
        self._mark = mark = mark or NoteMark()
        self._text = HeadTail(max(200, max_chars), mark)
        self._is_satisfied = False
        self._lines = {"stdout": Lines(), "stderr": Lines()}
        self._clear_next = False
        self._images: list[Image] = []
        self._updates: dict[str, DisplayUpdate] = {}
        self._omitted = 0
        self._remarks: list[str] = []
        self._saved: set[str] = set()

    def add(self, output: Output) -> None:
        """Add the next output."""
        if self._clear_next and not isinstance(output, Clear):
            self._forget()
        match output:
            case Text(stream=stream, text=text):
                self._write(self._lines[stream].feed(text))
            case Display():
                self._displayed(output)
            case DisplayUpdate(display_id=display_id):
                self._updates[display_id] = output
            case Error():
                self._block(self._mark.plain(readable(output, self._cwd)))
                self.remark(hint(output, self._cwd))
            case Clear(wait=True):
                self._clear_next = True
            case Clear():
                self._forget()
            case Omitted(characters=characters):
                self._omitted += characters
            case _:
                pass

    def remark(self, text: str) -> None:
        """Add a sentence of terp for the model, unless it is empty."""
        if text:
            self._remarks.append(text)

    @property
    def images(self) -> tuple[Image, ...]:
        """The last displayed pictures, at most 4."""
        return tuple(self._images[-_IMAGES:])

    @property
    def so_far(self) -> str:
        """The text so far, in whole lines; "" for none."""
        return self._text.text().rstrip("\n")

    def text(self, ended: RunEnded, full_output: str = "", cwd: str = "") -> str:
        """Return the text of the run, once it has ended; never empty.

        `full_output` is the path of the full text output, `cwd` the kernel's directory after the run. Of a
        display that was updated only the last state counts: a progress bar is one line, not a thousand.
        """
        self._rest()
        for update in self._updates.values():
            self._block(described(update, self._mark))
        self._updates.clear()
        where = f'{ended.recall}.text has all, {ended.recall}.grep("…") searches it' if full_output else ""
        said = [self._text.text(where if ended.recall else "").rstrip("\n")]
        if self._text.empty:
            said = [self._mark.sentence(self._mark.plain(_silence(ended)))]
        notes = []
        if self._omitted:
            notes.append(f"… {self._omitted:,} more characters came and were not kept …")
        if not self._text.empty and ended.hidden_value is not None and ended.hidden_value != "None":
            notes.append(f"the last expression, silenced with ';', is {ended.hidden_value}")
        notes += self._remarks
        files = tuple(change for change in ended.files if change.path not in self._saved)
        notes += _endings(replace(ended, files=files), cwd or self._cwd)
        if full_output and len(said[0]) > _LONG:
            # Results that are shortened later (`terp.session.context.request`) keep their end.
            notes.append(f"this output stays in {ended.recall or full_output}")
        # Names of files, variables and columns are output, too.
        return "\n".join([*said, *(self._mark.note(self._mark.plain(note)) for note in notes)])

    def _write(self, text: str) -> None:
        if _SATISFIED in text:
            text = "".join(filter(self._is_news, text.splitlines(keepends=True)))
        if text:
            self._text.add(self._mark.plain(text))

    def _is_news(self, line: str) -> bool:
        """Return False for pip's "already satisfied" lines, except the first (the requested package)."""
        satisfied = line.startswith(_SATISFIED)
        known, self._is_satisfied = self._is_satisfied, self._is_satisfied or satisfied
        return not (satisfied and known)

    def _rest(self) -> None:
        for lines in self._lines.values():
            if rest := lines.rest():
                self._write(rest + "\n")

    def _block(self, text: str) -> None:
        self._rest()
        self._text.add(text.rstrip("\n") + "\n")

    def _displayed(self, display: Display) -> None:
        """Add a display; a figure that the code has also saved gets the path of that file."""
        if saved := pictures.saved_to(display.metadata):
            self._saved.add(saved)
            display = replace(display, path=file_name(saved, self._cwd))
        self._block(described(display, self._mark))
        self._picture(display)

    def _forget(self) -> None:
        self._text.clear()
        self._images.clear()
        self._updates.clear()
        self._lines = {"stdout": Lines(), "stderr": Lines()}
        self._clear_next = False

    def _picture(self, display: Display | DisplayUpdate) -> None:
        for mime in pictures.EXTENSIONS:
            data = display.data.get(mime)
            if isinstance(data, str) and len(data) <= _IMAGE_BASE64:
                self._images.append(Image(mime, data.replace("\n", "")))
                return


class BetweenRuns:
    """Listens to the kernels of a session (`KernelListener`). The next result begins with `note`, once."""

    def __init__(self, log: EventLog, mark: NoteMark | None = None) -> None:
        self.note = ""
        self._log = log
        self._mark = mark = mark or NoteMark()
        self._late = HeadTail(_LATE_CHARS, mark)
        # A word that comes in pieces is taken out, too.
        self._late_lines = Lines()

    def changed(self, language: str, state: KernelState, why: str) -> None:
        """Log that a kernel changed its state."""
        self._log.append(KernelChanged(language, state, why))
        if state == "stopped":
            # It was idle for long, or was replaced. Of a kernel that died its run reports.
            self._add(f"[The {language} kernel was closed: its variables and imports are gone.]")

    def objected(self, what: str, why: str) -> None:
        """Note that the user declined a question with words."""
        self._add(objection(what, why))

    def _add(self, note: str) -> None:
        self.note = f"{self.note}\n{self._mark.noted(note)}".lstrip("\n")

    def late_output(self, run_id: str, output: Output) -> None:
        """Log output of a run that had ended."""
        self._log.append(LateOutput(run_id, output))
        if isinstance(output, Text):
            self._late.add(self._mark.plain(self._late_lines.feed(output.text)))

    def text(self) -> str:
        """Return what the model reads before the next result, or "", and forget it."""
        note, self.note = self._mark.noted(self.note), ""
        before = f"{note}\n" if note else ""
        self._late.add(self._mark.plain(self._late_lines.rest()))
        if self._late.empty:
            return before
        late = self._late.text().rstrip("\n")
        self._late.clear()
        earlier, this = map(self._mark.note, ("an earlier run put out after its end:", "this run:"))
        return f"{before}{earlier}\n{late}\n{this}\n"


def objection(what: str, why: str) -> str:
    """Return the sentence for the model about a question that the user declined with words."""
    return f'[The user was asked "{what.strip().splitlines()[0]}" and did not agree, but wrote: {why}]'


def _silence(ended: RunEnded) -> str:
    if ended.status != "ok":
        return "The code printed nothing."
    if ended.hidden_value is None:
        return "The code ran; it has no output."
    if ended.hidden_value == "None":
        return "The code ran; it has no output, and its last expression is None."
    return f"The code ran; its last expression, silenced with ';', is {ended.hidden_value}"


def _endings(ended: RunEnded, cwd: str) -> list[str]:
    said = []
    if ended.status == "interrupted":
        said.append("interrupted")
    if ended.note:
        said.append(ended.note)
    if ended.stopped_at:
        said.append(f"it stood at {stopped_line(ended.stopped_at)}")
    if ended.held:
        said.append(f"values where it failed: {', '.join(f'{one.name} = {one.value}' for one in ended.held)}")
    if ended.hint:
        said.append(ended.hint)
    if delta := delta_line(ended.changes, ended.more_changes):
        said.append(f"variables: {delta}")
    if ended.files:
        said.append(f"files: {_listed(ended.files, cwd)}")
    return said


def _listed(files: tuple[FileChange, ...], cwd: str) -> str:
    named = [
        f"{change.action} {f'{file_name(change.source, cwd)} to ' if change.source else ''}"
        f"{file_name(change.path, cwd)}"
        for change in files
    ]
    return first_names(named, _FILES)


def described(display: Display | DisplayUpdate, mark: NoteMark | None = None) -> str:
    """Return a display as text: its own text, or a note with the file it is in."""
    mark = mark or NoteMark()
    picture = pictures.raster(display.data)
    if picture is not None:
        size = pictures.size(picture[1])
        measure = f", {size[0]}×{size[1]}" if size else ""
        return mark.note(mark.plain(f"image: {display.path or picture[0]}{measure}"))
    if display.path:
        return mark.note(mark.plain(f"{Path(display.path).suffix.lstrip('.')}: {display.path}"))
    return mark.plain(plain_of(display.data))


def plain_of(bundle: Mapping[str, Any]) -> str:
    """Return a MIME bundle as text; never base64."""
    plain = bundle.get("text/plain")
    # Displays of Markdown, JSON and LaTeX have as text the name of their class.
    bare = isinstance(plain, str) and _BARE.fullmatch(plain) is not None
    for mime in (*(() if bare else ("text/plain",)), "text/markdown", "text/latex"):
        if isinstance(text := bundle.get(mime), str):
            return without_escapes(text)
    if "application/json" in bundle:
        # Nested too deeply to be written, it is only named.
        with suppress(RecursionError):
            return json.dumps(bundle["application/json"], ensure_ascii=False)
    if isinstance(plain, str):
        return without_escapes(plain)
    return f"[an object that is shown as {', '.join(sorted(bundle)) or 'nothing'}]"
