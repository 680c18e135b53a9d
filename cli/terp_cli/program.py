"""Everything but --help and --version: the one place where the parts of a call are put together."""

import asyncio
import gc
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

from terp.attachments import attach, with_attachments
from terp.errors import SettingsError, TerpError
from terp.events import TurnFinished
from terp.opening import build_session, new_folder
from terp.person import AutoRun, Nobody, Person
from terp.places import find_places, make_private
from terp.profiles import Profiles, load_settings
from terp.settings import Given, Settings
from terp_cli import streams
from terp_cli.command_line import CommandLine
from terp_cli.exit_codes import EXIT_CODES, READER_LEFT
from terp_cli.json_front import ResultFront, StreamFront, write_end
from terp_cli.oneshot import TIME_IS_OVER, Front, Question, one_shot
from terp_cli.plain import Detail, PlainFront
from terp_cli.sanitise import one_line, readable
from terp_cli.stdin import Piped, Source, read_prompt, source_of, take_data
from terp_cli.stopping import Stopped, Stopping
from terp_cli.terminal_questions import TerminalQuestions, controlling_terminal

_STDIN = 0
_KEY_IN_ARGUMENTS = (
    "other users of this machine can read --api-key; set the provider's variable, "
    "or name one with --api-key-env."
)


def run(line: CommandLine) -> int:
    """Do what the command line asks; the exit code. What goes wrong becomes one line."""
    call = Call(line, os.environ)
    try:
        with call.stopping.armed(line.options.timeout):
            return _COMMANDS[line.command](call)
    except Stopped as stopped:
        return call.stopped(stopped.code)
    except asyncio.CancelledError:
        # A second signal: whoever sends two does not want to hear more.
        return call.stopping.code or EXIT_CODES["interrupted"]
    except TerpError as error:
        return call.failed(error)
    except BrokenPipeError:
        streams.let_go()
        return READER_LEFT


class Call:
    """One call of the program: what was asked, and the means to answer it."""

    def __init__(self, line: CommandLine, environ: Mapping[str, str]) -> None:
        self.line = line
        self.options = line.options
        self.environ = environ
        self.places = find_places(environ)
        self.stopping = Stopping()
        self.out, self.notes = streams.stdout(), streams.stderr()
        self.source: Source = source_of(_STDIN)
        for notice in line.notices:
            self.tell(notice)
        if self.options.api_key:
            self.tell(_KEY_IN_ARGUMENTS)

    def tell(self, text: str) -> None:
        """Say a line about the call itself."""
        if not self.options.quiet:
            self.notes.write(f"terp: {text}\n")
            self.notes.flush()

    def failed(self, error: TerpError) -> int:
        """Say why there is no result, in the form that was asked for; the exit code."""
        if self.options.debug:
            traceback.print_exception(error, file=self.notes)
        self._without_a_turn(TurnFinished(error.stop_reason, "", error.message, error.remedy))
        lines = error.problems if isinstance(error, SettingsError) else [f"{error.message} {error.remedy}"]
        self.notes.write("".join(f"terp: {readable(line.rstrip())}\n" for line in lines))
        return EXIT_CODES[error.stop_reason]

    def stopped(self, code: int) -> int:
        """Say that a signal, or the end of the time, came before there was a turn; the exit code."""
        if code == EXIT_CODES["timeout"]:
            self._without_a_turn(TurnFinished("timeout", "", TIME_IS_OVER))
            self.notes.write(f"terp: {TIME_IS_OVER}\n")
        else:
            self._without_a_turn(TurnFinished("interrupted", ""))
        return code

    def _without_a_turn(self, end: TurnFinished) -> None:
        if self.options.output_format != "text":
            write_end(self.out, self.options.output_format, end)

    def settings(self, **given: object) -> Settings:
        """The settings of this call, with `given` before all others."""
        flags = {**self.line.given, **{name: Given(value, "terp") for name, value in given.items()}}
        return load_settings(flags, profile=self.options.profile, environ=self.environ, places=self.places)

    @property
    def cwd(self) -> Path:
        """The working directory of the session."""
        try:
            cwd = Path(self.options.cwd or Path.cwd()).expanduser().absolute()
        except FileNotFoundError:
            raise SettingsError(["the current directory is gone; change to another one."]) from None
        if not cwd.is_dir():
            raise SettingsError([f"--cwd: there is no directory '{self.options.cwd}'."])
        return cwd

    @property
    def out_folder(self) -> Path | None:
        """The directory of `--out`, made now rather than after all the work; None without one."""
        if not self.options.out:
            return None
        folder = Path(self.options.out).expanduser().absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError([f"--out: cannot make '{folder}': {error.strerror}."]) from error
        return folder

    def person(self, settings: Settings) -> Person | None:
        """Who can be asked: whoever sits at the terminal this process belongs to; None: nobody."""
        # With -y in a pipe nobody is expected to sit there.
        if settings.auto_run and self.source != "terminal":
            return None
        terminal = controlling_terminal()
        return None if terminal is None else TerminalQuestions(terminal)

    def front(self, facts: Mapping[str, str]) -> Front:
        """What shows the turns of this call; `facts` become part of a JSON result."""
        match self.options.output_format:
            case "json":
                return ResultFront(self.out, facts)
            case "stream-json":
                return StreamFront(self.out)
        detail: Detail = "quiet" if self.options.quiet else "verbose" if self.options.verbose else "normal"
        return PlainFront(self.out, self.notes, detail)


