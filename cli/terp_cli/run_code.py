"""`terp run`: code of the person's own in a kernel, without a model and without a question."""

import sys
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TextIO, assert_never

from terp.artifacts import Artifacts
from terp.changes import stopped_line
from terp.errors import SettingsError
from terp.kernels.protocol import Kernel
from terp.languages import language_of
from terp.outputs import (
    BackCall,
    Clear,
    Display,
    DisplayUpdate,
    Error,
    InputRequest,
    Omitted,
    RunEnded,
    RunItem,
    RunStarted,
    RunStatus,
    Text,
)
from terp.plain import without_escapes
from terp_cli.exit_codes import EXIT_CODES
from terp_cli.sanitise import one_line, readable

_CODES: dict[RunStatus, int] = {
    "ok": 0,
    "error": EXIT_CODES["error"],
    "died": EXIT_CODES["error"],
    "interrupted": EXIT_CODES["interrupted"],
    "timeout": EXIT_CODES["timeout"],
}
_SUFFIXES = {
    ".py": "python",
    ".sh": "shell",
    ".js": "javascript",
    ".ts": "typescript",
    ".r": "r",
    ".jl": "julia",
}


def read_code(argument: str) -> str:
    """The code in a file, or on stdin for "-".

    Raises:
        SettingsError: it cannot be read as text.
    """
    try:
        raw = sys.stdin.buffer.read() if argument == "-" else Path(argument).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise SettingsError([f"cannot read '{argument}': {error.strerror}."]) from error
    except UnicodeDecodeError as error:
        raise SettingsError([f"'{argument}' is not text in UTF-8."]) from error


def language_for(argument: str, asked: str, languages: Sequence[str]) -> str:
    """The language of the code: as asked, by the file's name, or the first there is."""
    if asked:
        return language_of(asked, languages) or asked
    return _SUFFIXES.get(Path(argument).suffix.lower(), languages[0])


class CodeRun:
    """Runs code and passes on what it puts out: its own streams to ours, results to `out`."""

    def __init__(self, out: TextIO, notes: TextIO, folder: Path, read_line: Callable[[], str | None]) -> None:
        self._out = out
        self._notes = notes
        self._artifacts = Artifacts(folder)
        self._read_line = read_line
        self._status: RunStatus = "died"

    async def run(self, kernel: Kernel, code: str, *, timeout_s: float) -> int:
        """Run `code` to its end; the exit code."""
        async with aclosing(kernel.execute(code, run_id="run", timeout_s=timeout_s)) as items:
            async for item in items:
                await self._take(item, kernel)
        return _CODES[self._status]

    async def _take(self, item: RunItem, kernel: Kernel) -> None:
        match item:
            case Text(stream=stream, text=text):
                self._write(self._out if stream == "stdout" else self._notes, text)
            case Display() | DisplayUpdate():
                self._show(item)
            case Error(traceback=traceback, name=name, value=value):
                told = "\n".join(traceback) or f"{name}: {value}"
                self._write(self._notes, without_escapes(told) + "\n")
            case Omitted(characters=characters):
                self._write(self._notes, f"[… {characters:,} characters left out …]\n")
            case InputRequest(prompt=prompt):
                self._write(self._notes, prompt)
                await kernel.type_in(self._read_line())
            case BackCall(service=service):
                await kernel.answer(None, f"there is no service {service!r} without a session")
            case RunEnded(status=status, note=note, stopped_at=stopped):
                self._status = status
                self._write(self._notes, f"terp: {note}\n" if note else "")
                self._write(self._notes, f"terp: stopped at {stopped_line(stopped)}\n" if stopped else "")
            case RunStarted() | Clear():
                return
            case _:
                assert_never(item)

    def _show(self, display: Display | DisplayUpdate) -> None:
        saved = self._artifacts.save("run", display)
        if saved.path:
            self._write(self._notes, f"[picture] {one_line(saved.path)}\n")
        elif plain := saved.data.get("text/plain"):
            self._write(self._out, f"{plain}\n")

    def _write(self, stream: TextIO, text: str) -> None:
        # What the code prints goes on as it is, unless a terminal would obey it.
        stream.write(readable(without_escapes(text)) if stream.isatty() else text)
        stream.flush()
