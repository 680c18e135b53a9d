"""`terp solve`: a problem in, and a solution out with what it was checked against."""

import asyncio
import os
from pathlib import Path

from terp.checks.solve import keeping
from terp.checks.solve.checking import FILE_MB, MEMORY_MB, Bounds, Checker
from terp.checks.solve.loop import Accepting, Outcome, Reviewer, solve
from terp.checks.solve.phases import Bench
from terp.checks.solve.problem import LARGEST, Problem, decoded, read_folder, text_of
from terp.checks.solve.single import is_python, read_markdown, read_python
from terp.checks.solve.state import State, begun, reopened
from terp.errors import SettingsError, with_remedy
from terp.kernels.sandbox.policy import ResourceLimits
from terp.opening.session import build_session
from terp.person import Nobody
from terp.settings import Settings
from terp.store.places import Place
from terp.text.paths import typed_path
from terp_cli.fronts.call import STDIN, Call
from terp_cli.line.exit_codes import EXIT_CODES
from terp_cli.repl.keeping import place_of, resumed_by
from terp_cli.repl.resuming import Resuming
from terp_cli.verbs.reviewing import TypingReviewer
from terp_cli.verbs.solve_front import SolveFront, front_of


def solve_problem(call: Call) -> int:
    """Solve the problem that the call names, or go on with that of a session; the exit code."""
    # Who is asked here types lines, which the terminal edits as it always does.
    call.typed_ahead.hand_over()
    resumed = resumed_by(call)
    if resumed is None and not call.line.argument:
        raise SettingsError(["terp solve needs a folder, a .md or .py file, or - for stdin."])
    # No code of the model runs in a kernel: each reply is one step.
    settings = call.settings(code=False, max_steps=1)
    # A problem that cannot be used is told before anything is opened.
    problem = None if resumed else problem_of(call)
    state = reopened(keeping.read(resumed.folder)) if resumed else None
    place = place_of(call, resumed)
    try:
        if state is None:
            assert problem is not None, "what is not resumed is read"
            state = begun(problem, settings.max_revisions)
        return asyncio.run(_solved(call, settings, place, state, resumed))
    finally:
        if place.keeper is not None:
            place.keeper.close()


def problem_of(call: Call) -> Problem:
    """The problem that a call names.

    Raises:
        SettingsError: it cannot be used.
    """
    named = call.line.argument
    if named == "-":
        text = decoded(_stdin(), "stdin")
        return read_python(text, "stdin") if is_python(text) else read_markdown(text, "stdin")
    path = call.cwd / typed_path(named)
    if path.is_dir():
        return read_folder(path)
    if not path.exists():
        raise SettingsError([f"there is no problem '{named}': no such folder or file."])
    if path.suffix not in (".md", ".py"):
        raise SettingsError(
            [f"'{named}' is no problem: a problem is a folder, a .md or .py file, or - for stdin."]
        )
    text = text_of(path)
    return read_python(text, path.stem) if path.suffix == ".py" else read_markdown(text, path.stem)


async def _solved(
    call: Call, settings: Settings, place: Place, state: State, resumed: Resuming | None
) -> int:
    cwd = resumed.cwd if resumed else call.cwd
    session = await build_session(
        settings,
        Nobody(),
        place=place,
        project=call.project_around(cwd),
        environ=call.environ,
        api_key=call.options.api_key,
    )
    facts = {"session": place.folder.name, "model": session.model.name}
    front = front_of(call, session, facts)
    reviewer = TypingReviewer(front) if _asks(call) else None

    async def interrupt() -> None:
        if reviewer is not None:
            reviewer.stop()
        await session.interrupt()

    with call.stopping.watching(interrupt, session.kernels.aclose):
        try:
            bench = Bench(session, Checker(session.kernels, bounds_of(settings)), front.announce, front.show)
            front.announce(f"Solving {state.problem.name}; tests run in {bench.checker.tier}")
            outcome = await _outcome(call, bench, state, reviewer or Accepting(), place.folder)
        finally:
            await session.aclose()
    return _ended(call, front, outcome, place.folder, shown=reviewer is not None)


async def _outcome(call: Call, bench: Bench, state: State, reviewer: Reviewer, folder: Path) -> Outcome:
    failed = False

    def keep(state: State) -> None:
        nonlocal failed
        try:
            keeping.write(folder, state, bench.session.equipment.scrubber)
        except OSError as error:
            if not failed:
                call.tell(f"the state cannot be kept: {error.strerror} ({folder}); it goes on in memory.")
            failed = True

    return await solve(bench, state, reviewer, keep)


def _ended(call: Call, front: SolveFront, outcome: Outcome, folder: Path, *, shown: bool) -> int:
    state = outcome.state
    if outcome.reason == "done":
        passed = state.passed
        front.finish(state, "done" if passed else "until_failed", shown=shown)
        return EXIT_CODES["done" if passed else "until_failed"]
    reason = "timeout" if call.stopping.timed_out else outcome.reason
    # What there is of a solution is told with all that is known of it.
    front.finish(state, reason, outcome.error, outcome.remedy, shown=shown or not state.code)
    if outcome.error:
        call.tell(with_remedy(outcome.error, outcome.remedy))
    call.tell(f"go on with: terp solve -r {folder.name}")
    return EXIT_CODES[reason] if call.stopping.code is None else call.stopping.code


def bounds_of(settings: Settings) -> Bounds:
    """What one test may take, as settings say."""
    limits = ResourceLimits(
        settings.memory_limit_mb or MEMORY_MB, settings.max_processes, settings.max_file_mb or FILE_MB
    )
    return Bounds(settings.solve_timeout_s, limits)


def _asks(call: Call) -> bool:
    """Whether a person sits there who can look at an answer."""
    return call.source == "terminal" and call.options.output_format == "text" and call.notes.isatty()


def _stdin() -> bytes:
    read = bytearray()
    while len(read) <= LARGEST and (piece := os.read(STDIN, LARGEST)):
        read += piece
    return bytes(read)
