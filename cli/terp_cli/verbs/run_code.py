"""`terp run`: code of the person's own in a kernel, without a model and without a question."""

import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Protocol, TextIO, assert_never

from terp.errors import SettingsError
from terp.events.changes import stopped_line
from terp.events.kernel import Kernel
from terp.events.outputs import (
    BackCall,
    Clear,
    Display,
    DisplayUpdate,
    Error,
    InputRequest,
    Omitted,
    RunEnded,
    RunStarted,
    RunStatus,
    Text,
    ToolWorking,
)
from terp.session.artifacts import Artifacts
from terp.session.beside import Beside
from terp.text.languages import language_of, means_language
from terp.text.plain import without_escapes
from terp_cli.line.exit_codes import EXIT_CODES
from terp_cli.render.run_text import displayed_file
from terp_cli.terminal.sanitise import readable

Shown = Text | Display | DisplayUpdate | Error | Omitted | RunStarted | Clear

_CODES: dict[RunStatus, int] = {
    "ok": 0,
    "error": EXIT_CODES["error"],
    "died": EXIT_CODES["error"],
    "interrupted": EXIT_CODES["interrupted"],
    "timeout": EXIT_CODES["timeout"],
}
# Other suffixes are names of their languages.
_SUFFIXES = {"mjs": "javascript", "cjs": "javascript", "cc": "c++", "mmd": "mermaid"}


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
    suffix = Path(argument).suffix.lower().lstrip(".")
    word = _SUFFIXES.get(suffix, suffix)
    return language_of(word, languages) or (word if means_language(word) else languages[0])


class Answers(Protocol):
    """What running code can ask."""

    async def type_in(self, request: InputRequest, kernel: Kernel) -> object:
        """Give the kernel a line for code that waits for one."""

    async def serve(self, call: BackCall, kernel: Kernel) -> None:
        """Give the kernel the answer of the service that code calls."""


class CodeRun:
    """Runs code and passes on what it puts out: its own streams to ours, results to `out`."""

    def __init__(self, out: TextIO, notes: TextIO, artifacts: Artifacts, answers: Answers) -> None:
        self._out = out
        self._notes = notes
        self._artifacts = artifacts
        self._answers = answers
        self._status: RunStatus = "died"
        self.error: Error | None = None
        """What the code ended with, if it was an error."""

    async def run(self, kernel: Kernel, code: str, *, timeout_s: float) -> int:
        """Run `code` to its end; the exit code."""
        running = kernel.execute(code, run_id="run", timeout_s=timeout_s)
        async with aclosing(running) as items, aclosing(Beside()) as beside:
            while not isinstance(item := await beside.next(items), RunEnded):
                match item:
                    case InputRequest(prompt=prompt):
                        self._write(self._notes, prompt)
                        beside.begin(self._type_in(item, kernel))
                    case BackCall():
                        beside.begin(self._answers.serve(item, kernel))
                    case ToolWorking():
                        # What it puts out is what who called wants to see.
                        continue
                    case _:
                        self._show(item)
            self._end(item)
        exited = _exit_code(self.error) if self.error is not None and self._status == "error" else None
        return _CODES[self._status] if exited is None else exited

    async def _type_in(self, request: InputRequest, kernel: Kernel) -> None:
        await self._answers.type_in(request, kernel)

    def _show(self, item: Shown) -> None:
        match item:
            case Text(stream=stream, text=text):
                self._write(self._out if stream == "stdout" else self._notes, text)
            case Display() | DisplayUpdate():
                self._display(item)
            case Error() if _exit_code(item) is not None:
                # Code that is run alone ends as a program does.
                self.error = item
            case Error(traceback=traceback, name=name, value=value):
                self.error = item
                told = "\n".join(traceback) or f"{name}: {value}"
                self._write(self._notes, without_escapes(told) + "\n")
            case Omitted(characters=characters):
                self._write(self._notes, f"[… {characters:,} characters left out …]\n")
            case RunStarted() | Clear():
                return
            case _:
                assert_never(item)

    def _end(self, ended: RunEnded) -> None:
        self._status = ended.status
        told = ended.note if self.error is None or _exit_code(self.error) is None else ""
        self._write(self._notes, f"terp: {told}\n" if told else "")
        if stopped := ended.stopped_at:
            self._write(self._notes, f"terp: stopped at {stopped_line(stopped)}\n")

    def _display(self, display: Display | DisplayUpdate) -> None:
        saved = self._artifacts.save("run", display)
        if saved.path:
            self._write(self._notes, f"{displayed_file(saved.path)}\n")
        elif plain := saved.data.get("text/plain"):
            self._write(self._out, f"{plain}\n")

    def _write(self, stream: TextIO, text: str) -> None:
        # What the code prints goes on as it is, unless a terminal would obey it.
        stream.write(readable(without_escapes(text)) if stream.isatty() else text)
        stream.flush()


def _exit_code(error: Error) -> int | None:
    """The code that a script exited with, as a shell's does or by `sys.exit`; None for any other error."""
    if error.name not in ("ExitStatus", "SystemExit"):
        return None
    if error.value in ("", "None"):
        return 0
    return int(error.value) & 0xFF if error.value.isdecimal() else None
