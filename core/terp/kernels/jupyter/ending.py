"""The end of a run: the wait for its last output, interrupts, and the `RunEnded` that it yields."""

import asyncio
import signal
from collections.abc import Callable

from terp.events import KernelState
from terp.events.outputs import FileChange, RunEnded, RunStatus, StoppedAt
from terp.kernels.jupyter.channels import first_of, is_set_within
from terp.kernels.jupyter.reports import changes_in, failed_in, more_in, stopped_in, stopped_in_stack
from terp.kernels.jupyter.run import KernelRun
from terp.kernels.jupyter.running import RunningKernel

# After the reply, this much silence means that no more output comes.
_IDLE_GRACE_S = 4.0
# After `idle` the reply, on another channel, has this long to arrive.
_REPLY_GRACE_S = 0.5
# After the end of a kernel, wait so long for messages that are still in the sockets.
_LAST_OUTPUT_S = 0.05


async def until_settled(running: RunningKernel, run: KernelRun) -> None:
    """Wait until a run has its reply and all of its output, or its kernel is gone."""
    await _until_ended(running, run)
    if run.reply.done():
        await _until_idle(running, run)
        await running.catch_up()
    elif running.gone.done():
        await asyncio.sleep(_LAST_OUTPUT_S)
    run.finish_output()


async def _until_ended(running: RunningKernel, run: KernelRun) -> None:
    """Wait for the reply, or for the end without one.

    ipykernel drops the reply, but not `idle`, when an interrupt hits its own code.
    """
    while not (run.ended.is_set() or running.gone.done()):
        idle = asyncio.create_task(run.idle.wait())
        await first_of(run.reply, running.gone, idle)
        idle.cancel()
        # Code that is sent again is not idle any more.
        if not await is_set_within(_REPLY_GRACE_S, run.ended, running.gone) and run.idle.is_set():
            run.ended.set()


async def _until_idle(running: RunningKernel, run: KernelRun) -> None:
    """Wait for the rest of the output; `idle` may be lost, so silence is an end too."""
    while not run.idle.is_set() and not running.gone.done():
        before = run.messages
        await is_set_within(_IDLE_GRACE_S, run.idle, running.gone)
        if run.messages == before:
            return


def fatal_end(run: KernelRun, files: tuple[FileChange, ...], obituary: str, *, left: bool) -> RunEnded:
    """Return the end of a run whose kernel ended, or was `left` running because it is another program's."""
    status: RunStatus = "timeout" if run.stopped == "timeout" else "died"
    if left and run.stopped:
        status = run.stopped
    stopped = stopped_in_stack(run.stack, run.code) if run.stack else None
    unknown = "The line at which the code stood is not known." if run.killed and stopped is None else ""
    note = " ".join(part for part in (run.overtime, unknown, obituary) if part)
    return RunEnded(status, files=files, note=note, stopped_at=stopped)


def ordinary_end(run: KernelRun, files: tuple[FileChange, ...], note: str, *, recall: str) -> RunEnded:
    """Return the end of a run with a reply."""
    ok = run.reply.result().get("status") == "ok"
    stopped: StoppedAt | None = stopped_in(run.report) if run.stopped else None
    hidden = run.report.get("hidden")
    return RunEnded(
        run.stopped or ("ok" if ok else "error"),
        hidden if isinstance(hidden, str) else None,
        files,
        note,
        changes_in(run.report),
        more_in(run.report),
        stopped,
        "" if run.report.get("shadowed") else recall,
        **failed_in(run.report),
    )


def end_of(code: int) -> str:
    """Describe the end of a kernel by the exit code of its process, negative for a signal."""
    how = f"by signal {_signal_name(-code)}" if code < 0 else f"with exit code {code}"
    return f"The kernel ended {how}."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


