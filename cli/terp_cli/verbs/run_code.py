"""`terp run`: run the user's own code in a kernel, without a model and without a question."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TextIO, assert_never

from terp.errors import SettingsError, with_remedy
from terp.events import Noticed, Progress
from terp.events.changes import stopped_line
from terp.events.kernel import Kernel
from terp.events.log import EventLog, Record
from terp.events.outputs import (
    BackCall,
    Clear,
    Display,
    DisplayUpdate,
    Error,
    InputRequest,
    Omitted,
    Output,
    RunEnded,
    RunStatus,
    Text,
    ToolWorking,
)
from terp.kernels.environments.readiness import Readiness
from terp.models.tool import Call
from terp.opening.environment import ExecutionEnvironment, open_environment
from terp.person import AutoRun, Nobody, Person
from terp.person.dialog import UserDialog
from terp.session.artifacts import Artifacts
from terp.session.foreground import Foreground, Interrupted, Interrupts
from terp.session.observation import plain_of
from terp.session.runs import drain
from terp.session.services import Services
from terp.store.places import Place
from terp.text.languages import language_of, means_language
from terp.text.plain import without_escapes
from terp_cli.fronts.invocation import STDIN, Invocation
from terp_cli.line.stdin import TypedLines
from terp_cli.line.stopping import EXIT_CODES
from terp_cli.render.run_text import RunText, displayed_file
from terp_cli.repl.keeping import folder_of, person_beside
from terp_cli.terminal.sanitise import readable

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
    """Return the code in a file, or on stdin for "-".

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
    """Return the language of the code: the chosen one, that of the file's name, or the first one here."""
    if asked:
        return language_of(asked, languages) or asked
    suffix = Path(argument).suffix.lower().lstrip(".")
    word = _SUFFIXES.get(suffix, suffix)
    return language_of(word, languages) or (word if means_language(word) else languages[0])


class ScriptRun:
    """A run whose outputs are written (`RunSink`): stdout and results to `out`, the rest to `notes`."""

    def __init__(self, out: TextIO, notes: TextIO, artifacts: Artifacts, runner: "SessionlessRunner") -> None:
        self._out = out
        self._notes = notes
        self._artifacts = artifacts
        self._runner = runner
        self._status: RunStatus = "died"
        self.error: Error | None = None
        """The error that ended the code, if any."""

    async def run(self, kernel: Kernel, code: str, *, timeout_s: float) -> int:
        """Run `code` to its end; return the exit code."""
        self._kernel = kernel
        self._end(await drain(kernel.execute(code, run_id="run", timeout_s=timeout_s), self))
        exited = _exit_code(self.error) if self.error is not None and self._status == "error" else None
        return _CODES[self._status] if exited is None else exited

    def started(self) -> None:
        """Do nothing: only outputs are written."""

    def working(self, tool: ToolWorking) -> None:
        """Do nothing: only the output of tools is written."""

    async def serve(self, call: BackCall) -> None:
        """Answer a service call of the code."""
        await self._runner.serve(call, self._kernel)

    async def type_in(self, request: InputRequest) -> None:
        """Give the code the next line of stdin."""
        await self._runner.type_in(request, self._kernel)

    def output(self, output: Output) -> None:
        """Write an output, or the prompt of a request for input."""
        match output:
            case Text(stream=stream, text=text):
                self._write(self._out if stream == "stdout" else self._notes, text)
            case Display() | DisplayUpdate():
                self._display(output)
            case Error():
                self.error = output
                # A script ends as a program does.
                if _exit_code(output) is None:
                    self._write(self._notes, RunText(whole=True).add(output))
            case Omitted():
                self._write(self._notes, RunText().add(output))
            case InputRequest(prompt=prompt):
                self._write(self._notes, prompt)
            case Clear():
                return
            case _:
                assert_never(output)

    def _end(self, ended: RunEnded) -> None:
        self._status = ended.status
        note = ended.note if self.error is None or _exit_code(self.error) is None else ""
        self._write(self._notes, f"terp: {note}\n" if note else "")
        if stopped := ended.stopped_at:
            self._write(self._notes, f"terp: stopped at {stopped_line(stopped)}\n")

    def _display(self, display: Display | DisplayUpdate) -> None:
        saved = self._artifacts.save("run", display)
        if saved.path:
            self._write(self._notes, f"{displayed_file(saved.path)}\n")
        elif saved.data:
            self._write(self._out, f"{plain_of(saved.data)}\n")

    def _write(self, stream: TextIO, text: str) -> None:
        # What the code prints is passed on as it is, unless a terminal would obey it.
        stream.write(readable(without_escapes(text)) if stream.isatty() else text)
        stream.flush()


