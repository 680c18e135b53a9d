"""`terp solve`: solve a problem, and print the solution with the results of its checks."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from terp.checks.solve.checker import checker_for
from terp.checks.solve.phases import Accepting, Outcome, PhaseStopped, Reviewer, SolveContext, solve
from terp.checks.solve.problem import LARGEST, Problem, decoded, read_path, read_text
from terp.checks.solve.state import (
    State,
    first_state,
    read_state,
    reopened,
    result_json,
    result_text,
    write_state,
)
from terp.errors import SettingsError, StopReason, with_remedy
from terp.events import Event, ModelRetrying, Noticed, TextDelta, TurnFinished
from terp.events.log import Record
from terp.events.wire import VERSION, to_json
from terp.person import Nobody
from terp.secrets.redactor import StreamRedactor
from terp.session.foreground import Interrupted, Interrupts
from terp.session.session import Session
from terp.settings import Settings
from terp.store.places import Place
from terp.text.paths import typed_path
from terp_cli.fronts.invocation import STDIN, Invocation
from terp_cli.fronts.json import usage_json, write_json
from terp_cli.line.stdin import TypedLines
from terp_cli.line.stopping import EXIT_CODES
from terp_cli.repl.keeping import SessionOpener, place_of, resumed_by
from terp_cli.repl.resuming import Resuming
from terp_cli.terminal.sanitise import readable

_WIDTH = 77
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class SolveFront:
    """Shows the work on a problem; nothing of it, unless a front end does."""

    def announce(self, what: str) -> None:
        """Report the phase that begins."""

    def show(self, event: Event) -> None:
        """Show an event of the work."""

    def answer(self, state: State) -> None:
        """Show the present answer."""

    def ask(self, text: str) -> None:
        """Write a question to the user."""

    def finish(
        self, state: State, reason: StopReason, error: str = "", remedy: str = "", *, shown: bool
    ) -> None:
        """End the output; `shown` is True if the answer was shown, or there is none."""


def front_of(call: Invocation, session: Session, facts: Mapping[str, str]) -> SolveFront:
    """Return the front end for the call's output format."""
    if call.options.output_format == "text":
        return TextFront(call, session)
    return JsonFront(call.out, session, facts, streams=call.options.output_format == "stream-json")


class TextFront(SolveFront):
    """Writes the solution to stdout, with a report as comments below it; all else to stderr."""

    def __init__(self, call: Invocation, session: Session) -> None:
        self._call = call
        self._session = session
        dims = call.notes.isatty() and not (call.environ.get("NO_COLOR") or call.options.plain)
        self._dim, self._plain = (_DIM, _PLAIN) if dims else ("", "")
        self._streams = call.notes.isatty() or call.options.verbose
        self._open = False

    def announce(self, what: str) -> None:
        """Report the phase that begins."""
        self._note(f"=== {what} ===\n")

    def show(self, event: Event) -> None:
        """Show the model's text as it comes, if a user is watching."""
        match event:
            case TextDelta(text=text) if self._streams and not self._call.options.quiet:
                self._call.notes.write(f"{self._dim}{readable(text)}{self._plain}")
                self._call.notes.flush()
                self._open = not text.endswith("\n")
            case TurnFinished():
                self._close()
            case Noticed(text=text, remedy=remedy):
                self._close()
                self._call.note(with_remedy(text, remedy))
            case ModelRetrying(reason=reason):
                self._close()
                self._call.note(reason)

    def answer(self, state: State) -> None:
        """Write the solution, with the results of its checks as comments."""
        clean = self._session.resources.redacted
        comments = "".join(f"{line}\n" for row in result_text(state).splitlines() for line in _comment(row))
        code = f"{state.code.rstrip()}\n\n" if state.code else ""
        text = clean(f"{code}{comments}")
        out = self._call.out
        out.write(readable(text) if out.isatty() else text)
        out.flush()

    def ask(self, text: str) -> None:
        """Write a question to the user."""
        self._close()
        self._call.notes.write(text)
        self._call.notes.flush()

    def finish(
        self, state: State, reason: StopReason, error: str = "", remedy: str = "", *, shown: bool
    ) -> None:
        """Show the answer, if it was not shown yet."""
        self._close()
        if not shown:
            self.answer(state)

    def _note(self, text: str) -> None:
        self._close()
        if not self._call.options.quiet:
            self._call.notes.write(readable(text))
            self._call.notes.flush()

    def _close(self) -> None:
        if self._open:
            self._call.notes.write("\n")
        self._open = False


def _comment(line: str) -> list[str]:
    """Return a line of the report as a comment; quoted code and errors are joined into one line."""
    from textwrap import wrap  # noqa: PLC0415  (once, at the end)

    if line.startswith(" ") or not line:
        return [f"# {line}".rstrip()]
    lines = wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"# {one}" for one in lines]


class JsonFront(SolveFront):
    """Writes one object at the end; if it `streams`, also each event as a line before that."""

    def __init__(self, out: TextIO, session: Session, facts: Mapping[str, Any], *, streams: bool) -> None:
        self._out = out
        self._session = session
        self._facts = facts
        self._streams = streams
        self._redactor = session.resources.redactor
        self._stream = StreamRedactor(self._redactor)

    def show(self, event: Event) -> None:
        """Write an event."""
        if self._streams:
            for record in self._stream.passed(Record(0, 0.0, event)):
                write_json(self._out, self._redactor().redacted_fields(to_json(record.event)))

    def finish(
        self, state: State, reason: StopReason, error: str = "", remedy: str = "", *, shown: bool
    ) -> None:
        """Write the result."""
        ended = {"stop_reason": reason, "error": error, "remedy": remedy}
        used = self._session.budget.used
        spent = {"cost_usd": used.cost_usd, "usage": usage_json(used)}
        result = {"version": VERSION, **ended, **result_json(state), **spent}
        write_json(self._out, {**self._redactor().redacted_fields(result), **self._facts})


