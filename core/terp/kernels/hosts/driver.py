"""The kernel of languages that have a driver: a script that runs cells in the language's own program.

Code is sent to the script through one pipe, each cell ended by a NUL. Through another pipe it answers in
JSON, each answer ended by a NUL: `{}` once it is ready, then for each cell `{"value": TEXT or null}` or
`{"name": …, "message": …, "trace": […]}`. The streams are separate pipes.

Text that begins with U+0001 is a request between cells: a number, and `names` or `complete WORD`. Its answer
is `{"answer": NUMBER, "rows": […]}`: for names a row of name, type and a short preview of the value, for a
word all words that begin with it. No answer runs code of the user's.
"""

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terp.kernels.hosts.kernel import CellFailure, HostCell, serve
from terp.kernels.hosts.program import STATUS_UNKNOWN, Program, ProgramKernel
from terp.kernels.hosts.streams import Printer

# A chunk of Lua can be interrupted once; after so many the program has to be restarted.
_LUA_CHUNKS = 500
_LUA_START = "arg={{[[{code}]],[[{verdict}]]}} TERP=dofile([[{script}]])"


@dataclass(frozen=True, slots=True)
class Driver:
    """A driven language: its script, the command line, and its facts for Jupyter.

    `command` contains `{program}`, its `{folder}`, `{script}`, and the file descriptors `{code}` and
    `{verdict}`. With `alone` an interrupt is sent to the program and to nothing that it has started. `word`
    matches the word before the cursor that can be completed; without it the script answers no requests.
    """

    title: str
    script: str
    command: tuple[str, ...]
    extension: str
    mimetype: str
    word: str = ""
    alone: bool = False

    def argv(self, program: str, code: int, verdict: int) -> list[str]:
        """Return the command line."""
        script = str(Path(__file__).with_name("drivers") / self.script)
        folder = str(Path(program).parent)
        values = {"program": program, "folder": folder, "script": script, "code": code, "verdict": verdict}
        return [part.format(**values) for part in self.command]


_PLAIN = ("{program}", "{script}", "{code}", "{verdict}")
_PHP_OPTIONS = ("-d", "display_errors=stderr", "-d", "html_errors=0", "-d", "log_errors=0")

DRIVERS: Mapping[str, Driver] = {
    "ruby": Driver(
        "Ruby", "ruby.rb", _PLAIN, ".rb", "text/x-ruby", r"[@$]{0,2}[\w:.]*\w[?!]?\Z|[\w)]\.\Z|\w::\Z"
    ),
    "php": Driver(
        "PHP",
        "php.php",
        ("{program}", *_PHP_OPTIONS, *_PLAIN[1:]),
        ".php",
        "text/x-php",
        word=r"\$?\w+(?:(?:->|::)\w*)*\Z|\$\Z",
    ),
    "perl": Driver("Perl", "perl.pl", _PLAIN, ".pl", "text/x-perl", word=r"[$@%&]?\w[\w:]*\Z|[$@%&]\Z"),
    "lua": Driver(
        "Lua",
        "lua.lua",
        ("{program}", "-e", _LUA_START, *("-e", "TERP()") * _LUA_CHUNKS),
        ".lua",
        "text/x-lua",
        word=r"[A-Za-z_]\w*(?:[.:]\w*)*\Z",
    ),
    "r": Driver(
        "R",
        "r.R",
        ("{program}", "--no-restore", "--no-save", "{script}", "{code}", "{verdict}"),
        ".r",
        "text/x-r-source",
        word=r"[A-Za-z.][\w.]*(?:(?:\$|@|:::?)[\w.]*)*\Z",
    ),
    "java": Driver(
        "Java",
        "JShellDriver.java",
        # The first compiler of two starts sooner; code that computes for long is rare in a cell.
        ("{folder}/java", "-XX:TieredStopAtLevel=1", *_PLAIN[1:]),
        ".java",
        "text/x-java",
        word=r"[A-Za-z_]\w*(?:\.\w*)*\Z",
        # The code runs in a second machine below, which SIGINT would end.
        alone=True,
    ),
    "powershell": Driver(
        "PowerShell",
        "powershell.ps1",
        ("{program}", "-NoLogo", "-NoProfile", "-NonInteractive", "-File", *_PLAIN[1:]),
        ".ps1",
        "text/x-powershell",
    ),
    "javascript": Driver(
        "Node", "node.cjs", _PLAIN, ".js", "text/javascript", r"[A-Za-z_$][\w$]*(?:\??\.[\w$]*)*\Z"
    ),
}


# The adapter waits 1 s for variables, and less for completions.
_ANSWER_S = 0.5
_QUESTION = "\x01"
_MOST_MATCHES = 200


