"""A kernel of Jupyter behind terp's protocol."""

import asyncio
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from terp.errors import KernelStartFailed
from terp.importing import import_slow
from terp.kernels.asides import Asides
from terp.kernels.backlog import Backlog
from terp.kernels.channels import Message
from terp.kernels.endings import fatal_end, ordinary_end, silent_end
from terp.kernels.files import FileWatch
from terp.kernels.launch import Launch
from terp.kernels.protocol import KernelListener, Variable
from terp.kernels.run import Run
from terp.kernels.rundir import sweep
from terp.kernels.translation import RUN_NUMBER, Translator, report_of, wants_exit
from terp.kernels.waiting import first_of, is_set_within
from terp.outputs import FileChange, RunEnded, RunItem, RunStatus
from terp.sandbox.tier import NONE

if TYPE_CHECKING:
    from terp.kernels.process import KernelProcess

# After the reply, this much silence means that no more output comes.
_IDLE_GRACE_S = 4.0
# After `idle` the reply, on another channel, has this long to arrive.
_REPLY_GRACE_S = 0.5
# After a death this long for what is still on its way through the sockets.
_LAST_OUTPUT_S = 0.05
# An interrupt that has not worked after this long needs a poke (see `KernelProcess.poke`).
_POKE_S = 0.05
# How long the first and the second interrupt are given before the kernel is killed.
_PATIENCE_S, _REMEMBERED_RUNS = (2.0, 3.0), 500
_LOST = "Its variables are lost; the next run starts a new kernel."