def solve_problem(call: Invocation) -> int:
    """Solve the problem that the call names, or resume that of a session; return the exit code."""
    # Who is asked here types lines, which the terminal edits as it always does.
    call.typed_ahead.hand_over()
    # No code of the model runs in a kernel: each reply is one step.
    settings = call.settings(code=False, max_steps=1)
    resumed = resumed_by(call, settings)
    if resumed is None and not call.line.argument:
        raise SettingsError(["terp solve needs a folder, a .md or .py file, or - for stdin."])
    # A problem that cannot be used is reported before anything is opened.
    problem = None if resumed else problem_of(call)
    state = reopened(read_state(resumed.folder)) if resumed else None
    place = place_of(call, resumed)
    try:
        if state is None:
            assert problem is not None, "what is not resumed is read"
            state = first_state(problem, settings.max_revisions)
        return asyncio.run(_solved(call, settings, place, state, resumed))
    finally:
        if place.keeper is not None:
            place.keeper.close()


def problem_of(call: Invocation) -> Problem:
    """Return the problem that a call names.

    Raises:
        SettingsError: the problem cannot be read.
    """
    named = call.line.argument
    if named == "-":
        return read_text(decoded(_stdin(), "stdin"), "stdin")
    return read_path(call.cwd / typed_path(named), named)


async def _solved(
    call: Invocation, settings: Settings, place: Place, state: State, resumed: Resuming | None
) -> int:
    cwd = resumed.cwd if resumed else call.cwd
    session = await SessionOpener(call, settings, Nobody(), cwd).open(place)
    facts = {"session": place.folder.name, "model": session.model.name}
    front = front_of(call, session, facts)
    reviewer = TypingReviewer(front) if _asks(call) else None

    async def interrupt() -> None:
        if reviewer is not None:
            reviewer.stop()
        await session.interrupt()

    with call.stopping.watching(interrupt, session.kernels.aclose):
        try:
            context = SolveContext(
                session, checker_for(session.kernels, settings), front.announce, front.show
            )
            front.announce(f"Solving {state.problem.name}; tests run in {context.checker.tier}")
            outcome = await _outcome(call, context, state, reviewer or Accepting(), place.folder)
        finally:
            await session.aclose()
    return _ended(call, front, outcome, place.folder, shown=reviewer is not None)


async def _outcome(
    call: Invocation, context: SolveContext, state: State, reviewer: Reviewer, folder: Path
) -> Outcome:
    failed = False

    def keep(state: State) -> None:
        nonlocal failed
        try:
            write_state(folder, state, context.session.resources.redactor)
        except OSError as error:
            if not failed:
                call.note(f"the state cannot be stored: {error.strerror} ({folder}); it stays in memory.")
            failed = True

    return await solve(context, state, reviewer, keep)


def _ended(call: Invocation, front: SolveFront, outcome: Outcome, folder: Path, *, shown: bool) -> int:
    state = outcome.state
    if outcome.reason == "done":
        passed = state.passed
        front.finish(state, "done" if passed else "until_failed", shown=shown)
        return EXIT_CODES["done" if passed else "until_failed"]
    reason = "timeout" if call.stopping.timed_out else outcome.reason
    # A partial solution is shown with its results.
    front.finish(state, reason, outcome.error, outcome.remedy, shown=shown or not state.code)
    if outcome.error:
        call.note(with_remedy(outcome.error, outcome.remedy))
    call.note(f"resume with: terp solve -r {folder.name}")
    return EXIT_CODES[reason] if call.stopping.code is None else call.stopping.code


def _asks(call: Invocation) -> bool:
    """Return True if a user at the terminal can review an answer."""
    return call.source == "terminal" and call.options.output_format == "text" and call.notes.isatty()


def _stdin() -> bytes:
    read = bytearray()
    while len(read) <= LARGEST and (piece := os.read(STDIN, LARGEST)):
        read += piece
    return bytes(read)


_ASSERTS = "More asserts, which always have to pass; two empty lines end them (Enter: none):\n"
_COMMENT = "A comment on the solution (Enter: none):\n"


class TypingReviewer:
    """Reads lines in the terminal's normal mode, so that the terminal is in order whenever terp ends."""

    def __init__(self, front: SolveFront) -> None:
        self._front = front
        self._lines = TypedLines(STDIN)
        self._interrupts = Interrupts()
        self._comment = ""

    def stop(self) -> None:
        """Stop asking."""
        self._interrupts.stop()

    async def look(self, state: State, complaint: str) -> tuple[str, str]:
        """Return the asserts and the comment of the user; after a `complaint` only asserts are asked again.

        Raises:
            PhaseStopped: the user has interrupted.
        """
        if complaint:
            self._front.ask(f"{complaint}\n")
        else:
            self._front.answer(state)
        try:
            asserts = await self._interrupts.guard(self._asserts())
            if not complaint:
                self._comment = await self._interrupts.guard(self._commented())
        except Interrupted as stopped:
            raise PhaseStopped("interrupted") from stopped
        return asserts, self._comment

    async def _asserts(self) -> str:
        lines: list[str] = []
        line = await self._line(_ASSERTS)
        while line is not None and (line.strip() or (lines and lines[-1])):
            lines.append(line.rstrip())
            line = await self._lines.next()
        return "\n".join(lines).strip()

    async def _commented(self) -> str:
        return await self._line(_COMMENT) or ""

    async def _line(self, question: str) -> str | None:
        self._front.ask(question)
        return await self._lines.next()
