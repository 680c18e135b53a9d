"""Everything but --help and --version: the one place where the parts of a call are put together."""

import asyncio
import gc
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from terp.attachments import attach, with_attachments
from terp.errors import SettingsError, TerpError
from terp.models.routing import doubt
from terp.opening import build_session, new_folder
from terp.person import AutoRun, Nobody, Person
from terp.places import make_private
from terp.profile_file import short_path
from terp.profiles import Profiles
from terp.settings import Settings
from terp_cli import streams
from terp_cli.call import STDIN, Call
from terp_cli.command_line import CommandLine
from terp_cli.exit_codes import EXIT_CODES, READER_LEFT
from terp_cli.oneshot import Question, one_shot
from terp_cli.sanitise import one_line, readable
from terp_cli.stdin import Piped, read_prompt, take_data
from terp_cli.stopping import Stopped

if TYPE_CHECKING:
    from terp_cli.seat import Seat

_SETTLED_S = 1.0


def run(line: CommandLine) -> int:
    """Do what the command line asks; the exit code. What goes wrong becomes one line."""
    call = Call(line, os.environ)
    try:
        with call.stopping.armed(line.options.timeout), call.terminal():
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
    except OSError as error:
        if error.errno not in streams.CANNOT_TAKE_MORE:
            raise
        return call.cannot_write(error)


def _converse(call: Call) -> int:
    settings, cwd, out = call.settings(), call.cwd, call.out_folder
    folder = _folder(call)
    prompt, piped = _asked(call, folder)
    attachments = attach(call.options.file, cwd)
    asked = bool(prompt.strip() or attachments or piped)
    if call.line.words and not asked:
        raise SettingsError(["the prompt is empty."])
    if not (asked or call.talks):
        raise SettingsError(["there is no prompt: write it after terp, or pipe it in."])
    question = Question(
        with_attachments(prompt, attachments), (*attachments, *([piped.attachment] if piped else ())), out
    )
    stays = call.talks and (call.options.interactive or not asked)

    async def converse() -> int:
        seat = _seat(call, settings, once=not stays)
        session = await build_session(
            settings,
            (seat.person if seat else _person(call, settings)) or Nobody(),
            folder=folder,
            cwd=str(cwd),
            environ=call.environ,
            api_key=call.options.api_key,
            prelude=piped.prelude if piped else "",
        )
        if doubtful := doubt(session.model.name, settings.api_base):
            call.tell(doubtful)
        _keep_imports()
        # By then the prompt is there, or the request is out.
        asyncio.get_running_loop().call_later(_SETTLED_S, call.guard.stay)
        front = seat.front if seat else call.front({"session": folder.name, "model": session.model.name})
        if not stays:
            return await one_shot(session, question, front, call.stopping)
        from terp_cli.talking import talk  # noqa: PLC0415  (for who stays alone)

        assert seat is not None, "who stays has a terminal"
        call.typed_ahead.hand_over()
        return await talk(call, settings, session, seat, question if asked else None)

    try:
        return asyncio.run(converse())
    finally:
        if piped:
            # Nothing comes back to this session, and the data may be large and private.
            piped.path.unlink(missing_ok=True)


def _seat(call: Call, settings: Settings, *, once: bool) -> "Seat | None":
    """What draws and asks on a terminal; None where plain text or JSON is wanted."""
    if not call.draws:
        return None
    from terp_cli.seat import Seat  # noqa: PLC0415  (a pipeline draws and asks nothing)

    return Seat.of(call, settings, once=once)


def _person(call: Call, settings: Settings) -> Person | None:
    """Who can be asked beside plain text or JSON: whoever sits at the terminal of this process."""
    # With -y in a pipe nobody is expected to sit there.
    if settings.auto_run and call.source != "terminal":
        return None
    from terp_cli.seat import person_beside  # noqa: PLC0415  (see `_seat`)

    return person_beside(call, settings)


def _asked(call: Call, folder: Path) -> tuple[str, Piped | None]:
    """The prompt, from the words or else from stdin; and what stdin holds beside words."""
    words = " ".join(call.line.words)
    # Arguments that are not in the locale's encoding hold halves of characters, which cannot be sent.
    prompt = words.encode(errors="surrogateescape").decode(errors="replace")
    if call.source != "data":
        return prompt, None
    if call.line.words:
        return prompt, take_data(STDIN, lambda: make_private(folder), call.tell)
    return read_prompt(STDIN), None


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
    settings = call.settings()
    seat = _seat(call, settings, once=True)
    # Without a person the tour goes by itself: all of its code ships with terp.
    person = (seat.person if seat else _person(call, settings)) or AutoRun()
    front = seat.front if seat else call.front({"model": "recording"})
    folder = demo.new_folder(call.cwd)
    return asyncio.run(play(folder, _folder(call), person, front, call.stopping, says=call.notes))


def _profiles(call: Call) -> int:
    entries = list(Profiles(call.places.profiles).listed())
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        where = f"[{'shipped' if entry.shipped else short_path(entry.path)}]"
        about = f"{entry.description} {where}".lstrip()
        call.out.write(f"{one_line(entry.name):{width}}  {one_line(about)}\n")
        call.out.writelines(f"{'':{width}}  {readable(problem)}\n" for problem in entry.problems)
    return 0


_COMMANDS: Mapping[str, Callable[[Call], int]] = {
    "": _converse,
    "demo": _demo,
    "doctor": _doctor,
    "profiles": _profiles,
    "run": _run_code,
}