class JupyterKernel:
    """Implements `Kernel` with a kernel process of this machine.

    `launch` starts it, given the token that marks the bootstrap's calls home; `next_tier` confines one to
    come; `files` tells what a run made. Output past `max_output_chars` is counted and not kept.
    """

    def __init__(
        self,
        language: str,
        cwd: str,
        launch: Callable[[str], Launch],
        tell: KernelListener,
        *,
        max_output_chars: int = 64_000_000,
        files: FileWatch | None = None,
        next_tier: Callable[[], str] = lambda: NONE,
    ) -> None:
        self._language = language
        self._cwd = cwd
        self._launch = launch
        self._tell = tell
        self._next_tier = next_tier
        self._max_output_chars = max_output_chars
        self._token = secrets.token_hex(16)
        self._generation = 0
        self._closed = False
        self._translator = Translator()
        self._files = files or FileWatch()
        self._turn = asyncio.Lock()
        self._process: KernelProcess | None = None
        self._starting: asyncio.Task[KernelProcess] | None = None
        self._run: Run | None = None
        self._ladder: asyncio.Task[None] | None = None
        self._settling: asyncio.Task[None] | None = None
        self._asides = Asides(lambda: self._process, lambda: self._run is not None)
        self._tasks: set[asyncio.Task[None]] = set()
        # Ids of requests to ids of runs, for output that comes after the end.
        self._past: OrderedDict[str, str] = OrderedDict()

    @property
    def language(self) -> str:
        """The language."""
        return self._language

    @property
    def generation(self) -> int:
        """Which life of the kernel this is."""
        return self._generation

    @property
    def cwd(self) -> str:
        """The directory in which the kernel is, as far as its runs have told."""
        return self._process.cwd if self._process is not None else self._cwd

    @property
    def tier(self) -> str:
        """What confines the kernel that runs, else the next one."""
        return self._process.tier if self._process is not None else self._next_tier()

    async def start(self) -> None:
        """Bring the kernel up."""
        await self._up()

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0
    ) -> AsyncGenerator[RunItem, None]:
        """Run `code`; yield what happens."""
        async with self._turn:
            backlog = Backlog(self._max_output_chars)
            run = Run(run_id, self._translator, backlog, self._token, code=code, number=number)
            self._run = run
            try:
                process = await self._up_unless_stopped(run)
                if process is None:
                    yield RunEnded(run.stopped or "interrupted", note="Stopped before the code ran.")
                    return
                self._send(process, run, timeout_s)
                async with aclosing(run.backlog.items()) as items:
                    async for item in items:
                        if isinstance(item, RunEnded):
                            self._tell_interrupted(process, run)
                        yield item
            finally:
                if run.message_id and not run.over.is_set():
                    await self._stop(run, "interrupted")
                self._run = None

    async def type_in(self, text: str | None) -> None:
        """Answer `input()`; ipykernel takes the character EOT as end of file."""
        self._reply("\x04" if text is None else text)

    async def answer(self, value: Any, error: str = "") -> None:
        """Answer a call of terp's services."""
        self._reply(json.dumps({"error": error} if error else {"value": value}))

    async def interrupt(self) -> None:
        """Stop what runs."""
        if self._run is not None:
            await self._stop(self._run, "interrupted")

    async def restart(self) -> None:
        """Replace the kernel by a fresh one."""
        process, self._process = self._process, None
        if process is not None:
            self._generation += 1
            if self._run is not None:
                self._run.stop("died")
            await process.kill()
            await process.close()
        await self._up()

    async def complete(self, code: str, cursor: int) -> Sequence[str]:
        """Completions, if they come at once."""
        return await self._asides.complete(code, cursor)

    async def inspect(self, code: str, cursor: int) -> str:
        """Documentation as plain text."""
        return await self._asides.inspect(code, cursor)

    async def variables(self) -> Sequence[Variable]:
        """The person's variables."""
        return await self._asides.variables()

    async def names(self) -> Mapping[str, str]:
        """The person's names with their types."""
        return await self._asides.names()

    async def missing(self, modules: Sequence[str]) -> Sequence[str]:
        """The modules that code could not import."""
        return await self._asides.missing(modules)

    async def aclose(self) -> None:
        """End the kernel. Harmless when repeated."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait({self._starting})
        process, self._process = self._process, None
        if process is not None:
            await process.close()
            self._tell.changed(self._language, "stopped", "")
        for task in tuple(self._tasks):
            await asyncio.wait({task})

    async def _up(self) -> "KernelProcess":
        if self._process is not None and not self._process.gone.done():
            return self._process
        if self._closed:
            raise KernelStartFailed("The kernels of this session were ended.")
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._bring_up())
            # Who started it may have gone; its failure was told to the listeners.
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._starting)

    async def _bring_up(self) -> "KernelProcess":
        launch = self._launch(self._token)
        self._tell.changed(self._language, "starting", launch.why)
        # Importing jupyter_client takes 100 ms, in which a front end wants to draw.
        module = await asyncio.to_thread(import_slow, "terp.kernels.process")
        process: KernelProcess = module.KernelProcess(launch, self._on_unclaimed)
        # This takes no longer than the kernel needs anyway to come up.
        looking = asyncio.ensure_future(asyncio.to_thread(self._look_around))
        try:
            await process.start()
            # From here on `aclose` ends it.
            self._process = process
        except KernelStartFailed as error:
            self._tell.changed(self._language, "died", error.message)
            raise
        finally:
            await asyncio.wait({looking})
        looking.result()
        self._generation = max(1, self._generation)
        self._tell.changed(self._language, "restarted" if self._generation > 1 else "ready", "")
        self._background(self._mourn(process))
        return process

    def _look_around(self) -> None:
        sweep()
        self._files.look(self._cwd)

    async def _up_unless_stopped(self, run: Run) -> "KernelProcess | None":
        if self._ladder is not None:
            await asyncio.wait({self._ladder})
        up = asyncio.ensure_future(self._up())
        stop = asyncio.create_task(run.stop_requested.wait())
        try:
            await first_of(up, stop)
            return None if run.stopped else await up
        finally:
            up.cancel()
            stop.cancel()

    async def _mourn(self, process: "KernelProcess") -> None:
        """Wait for the end of the process and tell it, unless it was wanted."""
        await asyncio.wait({process.gone})
        why = self._obituary(process)
        if self._process is process:
            self._process = None
            self._generation += 1
            self._tell.changed(self._language, "died", why)
        if self._settling is not None:
            # Its last output is still on the way, and its note quotes the log.
            await asyncio.wait({self._settling})
        await process.close()

    def _obituary(self, process: "KernelProcess") -> str:
        # When all is being ended there is no next run.
        return process.obituary("" if self._closed else _LOST)

    def _send(self, process: "KernelProcess", run: Run, timeout_s: float) -> None:
        content = {
            "code": run.code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": True,
            # Runs are sent one at a time; a queue that is being aborted would swallow the next one.
            "stop_on_error": False,
        }
        run.sent_ns = time.time_ns()
        metadata = {RUN_NUMBER: run.number} if run.number else {}
        run.message_id = process.send("execute_request", content, run, metadata=metadata)
        self._past[run.message_id] = run.run_id
        if len(self._past) > _REMEMBERED_RUNS:
            self._past.popitem(last=False)
        self._settling = self._background(self._settle(process, run))
        if timeout_s > 0:
            self._background(self._limit(run, timeout_s))

    async def _settle(self, process: "KernelProcess", run: Run) -> None:
        """Wait for the end of a run and put it into its backlog."""
        await self._until_ended(process, run)
        if run.reply.done():
            await self._until_idle(process, run)
            await process.catch_up()
        elif process.gone.done():
            await asyncio.sleep(_LAST_OUTPUT_S)
        run.finish_output()
        process.cwd = run.cwd or process.cwd
        files: tuple[FileChange, ...] = ()
        try:
            files = await asyncio.to_thread(self._files.changes, run.sent_ns, run.touched, run.cwd)
        finally:
            # Whatever happens, a run ends: everybody waits for that, also who interrupts it.
            process.forget(run.message_id)
            run.backlog.put(self._ending(process, run, files))
            run.over.set()

    async def _until_ended(self, process: "KernelProcess", run: Run) -> None:
        """Wait for the reply, or for the end without one.

        ipykernel drops the reply, but not `idle`, when an interrupt hits its own code.
        """
        idle = asyncio.create_task(run.idle.wait())
        await first_of(run.reply, process.gone, idle)
        idle.cancel()
        if not await is_set_within(_REPLY_GRACE_S, run.ended, process.gone):
            run.ended.set()

    async def _until_idle(self, process: "KernelProcess", run: Run) -> None:
        """Wait for the rest of the output; `idle` may be lost, so silence is an end too."""
        while not run.idle.is_set() and not process.gone.done():
            before = run.messages
            await is_set_within(_IDLE_GRACE_S, run.idle, process.gone)
            if run.messages == before:
                return

    def _ending(self, process: "KernelProcess", run: Run, files: tuple[FileChange, ...]) -> RunEnded:
        if not run.reply.done():
            gone = process.gone.done()
            return fatal_end(run, files, self._obituary(process)) if gone else silent_end(run, files)
        note = run.overtime
        if wants_exit(run.reply.result()):
            note = f"The code ended the session. {_LOST}"
            self._background(self._retire(process))
        if run.lost:
            note = run.lost
            self._generation += 1
            self._tell.changed(self._language, "restarted", "")
        recall = f"out[{run.number}]" if run.number and process.has_bootstrap else ""
        return ordinary_end(run, files, note, recall=recall)

    async def _retire(self, process: "KernelProcess") -> None:
        """End a kernel that its own code has told to end."""
        if self._process is process:
            self._process = None
            self._generation += 1
            self._tell.changed(self._language, "died", f"The code ended the session. {_LOST}")
        await process.kill()

    def _reply(self, text: str) -> None:
        if self._process is not None and self._run is not None:
            self._run.answered()
            self._process.type_in(text)

    async def _limit(self, run: Run, timeout_s: float) -> None:
        """Stop a run that takes longer; the time in which it waits for an answer does not count."""
        started = time.monotonic()
        left = timeout_s
        while left > 0:
            if await is_set_within(left, run.over):
                return
            left = timeout_s - (time.monotonic() - started - run.waited_s())
        run.overtime = f"Stopped after {timeout_s:g} s, the longest that one run may take."
        await self._stop(run, "timeout")

    async def _stop(self, run: Run, status: RunStatus) -> None:
        run.stop(status)
        if not run.message_id or run.over.is_set():
            return
        if self._ladder is None or self._ladder.done():
            self._ladder = asyncio.create_task(self._climb(run))
        await asyncio.shield(self._ladder)

    async def _climb(self, run: Run) -> None:
        """Interrupt, interrupt again, kill: until the run is over."""
        process = self._process
        if process is not None and not await self._gentle(process, run):
            run.stack, run.killed = await process.stack(), True
            await process.kill()
        await run.over.wait()
        if process is not None:
            self._tell_interrupted(process, run)

    def _tell_interrupted(self, process: "KernelProcess", run: Run) -> None:
        """Tell it once, and before anybody hears that the run has ended."""
        if run.stopped and not run.told and not process.gone.done() and self._process is process:
            run.told = True
            self._tell.changed(self._language, "interrupted", "")

    async def _gentle(self, process: "KernelProcess", run: Run) -> bool:
        """Whether the code ended by interrupts. Its reply tells: output may still be coming for long."""
        for patience in _PATIENCE_S:
            await process.interrupt()
            if await is_set_within(_POKE_S, run.ended, process.gone):
                return True
            process.poke()
            if await is_set_within(patience - _POKE_S, run.ended, process.gone):
                return True
        return False

    def _on_unclaimed(self, channel: str, parent: str, message: Message) -> None:
        if not self._past or report_of(message) is not None:
            return
        # A thread's output can carry the id of a question that was asked meanwhile.
        run_id = self._past.get(parent, next(reversed(self._past.values())))
        for output in self._translator.outputs(message):
            self._tell.late_output(run_id, output)

    def _background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
