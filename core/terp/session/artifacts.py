"""Files of runs in the session's folder: full text outputs, pictures, pages."""

import base64
import binascii
import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from terp.events.outputs import Display, DisplayUpdate
from terp.secrets.redactor import Redactor, TextRedactor
from terp.text import pictures
from terp.text.files import content_of, make_private, new_file
from terp.text.plain import is_wordless, mended

OUTPUTS = "outputs"
"""The folder of these files in the folder of a session."""
CHECKPOINTS = "checkpoints"
"""The folder of the checkpoints in a session's folder."""
_FLUSH_S = 0.2
# A larger file would be cut, and a cut picture is none.
_LARGEST_PICTURE = 100_000_000
SPOOL_LIMIT = 256 * 1024 * 1024

_KEPT_AS_FILES = {
    "audio/aac": "aac",
    "audio/flac": "flac",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/webm": "webm",
    "audio/x-wav": "wav",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "application/pdf": "pdf",
}
"""Types that neither terminal nor model gets, with the extensions of their files."""

Shown = Display | DisplayUpdate


class Artifacts:
    """Writes the files of one session's runs below `folder`, which is created with the first of them.

    Their names begin with the number of their `run`, as `out[N]` does. `home` is the session's folder.
    `redactor` redacts files that are text.
    """

    def __init__(
        self, folder: Path, home: Path | None = None, redactor: Callable[[], Redactor] | None = None
    ) -> None:
        self.folder = folder
        self.home = home or folder
        self.redactor = redactor or Redactor
        self._counts: dict[str, int] = {}

    def save(self, run: str, display: Shown) -> Shown:
        """Return `display` with the path of the file to which its picture, sound, SVG or page was written.

        A bundle whose plain text says as much, such as a DataFrame's, is returned as it is.
        """
        content = _content(display, lambda text: self.redactor().redacted(text))
        if content is None:
            return display
        extension, data = content
        self._counts[run] = number = self._counts.get(run, 0) + 1
        path = make_private(self.folder) / f"{run}-{number}.{extension}"
        with os.fdopen(new_file(path), "wb") as file:
            file.write(data)
        return dataclasses.replace(display, path=str(path))

    def path(self, run: str) -> Path:
        """Return the path for the full text output of a run."""
        return make_private(self.folder) / f"{run}.txt"

    def spooled(self, number: int) -> str:
        """Return the file with the text output of a run so far; "" for none."""
        path = self.folder / f"{number}.txt"
        return str(path) if path.is_file() else ""


class Spool:
    """The full text output of one run, in a file that its first character creates, up to a cap.

    If the cap is reached or the disk is full, the file ends but not the run: `failure` says why. Text is
    redacted and soon in the file, so that little is lost if terp is killed.
    """

    def __init__(self, artifacts: Artifacts, run: str, limit: int = SPOOL_LIMIT) -> None:
        self._artifacts = artifacts
        self._run = run
        self._limit = self._room = limit
        self._file: IO[str] | None = None
        self._flow: TextRedactor | None = None
        self._flushed_at = 0.0
        self.path = ""
        self.failure = ""

    def add(self, text: str) -> None:
        """Append `text`, up to the cap."""
        kept = text[: self._room]
        try:
            if kept:
                self._write(kept)
        except OSError as error:
            self.failure = f"{error.strerror or error}: {self.path or self._artifacts.folder}"
            kept, self._room = "", 0
        self._room -= len(kept)
        if len(kept) < len(text) and not self.failure:
            self.failure = f"{self.path} ends after {self._limit:,} characters"

    def _write(self, text: str) -> None:
        if self._file is None:
            path = self._artifacts.path(self._run)
            self._file = os.fdopen(
                new_file(path), "w", encoding="utf-8", errors="backslashreplace", newline=""
            )
            self.path = str(path)
            self._flow = TextRedactor(self._artifacts.redactor)
        assert self._flow is not None, "it is made with the file"
        self._file.write(self._flow.passed(text))
        if (now := time.monotonic()) >= self._flushed_at + _FLUSH_S:
            self._file.flush()
            self._flushed_at = now

    def close(self) -> None:
        """Finish the file."""
        if self._file is None:
            return
        try:
            if self._flow is not None:
                self._file.write(self._flow.rest())
            self._file.close()
        except OSError as error:
            self.failure = f"{error.strerror or error}: {self.path}"
        self._file = None


def mime_of(path: str) -> str:
    """Return the type of a picture by its file name; "" for other files."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    known = {extension: mime for mime, extension in pictures.EXTENSIONS.items()}
    return "image/svg+xml" if suffix == "svg" else known.get(suffix, "")


def kept_at(display: Shown, folder: Path) -> Path:
    """Return the file of a display in the session's `folder`, which may have been moved since."""
    # Only the name is used: the path could lead anywhere.
    return folder / OUTPUTS / Path(display.path).name


def with_picture(display: Shown, folder: Path) -> Shown:
    """Return `display` with its picture, which a stored log leaves in a file of the session's `folder`."""
    mime = mime_of(display.path)
    if not mime or mime in display.data:
        return display
    try:
        content = content_of(kept_at(display, folder), _LARGEST_PICTURE)
    except OSError:
        return display
    is_text = mime.endswith("xml")
    data = content.decode("utf-8", "replace") if is_text else base64.b64encode(content).decode()
    return dataclasses.replace(display, data={**display.data, mime: data})


def _content(display: Shown, redacted: Callable[[str], str]) -> tuple[str, bytes] | None:
    picture = pictures.raster(display.data)
    if picture is not None:
        return pictures.EXTENSIONS[picture[0]], picture[1]
    for mime, extension in _KEPT_AS_FILES.items():
        if isinstance(encoded := display.data.get(mime), str) and (data := _decoded(encoded)):
            return extension, data
    svg, page = display.data.get("image/svg+xml"), display.data.get("text/html")
    plain = display.data.get("text/plain")
    if isinstance(svg, str):
        return "svg", redacted(mended(svg)).encode()
    # Charts of plotly, altair and bokeh come as a page with a script; a table's HTML repeats its text.
    wordless = not isinstance(plain, str) or is_wordless(plain)
    if isinstance(page, str) and ("<script" in page or wordless):
        return "html", redacted(mended(page)).encode()
    return None


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded)
    except binascii.Error:
        return b""
