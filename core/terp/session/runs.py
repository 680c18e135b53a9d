"""One approved call: from the kernel's outputs to events and to what the model reads."""

import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

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
    Output,
    RunEnded,
    RunStarted,
    RunStatus,
    Text,
    ToolWorking,
    VariableChange,
)
from terp.events.run_log import RunLog
from terp.kernels.sandbox.denials import Denials
from terp.models.tool import Call
from terp.session.artifacts import Artifacts, Shown, Spool
from terp.session.beside import Beside
from terp.session.flood import Flood
from terp.session.observation import Observation, described
from terp.text.plain import without_escapes

T = TypeVar("T")
Guard = Callable[[Awaitable[Any]], Awaitable[Any]]
"""Waits for something, unless that is stopped."""


class Attended(Protocol):
    """Who waits for a run, or has let it go on: how it is stopped, and when it may ask for something."""

    def begun(self, so_far: Callable[[], str]) -> None:
        """The kernel has the code; `so_far` tells what it has put out."""

    async def guard(self, awaitable: Awaitable[T]) -> T:
        """What `awaitable` gives.

        Raises:
            Interrupted: the run was stopped.
        """

    async def asked(self, ask: Callable[[str], Awaitable[T]]) -> T:
        """What `ask` gets from the person, when they may be asked; it is given whose question it is.

        Raises:
            Interrupted: the run was stopped.
        """


@dataclass(frozen=True, slots=True)
class Observed:
    """What came of a run, as the model is told."""

    status: RunStatus
    text: str
    images: tuple[Image, ...]
    failed: bool
    error: Error | None = None


