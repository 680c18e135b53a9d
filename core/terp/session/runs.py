"""Runs of code: each item of a run is passed to a sink; the session's sink logs it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from terp.analysis.edits import compared, texts_named
from terp.events import CodeFinished, CodeRejected, CodeStarted, Noticed, Printed, Progress
from terp.events.error_text import lost_name, misplaced
from terp.events.kernel import Kernel
from terp.events.log import EventLog
from terp.events.messages import Image
from terp.events.outputs import (
    BackCall,
    Display,
    Error,
    InputRequest,
    Omitted,
    Output,
    RunEnded,
    RunItem,
    RunStarted,
    RunStatus,
    StreamName,
    Text,
    ToolWorking,
    VariableChange,
)
from terp.events.performed import account_of
from terp.events.run_log import RunLog
from terp.events.settled import Displays, Settled
from terp.kernels.sandbox.temporary import Leftovers
from terp.models.tool import Call
from terp.session.artifacts import Artifacts, Shown, Spool
from terp.session.held_effects import EffectQuestions
from terp.session.observation import Observation, described
from terp.text.dataclasses import dataclass, replace
from terp.text.plain import without_escapes

if TYPE_CHECKING:
    from terp.kernels.sandbox.denials import Denials
    from terp.session.resources import SessionResources

T = TypeVar("T")
Guard = Callable[[Awaitable[Any]], Awaitable[Any]]
"""Awaits something, unless that is stopped."""
HEAD = 1_000_000
TAIL = 20_000
REPORT_EVERY = 1_000_000


class Attended(Protocol):
    """A run as its turn or job sees it: how it is stopped, and when it may ask for input."""

    def begun(self, so_far: Callable[[], str]) -> None:
        """Note that the kernel has the code; `so_far` returns its output until now."""

    async def guard(self, awaitable: Awaitable[T]) -> T:
        """Return the result of `awaitable`.

        Raises:
            Interrupted: the run was stopped.
        """

    async def asked(self, ask: Callable[[str], Awaitable[T]]) -> T:
        """Call `ask` with the name of the asking run, once the user may be asked; return the answer.

        Raises:
            Interrupted: the run was stopped.
        """


class CodeServices(Protocol):
    """Answers running code that waits for input or calls a service of terp."""

    async def type_in(self, request: InputRequest, kernel: Kernel, attended: Attended) -> str:
        """Give the kernel a line of input; return a note for the model, or ""."""

    async def serve(self, call: BackCall, kernel: Kernel, guard: Guard) -> None:
        """Give the kernel the answer of a service."""


class RunSink(Protocol):
    """Receives the items of one run, in order."""

    def started(self) -> None:
        """Handle the start of the code in the kernel."""

    def output(self, output: Output) -> None:
        """Handle an output of the code, or its request for input."""

    def working(self, tool: ToolWorking) -> None:
        """Handle the start or the end of a tool that the code called."""

    async def serve(self, call: BackCall) -> None:
        """Answer a service call of the code; its output continues meanwhile."""

    async def type_in(self, request: InputRequest) -> None:
        """Answer a request for input; the output continues meanwhile."""


async def drain(running: AsyncGenerator[RunItem, None], sink: RunSink) -> RunEnded:
    """Send all items of a run to `sink`; return the last one. Cancelling closes `running`."""
    async with aclosing(running) as items, aclosing(Interleaver()) as interleaver:
        while not isinstance(item := await interleaver.next(items), RunEnded):
            match item:
                case RunStarted():
                    sink.started()
                case BackCall():
                    interleaver.begin(sink.serve(item))
                case ToolWorking():
                    sink.working(item)
                case InputRequest():
                    sink.output(item)
                    interleaver.begin(sink.type_in(item))
                case _:
                    sink.output(item)
    return item


class Interleaver:
    """Runs coroutines while a generator is read: `next` raises their errors, and `aclose` cancels them.

    A kernel that dies while its code waits for input thus ends the run, and the question with it.
    """

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` once the work begun before it has ended."""
        task = asyncio.create_task(_after(self._tasks[-1] if self._tasks else None, work))
        # It may be cancelled before it starts.
        task.add_done_callback(lambda _: work.close())
        self._tasks.append(task)

    async def next(self, items: AsyncGenerator[T, None]) -> T:
        """Return the next item of the generator, while the work continues.

        Raises:
            StopAsyncIteration: the generator has ended.
        """
        if not self._tasks:
            return await anext(items)
        upcoming = asyncio.ensure_future(anext(items))
        try:
            while not upcoming.done():
                await asyncio.wait({upcoming, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
                self._check()
            return upcoming.result()
        finally:
            await _end(upcoming)

    async def aclose(self) -> None:
        """Cancel unfinished work. Harmless if repeated."""
        tasks, self._tasks = self._tasks, []
        # The last one first: the end of one starts the next.
        for task in reversed(tasks):
            await _end(task)

    def _check(self) -> None:
        while self._tasks and self._tasks[0].done():
            self._tasks.pop(0).result()


async def _after(earlier: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]) -> None:
    if earlier is not None:
        await asyncio.wait({earlier})
    await work


async def _end(task: asyncio.Future[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


class OutputLimiter:
    """Limits the text of one run: `HEAD` characters are kept, the text after them is counted.

    The last `TAIL` characters before another output, or before the end, are kept too. All of the text is in
    the run's full-output file, up to its limit.
    """

    def __init__(self) -> None:
        self._room = HEAD
        self._stream: StreamName = "stdout"
        self._tail = ""
        self._omitted = 0
        self._lines = 0

    def kept(self, output: Output) -> Iterator[Output]:
        """Yield the kept part of `output`."""
        if not isinstance(output, Text):
            yield from self.ended()
            yield output
            return
        shown, rest = output.text[: self._room], output.text[self._room :]
        self._room -= len(shown)
        if shown:
            yield Text(output.stream, shown) if rest else output
        if rest:
            self._hold(output.stream, rest)
        if self._omitted >= REPORT_EVERY:
            yield self._counted()

    def ended(self) -> Iterator[Output]:
        """Yield the last count and the tail."""
        if self._omitted:
            yield self._counted()
        if self._tail:
            yield Text(self._stream, self._tail)
            self._tail = ""

    def _hold(self, stream: StreamName, text: str) -> None:
        self._stream = stream
        held = self._tail + text
        cut = max(0, len(held) - TAIL)
        self._omitted += cut
        self._lines += held.count("\n", 0, cut)
        self._tail = held[cut:]

    def _counted(self) -> Omitted:
        count = Omitted(self._omitted, self._lines, spooled=True)
        self._omitted = self._lines = 0
        return count


@dataclass(frozen=True, slots=True)
class Observed:
    """The result of a run, as the model reads it."""

    status: RunStatus
    text: str
    images: tuple[Image, ...]
    failed: bool
    error: Error | None = None
    broken: bool = False
    """True if a watched condition no longer holds."""


class Runner:
    """Runs calls in kernels: logs every output, keeps the full text, saves pictures.

    `services` answers running code, `questions` asks about its effects. `runs` is the number of runs before
    the session was resumed.
    """

    def __init__(
        self,
        log: EventLog,
        past_runs: RunLog,
        artifacts: Artifacts,
        services: CodeServices,
        resources: "SessionResources",
        questions: EffectQuestions,
        runs: int = 0,
    ) -> None:
        self.log = log
        self._past_runs = past_runs
        self.artifacts = artifacts
        self.services = services
        self.resources = resources
        self.runs = runs
        self.questions = questions
        self._leftovers = Leftovers()

    async def run(
        self, call: Call, kernel: Kernel, attended: Attended, *, timeout_s: float, max_chars: int
    ) -> Observed:
        """Run an approved call to its end. Several may run, each in another kernel.

        Raises:
            KernelStartFailed: there is no kernel to run it.
        """
        run = _SessionRun(self, call, kernel, attended, max_chars)
        began, at = time.monotonic(), self.log.turn_at
        # A shell and other programs have no hooks that could save what a file held.
        texts = await asyncio.to_thread(texts_named, call.code, kernel.cwd)
        held = await self.questions.begin(call, kernel, attended)
        if (watch := getattr(kernel, "watch", None)) is not None:
            watch[:] = self.resources.watch
        running = kernel.execute(call.code, run_id=call.id, number=run.number, timeout_s=timeout_s, moment=at)
        try:
            ended = self._without_own(await drain(running, run))
        finally:
            self.questions.end(held)
            run.spool.close()
        ended = replace(ended, files=tuple(compared(one, texts.get(one.path)) for one in ended.files))
        run.finish()
        self._remark(run, ended)
        shown = replace(ended, changes=without_passing(ended.changes, call.language, call.code))
        mark = self.resources.note_mark
        text = run.observation.text(shown, run.spool.path, kernel.cwd)
        finished = CodeFinished(
            call.id,
            ended.status,
            time.monotonic() - began - self.questions.waited_s(held),
            ended.files,
            ended.note,
            run.spool.path,
            ended.changes,
            ended.more_changes,
            ended.stopped_at,
            kernel.cwd,
            ended.effects,
        )
        self.log.append(finished if run.is_started else CodeRejected(call.id, mark.without(text)))
        failed = run.error is not None or ended.status != "ok"
        return Observed(ended.status, text, run.observation.images, failed, run.error, bool(ended.broken))

    def _remark(self, run: "_SessionRun", ended: RunEnded) -> None:
        """Add terp's own remarks on the run, for the model and in part for the user."""
        if effects := account_of(ended.effects, ended.files, run.kernel.cwd):
            run.observation.remark(f"effects: {effects}")
        if run.error is not None:
            run.observation.remark(lost_name(self._past_runs.names, run.error))
        broken = [f"Watch: {one.name} does not hold: {one.value}." for one in ended.broken]
        for message in (*broken, *self._sandbox_messages(run)):
            self.log.append(Noticed(message))
            run.observation.remark(message)
        if ended.status == "error" or run.error is not None:
            run.observation.remark(misplaced(run.call.language, run.call.code))

    def _sandbox_messages(self, run: "_SessionRun") -> list[str]:
        if run.denials is None or self.resources.confinement is None:
            return []
        messages = run.denials.message(), self._leftovers.message(self.resources.confinement, run.kernel)
        return [message for message in messages if message]

    def _without_own(self, ended: RunEnded) -> RunEnded:
        """Return `ended` without the files that terp itself wrote, and without values unless they are sent.

        The session's folder may lie in the working directory.
        """
        own = self.artifacts.home.absolute()
        files = tuple(change for change in ended.files if own not in Path(change.path).parents)
        if self.resources.error_values:
            return replace(ended, files=files)
        stopped = replace(ended.stopped_at, values=()) if ended.stopped_at else None
        changes = tuple(map(_without_values, ended.changes))
        return replace(ended, files=files, held=(), stopped_at=stopped, changes=changes)


def _without_values(change: VariableChange) -> VariableChange:
    """Return a change with shapes and types, but without numbers and texts."""
    facts = tuple(fact for fact in change.facts if "→" not in fact)
    is_shape = change.shape and change.type != "str"
    return replace(change, facts=facts) if is_shape else replace(change, was="", now="", facts=facts)


class _SessionRun:
    """The sink of a session's run: logs outputs, saves them, and collects what the model reads."""

    def __init__(
        self, runner: Runner, call: Call, kernel: Kernel, attended: Attended, max_chars: int
    ) -> None:
        self.call = call
        self.kernel = kernel
        self.number = runner.runs + 1
        self.spool = Spool(runner.artifacts, str(self.number))
        self.observation = Observation(max_chars, kernel.cwd, runner.resources.note_mark)
        self.is_started = False
        self.denials: Denials | None = None
        self.error: Error | None = None
        self._runner = runner
        self._attended = attended
        self._limiter = OutputLimiter()

    def started(self) -> None:
        """Log the start; the sandbox of the kernel is known from now on."""
        self.is_started, self._runner.runs = True, self.number
        if (confinement := self._runner.resources.confinement) is not None:
            from terp.kernels.sandbox.denials import denials_of  # noqa: PLC0415  (only in a sandbox)

            self.denials = denials_of(confinement, self.kernel)
        self._runner.log.append(CodeStarted(self.call.id, self.number))
        self._attended.begun(lambda: self.observation.so_far)

    def output(self, output: Output) -> None:
        """Log and keep an output."""
        if isinstance(output, Shown):
            output = self._saved(output)
        if isinstance(output, Text):
            self.spool.add(output.text)
        elif isinstance(output, Error):
            self.error = output
            # Readers of the log see the frames of libraries folded.
            self.spool.add(without_escapes("\n".join(output.traceback)) + "\n")
        elif isinstance(output, Display):
            self.spool.add(described(output).rstrip("\n") + "\n")
        self.observation.add(output)
        if self.denials is not None:
            self.denials.add(output)
        self._show(self._limiter.kept(output))

    def working(self, tool: ToolWorking) -> None:
        """Log the progress of a tool."""
        over = int(tool.over)
        self._runner.log.append(Progress(f"calling tool {tool.name}", over, over, 0.0))

    async def serve(self, call: BackCall) -> None:
        """Answer a service call of the code."""
        await self._runner.services.serve(call, self.kernel, self._attended.guard)

    async def type_in(self, request: InputRequest) -> None:
        """Ask the user for a line of input."""
        self.observation.remark(await self._runner.services.type_in(request, self.kernel, self._attended))

    def finish(self) -> None:
        """Log the rest of the output, and the amount that was left out."""
        self._show(self._limiter.ended())
        if self.spool.failure:
            self._runner.log.append(Noticed(f"Not all output of this run is saved: {self.spool.failure}"))

    def _saved(self, display: Shown) -> Shown:
        try:
            return self._runner.artifacts.save(str(self.number), display)
        except OSError as error:
            self._runner.log.append(Noticed(f"A picture of this run is not saved: {error}"))
            return display

    def _show(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            self._runner.log.append(Printed(self.call.id, output))


class CapturedRun:
    """A run whose outputs are kept instead of shown, as a session would keep them.

    Code that asks for input gets the lines of `answers`, then end of file. `displays` are those of all runs
    that belong together: a later run can change what an earlier one shows. `observed` is the text that a
    model would read; `failed` is True if the run did not end normally.
    """

    def __init__(
        self,
        answers: Iterable[str],
        displays: Displays,
        serve: Callable[[BackCall, Kernel], Awaitable[None]],
        max_chars: int,
    ) -> None:
        self.outputs = Settled(displays)
        self.observed = ""
        self.error: Error | None = None
        self.failed = False
        self._answers = iter(answers)
        self._serve = serve
        self._max_chars = max_chars
        self._limiter = OutputLimiter()

    async def run(self, kernel: Kernel, code: str, *, timeout_s: float) -> int:
        """Run `code` to its end; return 0 if it ended without an error, else 1."""
        self._kernel = kernel
        self._observation = Observation(self._max_chars, kernel.cwd)
        ended = await drain(kernel.execute(code, run_id="run", timeout_s=timeout_s), self)
        for output in self._limiter.ended():
            self.outputs.add(output)
        self.observed = self._observation.text(ended)
        self.failed = ended.status != "ok"
        return int(self.failed)

    def started(self) -> None:
        """Do nothing: only outputs are kept."""

    def output(self, output: Output) -> None:
        """Keep an output."""
        self._observation.add(output)
        if isinstance(output, Error):
            self.error = output
        for kept in self._limiter.kept(output):
            self.outputs.add(kept)

    def working(self, tool: ToolWorking) -> None:
        """Do nothing: only outputs are kept."""

    async def serve(self, call: BackCall) -> None:
        """Answer a service call of the code."""
        await self._serve(call, self._kernel)

    async def type_in(self, request: InputRequest) -> None:
        """Give the kernel the next answer, or end of file."""
        line = next(self._answers, None)
        if line is not None:
            self.outputs.typed(line)
        await self._kernel.type_in(line)


def without_passing(
    changes: Sequence[VariableChange], language: str, code: str
) -> tuple[VariableChange, ...]:
    """Return the changes without those of names that the code only imports or loops with."""
    # Code that has run was analysed before; a turn of text only needs no analysis.
    from terp.analysis.effects.cells import passing_names  # noqa: PLC0415

    passing = passing_names(code) if changes and language == "python" else ()
    return tuple(change for change in changes if change.action == "removed" or change.name not in passing)
