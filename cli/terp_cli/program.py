"""Everything but --help and --version: the one place where the parts of a call are put together."""

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from terp.attachments import attach, with_attachments
from terp.errors import SettingsError, TerpError
from terp.models.routing import doubt
from terp.opening import build_session
from terp.person import AutoRun, Nobody, Person
from terp.places import make_private
from terp.profile_file import short_path
from terp.profiles import Profiles
from terp.session import Session
from terp.settings import Settings
from terp.store.places import Place
from terp_cli import streams
from terp_cli.call import STDIN, Call
from terp_cli.command_line import CommandLine
from terp_cli.exit_codes import EXIT_CODES, READER_LEFT
from terp_cli.keeping import folder_of, place_of, prune_soon, resumed_by, tell_of_past, what_first
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
    resumed = resumed_by(call)
    settings, out = call.settings(), call.out_folder
    cwd = resumed.cwd if resumed else call.cwd
    place = place_of(call, settings, resumed)
    prompt, piped = _asked(call, place.folder)
    attachments = attach(call.options.file, cwd)
    asked = bool(prompt.strip() or attachments or piped)
    if call.line.words and not asked:
        raise SettingsError(["the prompt is empty."])
    first = what_first(call, settings, place, asked=asked)
    if not (asked or first or call.talks):
        raise SettingsError(["there is no prompt: write it after terp, or pipe it in."])
    question = Question(
        with_attachments(prompt, attachments),
        (*attachments, *([piped.attachment] if piped else ())),
        out,
        first,
    )
    stays = call.talks and (call.options.interactive or not asked)
    given = _Given(place, cwd, question, piped.prelude if piped else "", resumed is not None)
    try:
        return asyncio.run(_conversed(call, settings, given, stays=stays))
    finally:
        if place.keeper is not None:
            place.keeper.close()
        if piped:
            # Nothing comes back to this session, and the data may be large and private.
            piped.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class _Given:
    """What a conversation begins with: where it is kept and works, and what is asked first."""

    place: Place
    cwd: Path
    question: Question
    prelude: str
    resumed: bool


async def _conversed(call: Call, settings: Settings, given: _Given, *, stays: bool) -> int:
    seat = _seat(call, settings, once=not stays)
    person = (seat.person if seat else None) or _person_beside(call, settings, drawn=seat is not None)

    async def opened(place: Place) -> Session:
        return await build_session(
            settings,
            person,
            place=place,
            cwd=str(given.cwd),
            environ=call.environ,
            api_key=call.options.api_key,
            prelude=given.prelude,
        )

    session = await opened(given.place)
    if doubtful := doubt(session.model.name, settings.api_base):
        call.tell(doubtful)
    _keep_imports()
    # By then the prompt is there, or the request is out.
    asyncio.get_running_loop().call_later(_SETTLED_S, call.guard.stay)
    prune_soon(call, settings, session)
    if stays:
        from terp_cli.talking import talk  # noqa: PLC0415  (for who stays alone)

        assert seat is not None, "who stays has a terminal"
        return await talk(
            call, settings, session, seat, given.question if given.question.asks else None, opened
        )
    if given.resumed:
        tell_of_past(call, session)
    facts = {"session": given.place.folder.name, "model": session.model.name}
    front = seat.titles.beside(seat.front) if seat else call.front(facts)
    return await one_shot(session, given.question, front, call.stopping)


def _seat(call: Call, settings: Settings, *, once: bool) -> "Seat | None":
    """What draws and asks on a terminal; None where plain text or JSON is wanted."""
    if not call.draws:
        return None
    from terp_cli.seat import Seat  # noqa: PLC0415  (a pipeline draws and asks nothing)

    return Seat.of(call, settings, once=once)


def _person_beside(call: Call, settings: Settings, *, drawn: bool) -> Person:
    """Who decides where nobody sits at the terminal that is drawn on."""
    person = (None if drawn else _person(call, settings)) or Nobody()
    return AutoRun(person) if settings.auto_run else person


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


def _keep_imports() -> None:
    """Take all that is imported by now out of garbage collection, which `main` put off until here."""
    gc.freeze()
    gc.enable()


def _run_code(call: Call) -> int:
    from terp.kernels.local import LocalKernels  # noqa: PLC0415  (each command imports what it alone needs)
    from terp.opening import kernel_options  # noqa: PLC0415
    from terp_cli.run_code import CodeRun, language_for, read_code  # noqa: PLC0415

    settings, cwd = call.settings(), call.cwd
    code = read_code(call.line.argument)
    kernels = LocalKernels(str(cwd), kernel_options(settings), environ=call.environ)
    kernel = kernels.get(language_for(call.line.argument, call.options.language, kernels.languages))
    folder = call.out_folder or folder_of(call)
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
    return asyncio.run(play(folder, folder_of(call), person, front, call.stopping, says=call.notes))


def _sessions(call: Call) -> int:
    from terp_cli.sessions import sessions  # noqa: PLC0415  (see above)

    return sessions(call)


def _export(call: Call) -> int:
    from terp_cli.exporting import export_session  # noqa: PLC0415  (see above)

    return export_session(call)


def _languages(call: Call) -> int:
    from terp.kernels.local import LocalKernels  # noqa: PLC0415  (see above)
    from terp.opening import kernel_options  # noqa: PLC0415
    from terp_cli.languages import listed  # noqa: PLC0415

    kernels = LocalKernels(str(call.cwd), kernel_options(call.settings()), environ=call.environ)
    rows = listed(kernels.known())
    width = max(len(names) for names, _, _ in rows)
    call.out.writelines(f"{names:{width}}  {state:7}  {one_line(how)}\n" for names, state, how in rows)
    return 0


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
    "export": _export,
    "languages": _languages,
    "profiles": _profiles,
    "run": _run_code,
    "sessions": _sessions,
}