# An interrupt without effect after this time needs a poke (see `RunningKernel.poke`).
_POKE_S = 0.05
# Time limits of the first and the second interrupt. After the first, one more kills the kernel.
_PATIENCE_S = (2.0, 3.0)
# Right after an interrupt the code is at the place where it ignores it, not where it was interrupted.
_SETTLE_S = 0.1
_UNANSWERED = "The code does not answer the interrupt. A second one ends the kernel, with its variables."
_ENDED = "terp ended the kernel, because its code did not stop."


class RunStopper:
    """Stops the runs of a kernel, one at a time. Repeated requests for one run share one attempt.

    `running` returns the kernel's current life. `report` is called when a run was interrupted, or when its
    code does not answer.
    """

    def __init__(
        self, running: Callable[[], RunningKernel | None], report: Callable[[KernelState, str], None]
    ) -> None:
        self._running = running
        self._report = report
        self._ladder: asyncio.Task[None] | None = None
        self._climbed: KernelRun | None = None

    @property
    def resisting(self) -> KernelRun | None:
        """The run whose code has not answered an interrupt; its consumer may have left."""
        run = self._climbed
        return run if run is not None and run.resists.is_set() and not run.over.is_set() else None

    async def stop(self, run: KernelRun, status: RunStatus, *, may_kill: bool = False) -> None:
        """Stop a run; returns when it is over, or when its code has not answered for 2 s.

        Then, when this is called again, the kernel is ended; with `may_kill` that needs no second call.
        """
        run.stop(status)
        if not run.message_id or run.over.is_set():
            return
        run.may_be_killed |= may_kill
        if run.resists.is_set() and not run.insisted.done():
            run.insisted.set_result(None)
        if self._ladder is None or self._ladder.done():
            self._climbed, self._ladder = run, asyncio.create_task(self._climb(run))
        if run.may_be_killed or run.insisted.done():
            await asyncio.shield(self._ladder)
        else:
            await is_set_within(None, run.resists, self._ladder)

    async def settled(self) -> None:
        """Wait until nothing is being stopped."""
        if self._ladder is not None:
            await asyncio.wait({self._ladder})

    def report_interrupt(self, running: RunningKernel, run: KernelRun) -> None:
        """Report the interrupt once, before the run's end is reported."""
        if (
            run.stopped
            and not run.interrupt_reported
            and not running.gone.done()
            and self._running() is running
        ):
            run.interrupt_reported = True
            self._report("interrupted", "")

    async def _climb(self, run: KernelRun) -> None:
        """Interrupt, interrupt again, and end the kernel if that is wanted: until the run is over."""
        running = self._running()
        if running is not None and not await self._has_ended(running, run):
            await is_set_within(_SETTLE_S, run.ended, running.gone)
            run.stack, run.killed = await running.stack(), not running.is_shared
            await running.kill(_ENDED)
        await run.over.wait()
        if running is not None:
            self.report_interrupt(running, run)

    async def _has_ended(self, running: RunningKernel, run: KernelRun) -> bool:
        """Return True once the code has ended by itself, False if its kernel is to be ended.

        The reply marks the end: output may still be coming for long.
        """
        first, second = _PATIENCE_S
        if await _gentle(running, run, first) or running.gone.done():
            return True
        run.resists.set()
        if not run.may_be_killed:
            self._report("interrupting", _UNANSWERED)
        if not (await _gentle(running, run, second) or run.may_be_killed):
            await is_set_within(None, run.ended, running.gone, run.insisted)
        return run.ended.is_set() or running.gone.done()


async def _gentle(running: RunningKernel, run: KernelRun, patience_s: float) -> bool:
    """Return True if an interrupt ended the code in time, False also if the kernel is to be ended at once."""
    # While our code waits for its turn, an interrupt would hit code of another client.
    if running.is_shared and not await is_set_within(
        patience_s, run.begun, running.gone, run.insisted, run.reply
    ):
        return False
    await running.interrupt()
    if await is_set_within(_POKE_S, run.ended, running.gone, run.insisted):
        return True
    running.poke()
    return await is_set_within(patience_s - _POKE_S, run.ended, running.gone, run.insisted)