class Runner:
    """Runs calls in a kernel: logs every output, keeps the full text, saves pictures.

    `type_in` answers code that waits for a line, and returns what the model should know of that;
    `serve` answers code that calls a service of terp. `runs` is how many the session had before, `denials`
    what finds out about a kernel's run what it was kept from, and `left` what it left that will be lost.
    """

    def __init__(
        self,
        log: EventLog,
        artifacts: Artifacts,
        type_in: Callable[[InputRequest, Kernel, Attended], Awaitable[str]],
        serve: Callable[[BackCall, Kernel, Guard], Coroutine[Any, Any, None]],
        runs: int = 0,
        denials: Callable[[Kernel], Denials] = lambda _: Denials(None),
        left: Callable[[Kernel], str] = lambda _: "",
    ) -> None:
        self._runs = runs
        self._log = log
        self._artifacts = artifacts
        self._type_in = type_in
        self._serve = serve
        self._denials = denials
        self._left = left
        self.tells_values: Callable[[], bool] = lambda: True

    async def run(
        self, call: Call, kernel: Kernel, attended: Attended, *, timeout_s: float, max_chars: int
    ) -> Observed:
        """Run an approved call to its end. Several may run, each in a kernel of its own.

        Raises:
            KernelStartFailed: there is no kernel to run it.
        """
        number = self._runs + 1
        spool = self._artifacts.spool(str(number))
        seen = Observation(max_chars, kernel.cwd)
        watched = _Watched(call, kernel, attended, seen, spool, number)
        started, began, at = False, time.monotonic(), self._log.turn_at
        running = kernel.execute(call.code, run_id=call.id, number=number, timeout_s=timeout_s, moment=at)
        try:
            async with aclosing(running) as items, aclosing(watched.beside):
                while not isinstance(item := await watched.beside.next(items), RunEnded):
                    match item:
                        case RunStarted():
                            started, self._runs = True, number
                            # Not before: what holds it is fixed when it starts.
                            watched.denials = self._denials(kernel)
                            self._log.append(CodeStarted(call.id, number))
                            attended.begun(lambda: seen.so_far)
                        case BackCall():
                            watched.beside.begin(self._serve(item, kernel, attended.guard))
                        case ToolWorking(name=name, over=over):
                            self._log.append(Progress(f"calling tool {name}", int(over), int(over), 0.0))
                        case _:
                            self._output(watched, item)
                ended = self._as_told(item)
        finally:
            watched.spool.close()
        self._tell_besides(watched)
        if ended.status == "error" or watched.error is not None:
            watched.observation.remark(misplaced(call.language, call.code))
        told = replace(ended, changes=without_passing(ended.changes, call.language, call.code))
        text = watched.observation.text(told, watched.spool.path, kernel.cwd)
        finished = CodeFinished(
            call.id,
            ended.status,
            time.monotonic() - began,
            ended.files,
            ended.note,
            watched.spool.path,
            ended.changes,
            ended.more_changes,
            ended.stopped_at,
            kernel.cwd,
        )
        self._log.append(finished if started else CodeRejected(call.id, text))
        return Observed(
            ended.status,
            text,
            watched.observation.images,
            watched.error is not None or ended.status != "ok",
            watched.error,
        )

    def _tell_besides(self, watched: "_Watched") -> None:
        """Tell what was kept back of the output, and what is to be known beside it."""
        self._show(watched.call, watched.flood.ended())
        if watched.spool.failure:
            self._log.append(Noticed(f"Not all output of this run is kept: {watched.spool.failure}"))
        watched.observation.remark(lost_name(RunLog(self._log).names, watched.error))
        for told in filter(None, (watched.denials.message(), self._left(watched.kernel))):
            self._log.append(Noticed(told))
            watched.observation.remark(told)

    def _output(self, watched: "_Watched", output: Output) -> None:
        if isinstance(output, Shown):
            output = self._saved(watched.number, output)
        if isinstance(output, Text):
            watched.spool.add(output.text)
        elif isinstance(output, Error):
            watched.error = output
            # Whoever reads along sees the library's frames folded.
            watched.spool.add(without_escapes("\n".join(output.traceback)) + "\n")
        elif isinstance(output, Display):
            watched.spool.add(described(output).rstrip("\n") + "\n")
        watched.observation.add(output)
        watched.denials.add(output)
        self._show(watched.call, watched.flood.passed(output))
        if isinstance(output, InputRequest):
            watched.beside.begin(self._ask(watched, output))

    async def _ask(self, watched: "_Watched", request: InputRequest) -> None:
        watched.observation.remark(await self._type_in(request, watched.kernel, watched.attended))

    def _saved(self, number: int, display: Shown) -> Shown:
        try:
            return self._artifacts.save(str(number), display)
        except OSError as error:
            self._log.append(Noticed(f"A picture of this run is not kept: {error}"))
            return display

    def _as_told(self, ended: RunEnded) -> RunEnded:
        """`ended` without values that are not to be told, and without what terp itself wrote meanwhile.

        Its folder may lie in the working directory.
        """
        own = self._artifacts.home.absolute()
        files = tuple(change for change in ended.files if own not in Path(change.path).parents)
        if self.tells_values():
            return replace(ended, files=files)
        stopped = replace(ended.stopped_at, values=()) if ended.stopped_at else None
        return replace(ended, files=files, held=(), stopped_at=stopped)

    def _show(self, call: Call, outputs: Iterable[Output]) -> None:
        for output in outputs:
            self._log.append(Printed(call.id, output))


def without_passing(
    changes: Sequence[VariableChange], language: str, code: str
) -> tuple[VariableChange, ...]:
    """Return the changes without those of names that the code only imports or loops with."""
    # Code that has run was read before; a turn of text alone reads none.
    from terp.analysis.effects.cells import passing_names  # noqa: PLC0415

    passing = passing_names(code) if changes and language == "python" else ()
    return tuple(change for change in changes if change.action == "removed" or change.name not in passing)


@dataclass(slots=True)
class _Watched:
    call: Call
    kernel: Kernel
    attended: Attended
    observation: Observation
    spool: Spool
    number: int
    denials: Denials = field(default_factory=lambda: Denials(None))
    flood: Flood = field(default_factory=Flood)
    beside: Beside = field(default_factory=Beside)
    error: Error | None = None