def _converse(call: Call) -> int:
    settings, cwd, out = call.settings(), call.cwd, call.out_folder
    folder = _folder(call)
    prompt, piped = _asked(call, folder)
    attachments = attach(call.options.file, cwd)
    if not (prompt.strip() or attachments or call.line.words):
        raise SettingsError(["there is no prompt: write it after terp, or pipe it in."])
    question = Question(
        with_attachments(prompt, attachments), (*attachments, *([piped.attachment] if piped else ())), out
    )

    async def converse() -> int:
        session = await build_session(
            settings,
            call.person(settings) or Nobody(),
            folder=folder,
            cwd=str(cwd),
            environ=call.environ,
            api_key=call.options.api_key,
            prelude=piped.prelude if piped else "",
        )
        _keep_imports()
        front = call.front({"session": folder.name, "model": session.model.name})
        return await one_shot(session, question, front, call.stopping)

    try:
        return asyncio.run(converse())
    finally:
        if piped:
            # Nothing comes back to this session, and the data may be large and private.
            piped.path.unlink(missing_ok=True)


def _asked(call: Call, folder: Path) -> tuple[str, Piped | None]:
    """The prompt, from the words or else from stdin; and what stdin holds beside words."""
    words = " ".join(call.line.words)
    # Arguments that are not in the locale's encoding hold halves of characters, which cannot be sent.
    prompt = words.encode(errors="surrogateescape").decode(errors="replace")
    if call.source != "data":
        return prompt, None
    if call.line.words:
        return prompt, take_data(_STDIN, lambda: make_private(folder), call.tell)
    return read_prompt(_STDIN), None


def _folder(call: Call) -> Path:
    """The folder of a new session, whose parents only its owner can read."""
    folder = new_folder(call.places)
    try:
        make_private(folder.parent)
    except OSError as error:
        elsewhere = Path(tempfile.mkdtemp(prefix="terp-"))
        why = f"{folder.parent} cannot be made ({error.strerror})"
        call.tell(f"{why}; pictures and outputs are in {elsewhere}.")
        return elsewhere
    return folder


def _keep_imports() -> None:
    """Take all that is imported by now out of garbage collection, which `main` put off until here."""
    gc.freeze()
    gc.enable()


def _run_code(call: Call) -> int:
    from terp.kernels.local import LocalKernels  # noqa: PLC0415  (each command imports what it alone needs)
    from terp_cli.run_code import CodeRun, language_for, read_code  # noqa: PLC0415

    settings, cwd = call.settings(), call.cwd
    code = read_code(call.line.argument)
    kernels = LocalKernels(str(cwd), settings.python, settings.env_pass, environ=call.environ)
    kernel = kernels.get(language_for(call.line.argument, call.options.language, kernels.languages))
    folder = call.out_folder or _folder(call)
    runner = CodeRun(call.out, call.notes, folder, _line_from_stdin)

    async def run() -> int:
        with call.stopping.watching(kernel.interrupt, kernels.aclose):
            try:
                code_of_run = await runner.run(kernel, code, timeout_s=settings.run_timeout_s)
                return call.stopping.code or code_of_run
            finally:
                await kernels.aclose()

    return asyncio.run(run())


def _line_from_stdin() -> str | None:
    """The next line for code that asks; None at the end of stdin."""
    line = sys.stdin.readline() if sys.stdin else ""
    return line.rstrip("\n") if line else None


def _doctor(call: Call) -> int:
    from terp_cli import doctor  # noqa: PLC0415  (see above)

    problems: tuple[str, ...] = ()
    try:
        settings = call.settings()
    except SettingsError as error:
        settings, problems = Settings(), error.problems
    return doctor.report(doctor.Patient(settings, call.places, call.environ, call.out, problems))


def _demo(call: Call) -> int:
    from terp_cli import demo  # noqa: PLC0415  (see above)
    from terp_cli.demo.play import play  # noqa: PLC0415

    if lacking := demo.lacking():
        raise TerpError(lacking)
    folder = demo.new_folder(call.cwd)
    # Without a terminal the tour goes by itself: all of its code ships with terp.
    person = call.person(call.settings()) or AutoRun()
    front = call.front({"model": "recording"})
    return asyncio.run(play(folder, _folder(call), person, front, call.stopping, says=call.notes))


def _profiles(call: Call) -> int:
    entries = list(Profiles(call.places.profiles).listed())
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        where = "shipped" if entry.shipped else str(entry.path)
        call.out.write(f"{one_line(entry.name):{width}}  {one_line(entry.description)} [{one_line(where)}]\n")
        call.out.writelines(f"{'':{width}}  {readable(problem)}\n" for problem in entry.problems)
    return 0


_COMMANDS: Mapping[str, Callable[[Call], int]] = {
    "": _converse,
    "demo": _demo,
    "doctor": _doctor,
    "profiles": _profiles,
    "run": _run_code,
}
