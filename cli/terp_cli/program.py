"""Everything but --help and --version: the one place where the parts of a call are put together."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from terp.errors import SettingsError, TerpError
from terp.settings import Settings
from terp_cli.fronts.call import Call
from terp_cli.line import streams
from terp_cli.line.command_line import CommandLine
from terp_cli.line.exit_codes import EXIT_CODES, READER_LEFT
from terp_cli.line.stopping import Stopped
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from terp.events.kernel import KnownLanguage
    from terp.tools.toolbox import Toolbox


def run(line: CommandLine) -> int:
    """Do what the command line asks; the exit code. What goes wrong becomes one line."""
    call = Call(line, os.environ)
    try:
        return _done(call)
    except Exception as error:  # noqa: BLE001  # what the interpreter would show may quote a key
        return call.crashed(error)


def _done(call: Call) -> int:
    try:
        with call.stopping.armed(call.options.timeout), call.terminal():
            return _COMMANDS[call.line.command](call)
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
    if call.resumes:
        from terp_cli.repl.resuming import resumes_problem  # noqa: PLC0415  (each command imports its own)

        if resumes_problem(call):
            return _solve(call)
    settings = call.settings()
    if call.stays and not call.resumes:
        from terp_cli.repl.first_prompt import prompt_first  # noqa: PLC0415  (each command imports its own)

        return prompt_first(call, settings)
    from terp_cli.repl.conversation import converse  # noqa: PLC0415  (see above)

    return converse(call, settings)


def _run_code(call: Call) -> int:
    from terp_cli.verbs.run_alone import run_alone  # noqa: PLC0415  (see above)

    return run_alone(call, call.settings())


def _doctor(call: Call) -> int:
    from terp_cli.fronts import doctor  # noqa: PLC0415  (see above)

    problems: tuple[str, ...] = ()
    try:
        settings = call.settings()
    except SettingsError as error:
        settings, problems = Settings(), error.problems
    return doctor.report(
        doctor.Patient(settings, call.places, call.environ, call.out, problems, cwd=str(call.options.cwd))
    )


def _demo(call: Call) -> int:
    from terp.person import AutoRun  # noqa: PLC0415  (see above)
    from terp_cli.repl.keeping import folder_of  # noqa: PLC0415
    from terp_cli.repl.seat import person_beside, seat_of  # noqa: PLC0415
    from terp_cli.verbs import demo  # noqa: PLC0415
    from terp_cli.verbs.demo.play import play  # noqa: PLC0415

    if lacking := demo.lacking():
        raise TerpError(lacking)
    settings = call.settings()
    seat = seat_of(call, settings, once=True)
    # Without a person the tour goes by itself: all of its code ships with terp.
    person = (seat.person if seat else person_beside(call, settings)) or AutoRun()
    front = seat.front if seat else call.front({"model": "recording"})
    folder = demo.new_folder(call.cwd)
    return asyncio.run(play(folder, folder_of(call), person, front, call.stopping, says=call.notes))


def _sessions(call: Call) -> int:
    from terp_cli.verbs.sessions import sessions  # noqa: PLC0415  (see above)

    return sessions(call)


def _export(call: Call) -> int:
    from terp_cli.verbs.exporting import export_session  # noqa: PLC0415  (see above)

    return export_session(call)


def _replay(call: Call) -> int:
    from terp_cli.verbs.replaying import replay  # noqa: PLC0415  (see above)

    return replay(call)


def _languages(call: Call) -> int:
    from terp.kernels.jupyter.local import LocalKernels  # noqa: PLC0415  (see above)
    from terp.opening.workbench import kernel_options  # noqa: PLC0415
    from terp_cli.fronts.languages import listed  # noqa: PLC0415

    settings = call.settings()
    if settings.gateway_url:
        known, _ = asyncio.run(_at_gateway(call, settings))
    else:
        known = LocalKernels(str(call.cwd), kernel_options(settings), environ=call.environ).known()
    rows = listed(known)
    width = max(len(names) for names, _, _ in rows)
    call.out.writelines(f"{names:{width}}  {state:7}  {one_line(how)}\n" for names, state, how in rows)
    return 0


async def _at_gateway(call: Call, settings: Settings) -> "tuple[Sequence[KnownLanguage], Toolbox]":
    """The languages and the tools behind the gateway of this call; no kernel is started."""
    from terp.opening.remote_workbench import open_gateway  # noqa: PLC0415  (most code runs here)
    from terp.store.places import Place  # noqa: PLC0415

    place = Place(call.places.sessions)
    bench = await open_gateway(settings, project=call.project, environ=call.environ, place=place)
    try:
        return bench.kernels.known(), bench.toolbox
    finally:
        await bench.kernels.aclose()


def _tools(call: Call) -> int:
    from terp.kernels.jupyter.local import LocalKernels  # noqa: PLC0415  (see above)
    from terp.opening.workbench import kernel_options  # noqa: PLC0415
    from terp.tools.files.reading import read_toolbox  # noqa: PLC0415
    from terp_cli.fronts.servers import tools_of  # noqa: PLC0415
    from terp_cli.fronts.tools import listed  # noqa: PLC0415

    settings = call.settings()
    if settings.gateway_url:
        _, toolbox = asyncio.run(_at_gateway(call, settings))
    else:
        kernels = LocalKernels(str(call.cwd), kernel_options(settings), environ=call.environ)
        toolbox = read_toolbox(settings, call.environ, call.places, kernels, call.project.tools)
    tools = (*toolbox.tools, *(tools_of(call, settings) if toolbox.tools else ()))
    rows = [tuple(map(one_line, row)) for row in listed(tools)]
    if not rows:
        call.tell(
            "there are no tools: they are functions of the Python kernel, and Python does not run here."
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    call.out.writelines(
        f"{name:{widths[0]}}  {arguments:{widths[1]}}  {source}\n" for name, arguments, source in rows
    )
    for problem in toolbox.problems:
        call.tell(problem)
    return 0


def _mcp(call: Call) -> int:
    from terp_cli.fronts.servers import check  # noqa: PLC0415  (see above)

    return check(call)


def _serve(call: Call) -> int:
    try:
        from terp_cli.server.serving import serve  # noqa: PLC0415  (see above)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("fastapi", "uvicorn", "websockets"):
            raise
        told = "the server needs packages that are not installed: pip install 'terp[server]'"
        raise TerpError(told) from missing
    return serve(call)


def _profiles(call: Call) -> int:
    from terp_cli.verbs.profiles import profiles  # noqa: PLC0415  (see above)

    return profiles(call)


def _cost(call: Call) -> int:
    from terp_cli.verbs.cost import cost  # noqa: PLC0415  (see above)

    return cost(call)


def _keys(call: Call) -> int:
    from terp_cli.verbs.keys import keys  # noqa: PLC0415  (see above)

    return keys(call)


def _trust(call: Call) -> int:
    from terp_cli.verbs.trust import trust  # noqa: PLC0415  (see above)

    return trust(call)


def _solve(call: Call) -> int:
    from terp_cli.verbs.solving import solve_problem  # noqa: PLC0415  (see above)

    return solve_problem(call)


def _rules(call: Call) -> int:
    from terp_cli.verbs.rules import rules  # noqa: PLC0415  (see above)

    return rules(call)


_COMMANDS: Mapping[str, Callable[[Call], int]] = {
    "": _converse,
    "cost": _cost,
    "demo": _demo,
    "doctor": _doctor,
    "export": _export,
    "keys": _keys,
    "languages": _languages,
    "mcp": _mcp,
    "profiles": _profiles,
    "replay": _replay,
    "rules": _rules,
    "run": _run_code,
    "serve": _serve,
    "sessions": _sessions,
    "solve": _solve,
    "tools": _tools,
    "trust": _trust,
}