class DriverKernel(ProgramKernel):
    """Runs cells in one program that lives as long as the kernel, or until it ends itself."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._driver: Driver = DRIVERS[self.language]
        self.describe(self._driver.mimetype, self._driver.extension)
        self._heard: list[bytes] = []
        self._verdict: Mapping[str, Any] | None = None
        self._asked = 0
        self._answer: Mapping[str, Any] = {}
        self._verdicts = self._code = -1
        self._cwd = str(Path.cwd())
        self._program: Program | None = None
        # It starts while the Jupyter side of the kernel does.
        with suppress(OSError):
            self._start(Printer(lambda *_: None))

    def run(self, cell: HostCell) -> CellFailure | None:
        """Run a cell; the language's own error is the failure."""
        if "\0" in cell.code:
            return CellFailure("ValueError", "The code holds a NUL character.")
        if cell.code.startswith(_QUESTION):
            return CellFailure("ValueError", "The code begins with a control character.")
        try:
            return self._failed_start(cell) or self._run(cell)
        except OSError as error:
            return CellFailure("ProgramNotStarted", f"{self.program}: {error.strerror}")

    def names(self) -> Sequence[tuple[str, str, str]]:
        """Return the names that the code has defined."""
        rows = self._answered("names") if self._driver.word else ()
        return sorted((str(name), str(kind), str(head)) for name, kind, head in rows)

    async def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        """Complete the word before the cursor with names of the running program."""
        found = re.search(self._driver.word, code[:cursor_pos]) if self._driver.word else None
        word = found[0] if found else ""
        rows = self._answered(f"complete {word}") if word and self.is_free() else ()
        matches = sorted({str(row) for row in rows})[:_MOST_MATCHES]
        ends = {"cursor_start": cursor_pos - len(word), "cursor_end": cursor_pos}
        return {"status": "ok", "matches": matches, **ends, "metadata": {}}

    def stop(self) -> None:
        """End the program and what it started."""
        if self._program is not None:
            self._program.kill()

    def _run(self, cell: HostCell) -> CellFailure | None:
        program, self._verdict = self._program, None
        assert program is not None
        if self.interrupts:
            return CellFailure("KeyboardInterrupt", "")
        with suppress(BrokenPipeError):
            _write(self._code, cell.code.encode(errors="replace") + b"\0")
        if not self.attend(cell, program, self._has_verdict, alone=self._driver.alone):
            return self._ended(cell, program)
        self._cwd = self._moved(cell, program)
        assert self._verdict is not None
        return self._judged(cell, self._verdict)

    def _answered(self, question: str) -> Sequence[Any]:
        """Ask the program; return the rows of its answer, none without one in time."""
        program = self._program
        if program is None or program.code is not None or self._verdict is None:
            return ()
        self._asked, self._answer = self._asked + 1, {}
        try:
            _write(self._code, f"{_QUESTION}{self._asked} {question}\0".encode(errors="replace"))
        except BrokenPipeError:
            return ()
        deadline = time.monotonic() + _ANSWER_S
        # An answer may be the late one to an earlier request.
        while self._answer.get("answer") != self._asked and (left := deadline - time.monotonic()) > 0:
            self.wires.wait(left)
            if program.code is not None:
                return ()
        return list(self._answer.get("rows") or ()) if self._answer.get("answer") == self._asked else ()

    def _judged(self, cell: HostCell, verdict: Mapping[str, Any]) -> CellFailure | None:
        if "name" not in verdict:
            if verdict.get("value") is not None:
                cell.printer.result(str(verdict["value"]), self.execution_count)
            return None
        name, message = str(verdict["name"]), str(verdict["message"])
        if self.interrupts:
            name, message = "KeyboardInterrupt", ""
        first = ": ".join(filter(None, (name, message)))
        return CellFailure(name, message, (first, *map(str, verdict.get("trace") or ())))

    def _failed_start(self, cell: HostCell) -> CellFailure | None:
        """Start the program if there is none, wait until it is ready, and let it print to the cell."""
        if self._program is None or self._program.code is not None:
            self._start(cell.printer)
        program = self._program
        assert program is not None
        program.print_to(cell.printer)
        if self._verdict is not None or self.attend(cell, program, self._has_verdict, alone=True):
            return None
        if self.interrupts:
            return CellFailure("KeyboardInterrupt", "")
        return CellFailure("ProgramNotStarted", f"{self.program} {program.how_ended()}; it did not start.")

    def _ended(self, cell: HostCell, program: Program) -> CellFailure | None:
        """Report that the program ended with the cell, and start another one."""
        cell.lost(
            f"{self._driver.title} {program.how_ended()}: its variables and definitions are lost, and a new "
            "one was started."
        )
        status = program.code or 0
        with suppress(OSError):
            self._start(cell.printer)
        if status == STATUS_UNKNOWN and not self.interrupts:
            return CellFailure("ProgramEnded", "")
        return self.exit_failure(status)

    def _start(self, printer: Printer) -> None:
        """Start a program in place of the one that is gone."""
        self._close()
        its_code, self._code = os.pipe()
        self._verdicts, its_verdict = os.pipe()
        os.set_blocking(self._verdicts, False)
        self._heard, self._verdict = [], None
        self._program = Program(
            self._driver.argv(self.program, its_code, its_verdict),
            self._cwd if Path(self._cwd).is_dir() else str(Path.home()),
            self.wires,
            printer,
            stdin=self.stdin,
            given=(its_code, its_verdict),
            ended=self.wake,
        )
        self.wires.add(self._verdicts, self._hear)

    def _close(self) -> None:
        for number in (self._verdicts, self._code):
            if number >= 0:
                self.wires.remove(number)
                os.close(number)
        self._verdicts = self._code = -1

    def _hear(self) -> None:
        try:
            data = os.read(self._verdicts, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self.wires.remove(self._verdicts)
            return
        *ends, rest = data.split(b"\0")
        for end in ends:
            whole, self._heard = b"".join([*self._heard, end]), []
            # A frame may hold bytes that are no text.
            frame = json.loads(whole.decode(errors="replace"))
            if "answer" in frame:
                self._answer = frame
            else:
                self._verdict = frame
        self._heard.append(rest)

    def _has_verdict(self) -> bool:
        return self._verdict is not None

    def _moved(self, cell: HostCell, program: Program) -> str:
        """Return the program's working directory after the cell."""
        cwd = program.directory() or self._cwd
        if cwd != self._cwd:
            cell.moved_to(cwd)
        return cwd


def _write(number: int, text: bytes) -> None:
    while text:
        text = text[os.write(number, text) :]


if __name__ == "__main__":
    serve(DriverKernel)
