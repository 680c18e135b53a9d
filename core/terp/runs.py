"""One approved call: from the kernel's outputs to events and to what the model reads."""

import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

from terp.artifacts import Artifacts, Shown, Spool
from terp.events import CodeFinished, CodeRejected, CodeStarted, Noticed, Printed
from terp.flood import Flood
from terp.kernels.protocol import Kernel
from terp.log import EventLog
from terp.messages import Image
from terp.observation import Observation
from terp.outputs import (
    BackCall,
    Error,
    InputRequest,
    Output,
    RunEnded,
    RunStarted,
    RunStatus,
    Text,
)
from terp.plain import without_escapes
from terp.tool import Call


@dataclass(frozen=True, slots=True)
class Observed:
    """What came of a run, as the model is told."""

    status: RunStatus
    text: str
    images: tuple[Image, ...]
    failed: bool


class Runner:
    """Runs calls in a kernel: logs every output, keeps the full text, saves pictures.

    `type_in` answers code that waits for a line, and returns what the model should know of that;
    `serve` answers code that calls a service of terp.
    """

    def __init__(
        self,
        log: EventLog,
        artifacts: Artifacts,
        type_in: Callable[[InputRequest, Kernel], Awaitable[str]],
        serve: Callable[[BackCall, Kernel], Awaitable[None]],
    ) -> None:
        self._log = log
        self._artifacts = artifacts
        self._type_in = type_in
        self._serve = serve

    async def run(self, call: Call, kernel: Kernel, *, timeout_s: float, max_chars: int) -> Observed:
        """Run an approved call to its end.

        Raises:
            KernelStartFailed: there is no kernel to run it.
        """
        watched = _Watched(call, kernel, Observation(max_chars, kernel.cwd), self._artifacts.spool(call.id))
        ended, started, began = RunEnded("died"), False, time.monotonic()
        try:
            async with aclosing(kernel.execute(call.code, run_id=call.id, timeout_s=timeout_s)) as items:
                async for item in items:
                    match item:
                        case RunStarted(execution_count=count):
                            started = True
                            self._log.append(CodeStarted(call.id, count))
                        case RunEnded():
                            ended = self._without_own_files(item)
                        case BackCall():
                            await self._serve(item, kernel)
                        case _:
                            await self._output(watched, item)
        finally:
            watched.spool.close()
        self._show(call, watched.flood.ended())
        if watched.spool.failure:
            self._log.append(Noticed(f"Not all output of this run is kept: {watched.spool.failure}"))
        text = watched.observation.text(ended, watched.spool.path)
        self._log.append(
            CodeFinished(
                call.id, ended.status, time.monotonic() - began, ended.files, ended.note, watched.spool.path
            )
            if started
            else CodeRejected(call.id, text)
        )
        return Observed(
            ended.status, text, watched.observation.images, watched.failed or ended.status != "ok"
        )

    async def _output(self, watched: "_Watched", output: Output) -> None:
        if isinstance(output, Shown):
            output = self._saved(watched.call, output)
        if isinstance(output, Text):
            watched.spool.add(output.text)
        elif isinstance(output, Error):
            watched.failed = True
            # Whoever reads along sees the library's frames folded.
            watched.spool.add(without_escapes("\n".join(output.traceback)) + "\n")
        watched.observation.add(output)
        self._show(watched.call, watched.flood.passed(output))
        if isinstance(output, InputRequest):
            watched.observation.remark(await self._type_in(output, watched.kernel))

    def _saved(self, call: Call, display: Shown) -> Shown:
        try:
            return self._artifacts.save(call.id, display)
        except OSError as error:
            self._log.append(Noticed(f"A picture of this run is not kept: {error}"))
            return display

    def _without_own_files(self, ended: RunEnded) -> RunEnded:
        """`ended` without what terp itself wrote meanwhile: its folder may lie in the working directory."""
        own = self._artifacts.home.absolute()
        files = tuple(change for change in ended.files if own not in Path(change.path).parents)
        return replace(ended, files=files)

    def _show(self, call: Call, outputs: Iterable[Output]) -> None:
        for output in outputs:
            self._log.append(Printed(call.id, output))


@dataclass(slots=True)
class _Watched:
    call: Call
    kernel: Kernel
    observation: Observation
    spool: Spool
    flood: Flood = field(default_factory=Flood)
    failed: bool = False