def _exit_code(error: Error) -> int | None:
    """Return the exit code of a script: of a shell, or from `sys.exit`; None for any other error."""
    if error.name not in ("ExitStatus", "SystemExit"):
        return None
    if error.value in ("", "None"):
        return 0
    return int(error.value) & 0xFF if error.value.isdecimal() else None


_UNASKED = "--auto-install known or always installs without a question."


def run_script(call: Invocation) -> int:
    """Run the code that the call names; return the exit code.

    Raises:
        TerpError: it cannot be read, no kernel runs its language, or the kernel does not start.
    """
    settings = call.settings()
    code = read_code(call.line.argument)
    folder = call.out_folder or folder_of(call)
    person = person_beside(call, settings) or Nobody()

    artifacts = Artifacts(folder, redactor=call.secrets.redactor)

    async def run() -> int:
        alone = SessionlessRunner(AutoRun(person) if settings.auto_run else person, call.note)
        # The code is the user's own: only where they ask for a sandbox does it run in one.
        environment = await open_environment(
            settings,
            project=call.project,
            environ=call.environ,
            place=Place(folder),
            unasked=lambda: False,
        )
        if environment.confinement:
            # Nor are they asked about its effects, or bound by rules on effects.
            environment.confinement.hold_none()
        kernels = environment.kernels
        try:
            equip(call, alone, environment)
            language = language_for(call.line.argument, call.options.language, kernels.languages)
            kernel = kernels.get(language)
            with call.stopping.watching(lambda: alone.stop(kernel), kernels.aclose):
                ended = await alone.run(
                    kernel, code, ScriptRun(call.out, call.notes, artifacts, alone), settings.run_timeout_s
                )
                return call.stopping.code or ended
        finally:
            await kernels.aclose()

    return asyncio.run(run())


def equip(call: Invocation, alone: "SessionlessRunner", environment: ExecutionEnvironment) -> None:
    """Set up the preparations and services of code that runs without a session."""
    confinement = environment.confinement
    for line in (*environment.notices, confinement.warning if confinement else ""):
        if line:
            call.note(line)
    environment.prepare(alone.readiness, alone.dialog)
    environment.offer(alone.services, alone.dialog)


class OneRun(Protocol):
    """A single run of code, whose outputs it handles."""

    error: Error | None
    """The error that ended the code, if any."""

    async def run(self, kernel: Kernel, code: str, *, timeout_s: float) -> int:
        """Run `code` to its end; return the exit code."""


class SessionlessRunner:
    """Runs code without a session: prepares for it, with consent, and answers its service calls.

    `notify` writes a line for the user.
    """

    def __init__(self, person: Person, notify: Callable[[str], None]) -> None:
        self._notify = notify
        self._working = ""
        self._noticed: list[str] = []
        self._lines = TypedLines(STDIN)
        self._interrupts = Interrupts()
        log = EventLog(keep=self._report)
        self.dialog = UserDialog(log, person, Foreground(log).drawn)
        self.readiness = Readiness()
        self.services = Services(self.dialog)

    async def run(self, kernel: Kernel, code: str, run: OneRun, timeout_s: float) -> int:
        """Run `code` after its preparations; return the exit code.

        Raises:
            TerpError: there is no kernel to run it.
        """
        call = Call("run", kernel.language, code)
        try:
            ready = await self._interrupts.guard(self.readiness.before(call, kernel))
            ended = await run.run(kernel, code, timeout_s=timeout_s)
            notes = await self._interrupts.guard(self.readiness.after(call, kernel, run.error))
        except Interrupted:
            return EXIT_CODES["interrupted"]
        for line in notes.splitlines():
            self._notify(line[1:-1])
        if run.error is not None and run.error.name == "ModuleNotFoundError" and not notes:
            for line in ready.splitlines():
                if line[1:-1] not in self._noticed:
                    self._notify(f"{line[1:-1]} {_UNASKED}")
        return ended

    async def stop(self, kernel: Kernel) -> None:
        """Interrupt the running code."""
        self._interrupts.stop()
        await kernel.interrupt()

    async def type_in(self, request: InputRequest, kernel: Kernel) -> None:
        """Give the code the next line of stdin."""
        try:
            line = await self._interrupts.guard(self._lines.next(secret=request.secret))
        except Interrupted:
            return
        await kernel.type_in(line)

    async def serve(self, call: BackCall, kernel: Kernel) -> None:
        """Answer a service call of the running code, such as `llm()`."""
        await self.services.serve(call, kernel, self._interrupts.guard)

    def _report(self, record: Record) -> None:
        match record.event:
            case Noticed(text=text, remedy=remedy):
                self._noticed.append(text)
                self._notify(with_remedy(text, remedy))
            case Progress(what=what) if what != self._working:
                self._working = what
                self._notify(f"{what}…")
