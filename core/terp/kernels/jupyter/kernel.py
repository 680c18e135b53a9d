"""A Jupyter kernel behind terp's protocol: its runs, other requests to it, and its listeners."""

import asyncio
import json
import os
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from terp.errors import KernelBusy
from terp.events import KernelState
from terp.events.kernel import KernelListener, Variable, WrittenValue
from terp.events.outputs import FileChange, Output, RunEnded, RunItem
from terp.kernels.jupyter.channels import Connector, Message, first_of, is_set_within
from terp.kernels.jupyter.ending import RunStopper, fatal_end, ordinary_end, until_settled
from terp.kernels.jupyter.files import RunFiles, of_interest
from terp.kernels.jupyter.lives import Lives
from terp.kernels.jupyter.reports import rows_in, texts_in, variable_of, with_diffs
from terp.kernels.jupyter.run import Backlog, KernelRun
from terp.kernels.jupyter.running import RunningKernel
from terp.kernels.jupyter.translation import RUN_MOMENT, RUN_NUMBER, WATCH, Translator, report_of, wants_exit
from terp.kernels.sandbox.effects import Account, HeldEffects
from terp.kernels.sandbox.tier import NONE


class Listeners:
    """Implements `KernelListener`: passes each event of a kernel to all listeners."""

    def __init__(self) -> None:
        self._all: list[KernelListener] = []

    def add(self, listener: KernelListener) -> Callable[[], None]:
        """Add `listener`; return the function that removes it, which can be called repeatedly."""
        self._all.append(listener)
        return lambda: self._all.remove(listener) if listener in self._all else None

    def changed(self, language: str, state: KernelState, why: str) -> None:
        """Report a change of a kernel's state."""
        for listener in tuple(self._all):
            listener.changed(language, state, why)

    def late_output(self, run_id: str, output: Output) -> None:
        """Report output that arrived after its run had ended."""
        for listener in tuple(self._all):
            listener.late_output(run_id, output)


# The user waits for completions while typing.
_TYPING_S = 0.15
# Beside a run, and in an idle kernel.
_VARIABLES_BUSY_S, _VARIABLES_S = 0.3, 1.0
# A restore may take long, and its report is needed.
_PAST_S = 30.0
# An answer is shown only after it.
_VALUE_S = 1.0
# A table of a million cells is compared.
_COMPARED_S = 10.0


_REMEMBERED_RUNS = 500
# How often code is sent that the kernel drops because earlier code has failed.
_TRIES = 5


_NOT_HELD = "Not run: the effects of code in this kernel are not held."


class JupyterKernel:
    """Implements `Kernel` with a kernel that implements Jupyter's protocol, here or on another machine.

    `connector` returns the means to reach it, given the token that marks service calls of terp's package in
    the kernel. `files` finds the files that runs change. `place` is the kernel's place if it is not this
    machine. Output of a run past `max_output_chars` is counted and dropped. `next_tier` returns the sandbox
    of the next start, and can be set. `effects` decides about effects of its code, if they are held.
    Conditions in `watch` are evaluated after each run of Python.

    Requests beside the runs never run the user's code. While code runs, they are sent to a subshell of the
    kernel (ipykernel 7).
    """

    def __init__(
        self,
        language: str,
        cwd: str,
        connector: Callable[[str], Connector],
        listener: KernelListener,
        files: RunFiles,
        *,
        place: str = "",
        max_output_chars: int = 64_000_000,
    ) -> None:
        self.language = language
        self.effects = HeldEffects()
        self.watch: list[str] = []
        self.next_tier: Callable[[], str] = lambda: NONE
        self._listener = listener
        self._max_output_chars = max_output_chars
        self._token = os.urandom(16).hex()
        self._translator = Translator()
        self._files = files
        self.place = place
        self._turn = asyncio.Lock()
        self._lives = Lives(
            cwd,
            lambda: connector(self._token),
            lambda: self.next_tier(),  # noqa: PLW0108 - it can be set
            self._changed,
            files,
            self._on_unclaimed,
            self._all_output_here,
        )
        self._run: KernelRun | None = None
        self._settling: asyncio.Task[None] | None = None
        self._stopping = RunStopper(lambda: self._lives.running, self._changed)
        self._tasks: set[asyncio.Task[None]] = set()
        # Ids of requests to ids of runs, for output that comes after the end.
        self._past: OrderedDict[str, str] = OrderedDict()

    @property
    def generation(self) -> int:
        """The number of the current life, from 1: it grows when state is lost. 0 before the first start."""
        return self._lives.generation

    @property
    def cwd(self) -> str:
        """The kernel's working directory, as its last run reported it."""
        return self._lives.cwd

    @property
    def tier(self) -> str:
        """The sandbox of the next run."""
        return self._lives.tier

    @property
    def connection_file(self) -> str:
        """Jupyter's connection file of the kernel that runs now; "" when none does, or when it has none."""
        running = self._lives.running
        return running.connection_file if running is not None else ""

    @property
    def running(self) -> str:
        """The id of the current run; "" when there is none."""
        return self._run.run_id if self._run is not None else ""

    async def start(self) -> None:
        """Start the kernel."""
        await self.up()

    async def up(self) -> RunningKernel:
        """Return the running kernel; start it if there is none.

        Raises:
            KernelStartFailed: it did not start.
        """
        return await self._lives.up()

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Run `code`; yield what happens."""
        async with self._turn:
            backlog = Backlog(self._max_output_chars)
            run = KernelRun(
                run_id, self._translator, backlog, self._token, code=code, number=number, moment=moment
            )
            self._run = run
            try:
                running = await self._up_unless_stopped(run)
                if running is None:
                    yield RunEnded(run.stopped or "interrupted", note="Stopped before the code ran.")
                    return
                if not await self.effects.hold(moment):
                    yield RunEnded("error", note=_NOT_HELD)
                    return
                # Effects between runs, as those of the kernel's start, are of no run.
                await self.effects.account()
                self._send(running, run, timeout_s)
                async with aclosing(run.backlog.items()) as items:
                    async for item in items:
                        if isinstance(item, RunEnded):
                            self._stopping.report_interrupt(running, run)
                        yield item
            finally:
                if run.message_id and not run.over.is_set():
                    await self._stopping.stop(run, "interrupted")
                self._run = None

    async def type_in(self, text: str | None) -> None:
        """Answer `input()`; ipykernel takes the character EOT as end of file."""
        self._reply("\x04" if text is None else text)

    async def answer(self, value: Any, error: str = "") -> None:
        """Answer a call of terp's services."""
        self._reply(json.dumps({"error": error} if error else {"value": value}))

    async def interrupt(self) -> None:
        """Stop the run. The second call ends the kernel if the code has not answered."""
        # A run may wait for resisting code of an earlier one: the waiting run is stopped first.
        for run in dict.fromkeys((self._run, self._stopping.resisting)):
            if run is not None:
                await self._stopping.stop(run, "interrupted")

    async def restart(self) -> None:
        """Replace the kernel by a fresh one."""
        if self._run is not None and self._lives.running is not None:
            self._run.stop("died")
        await self._lives.replace()

    async def take_back(self, moment: int, paths: Sequence[str]) -> Mapping[str, Any] | None:
        """Restore the state at `moment` and return a report; None without a kernel or checkpoints.

        Raises:
            KernelBusy: code runs in it, or it does not answer.
        """
        running = self._lives.running
        if running is None or not running.has_bootstrap or running.is_shared:
            return None
        if self._run is not None:
            raise KernelBusy("Code still runs in the kernel, so nothing was undone.", "Stop the code first.")
        async with self.effects.freed():
            answer = await self._ask("rewind", _PAST_S, [moment, *paths])
        if answer is None:
            raise KernelBusy("The kernel does not answer, so nothing was undone.", "Try again later.")
        if restored := dict(answer):
            running.cwd = str(restored.get("cwd") or running.cwd)
            # The differences to the last scan are not changes of a run.
            await self._files.look(self._lives.first_cwd)
        return restored

    async def complete(self, code: str, cursor: int) -> Sequence[str]:
        """Return completions; none if there is no answer within 150 ms."""
        running = self._lives.running
        if running is None:
            return ()
        content = {"code": code, "cursor_pos": cursor}
        reply = await running.ask("complete_request", content, _TYPING_S, busy=self._run is not None) or {}
        return tuple(match for match in reply.get("matches") or () if isinstance(match, str))

    async def names(self) -> Mapping[str, str]:
        """Return the user's names with their types; none if there is no answer within 150 ms."""
        names = await self._ask("names", _TYPING_S)
        return dict(names) if isinstance(names, Mapping) else {}

    async def variables(self) -> Sequence[Variable]:
        """Return the user's variables.

        Raises:
            KernelBusy: code runs, and the kernel cannot answer meanwhile.
        """
        if self._lives.running is None:
            return ()
        rows = await self._ask("variables", _VARIABLES_S if self._run is None else _VARIABLES_BUSY_S)
        if rows is None:
            raise KernelBusy("The kernel is busy and answers only after its run.", "Ask again later.")
        return tuple(map(variable_of, rows_in(rows, 5)))

    async def missing(self, modules: Sequence[str]) -> Sequence[str]:
        """Return those of `modules` (top-level names) that code cannot import; none without an answer."""
        found = await self._ask("missing", _VARIABLES_S, modules)
        return tuple(name for name in modules if isinstance(found, list) and name in found)

    async def written(self, moment: int) -> Sequence[Sequence[str]]:
        """Return the files that runs have written to since a moment, each with its possible action."""
        return texts_in(await self._ask("written", _PAST_S, [moment]), 3)

    async def difference(self, name: str) -> Sequence[tuple[str, str]]:
        """Return lines on rows and cells that the last change of a table changed, each with its title."""
        rows = texts_in(await self._ask("difference", _COMPARED_S, [name]), 2)
        return [(title, text) for title, text in rows]

    async def value(self, name: str, keys: Sequence[Any], spec: str) -> WrittenValue:
        """Return the text of a value, or the reason why there is none. The kernel has 1 s to answer."""
        running = self._lives.running
        if running is None:
            return WrittenValue(why="no code has run yet")
        if not running.has_bootstrap:
            return WrittenValue(why="this kernel does not show values")
        value = await self._ask("value", _VALUE_S, [json.dumps([name, keys, spec])])
        if not isinstance(value, Mapping):
            return WrittenValue(why="the kernel did not answer")
        return WrittenValue(str(value.get("text") or ""), str(value.get("why") or ""))

    async def _ask(self, what: str, timeout_s: float, about: Sequence[Any] = ()) -> Any:
        """Return the answer of terp's package in the kernel, () if it has none; None if it is late."""
        running = self._lives.running
        if running is None:
            return None
        answer = await running.ask_bootstrap(what, timeout_s, busy=self._run is not None, about=about)
        return None if answer is None else answer.get(what) or ()

    async def aclose(self) -> None:
        """End the kernel. Harmless when repeated."""
        await self._lives.aclose()
        for task in tuple(self._tasks):
            await asyncio.wait({task})

    async def _up_unless_stopped(self, run: KernelRun) -> RunningKernel | None:
        up = asyncio.create_task(self._settled_and_up())
        stop = asyncio.create_task(run.stop_requested.wait())
        try:
            await first_of(up, stop)
            return None if run.stopped else await up
        finally:
            up.cancel()
            stop.cancel()

    async def _settled_and_up(self) -> RunningKernel:
        await self._stopping.settled()
        return await self._lives.up()

    async def _all_output_here(self) -> None:
        """Return when the output of the last run is complete."""
        if self._settling is not None:
            await asyncio.wait({self._settling})

    def _send(self, running: RunningKernel, run: KernelRun, timeout_s: float) -> None:
        content = {
            "code": run.code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": True,
            # Runs are sent one at a time; a queue that is being aborted would swallow the next one.
            "stop_on_error": False,
        }
        self._files.begin()
        run.sent_ns, running.used = time.time_ns(), True
        about = {RUN_NUMBER: run.number, RUN_MOMENT: run.moment, WATCH: self.watch}
        metadata = {name: fact for name, fact in about.items() if fact}
        tries = iter(range(_TRIES))

        def send() -> bool:
            if next(tries, None) is None:
                return False
            running.forget(run.message_id)
            run.message_id = running.send("execute_request", content, run, metadata=metadata)
            self._remember(run)
            return True

        run.again = send
        send()
        self._settling = self._background(self._settle(running, run))
        if timeout_s > 0:
            self._background(self._limit(run, timeout_s))

    def _remember(self, run: KernelRun) -> None:
        self._past[run.message_id] = run.run_id
        if len(self._past) > _REMEMBERED_RUNS:
            self._past.popitem(last=False)

    async def _settle(self, running: RunningKernel, run: KernelRun) -> None:
        """Wait for the end of a run and put it into its backlog."""
        await until_settled(running, run)
        running.cwd = run.cwd or running.cwd
        files: tuple[FileChange, ...] = ()
        account: Account | None = None
        try:
            if account := await self.effects.account():
                files = of_interest(account.files, self._lives.first_cwd)
            else:
                files = await self._files.changed_by(run, running)
            files = with_diffs(files, run.report)
        finally:
            # A run must end in any case: its consumer and interrupts wait for that.
            running.forget(run.message_id)
            ended = self._ending(running, run, files)
            run.backlog.put(replace(ended, effects=account.effects) if account else ended)
            run.over.set()

    def _ending(self, running: RunningKernel, run: KernelRun, files: tuple[FileChange, ...]) -> RunEnded:
        if not run.reply.done():
            if not running.gone.done():
                return RunEnded(run.stopped or "error", files=files, note="The kernel gave no result.")
            return fatal_end(run, files, self._lives.obituary(running), left=running.was_left)
        note = run.overtime
        if wants_exit(run.reply.result()):
            note = f"The code ended the session. {self._lives.afterwards(running)}"
            self._background(self._lives.retire(running))
        if run.lost:
            note = run.lost
            self._lives.lose_state()
        recall = f"out[{run.number}]" if run.number and running.has_bootstrap else ""
        return ordinary_end(run, files, note, recall=recall)

    def _reply(self, text: str) -> None:
        if self._lives.running is not None and self._run is not None:
            self._run.answered()
            self._lives.running.type_in(text)

    async def _limit(self, run: KernelRun, timeout_s: float) -> None:
        """Stop a run that takes longer; the time in which it waits for an answer does not count."""
        started, waited = time.monotonic(), self.effects.waited_s()
        left = timeout_s
        while left > 0:
            if await is_set_within(left, run.over):
                return
            waits = run.waited_s() + self.effects.waited_s() - waited
            left = timeout_s - (time.monotonic() - started - waits)
        run.overtime = f"Stopped after {timeout_s:g} s, the longest that one run may take."
        await self._stopping.stop(run, "timeout", may_kill=True)

    def _changed(self, state: KernelState, why: str) -> None:
        self._listener.changed(self.language, state, why)

    def _on_unclaimed(self, channel: str, parent: str, message: Message) -> None:
        if not self._past or report_of(message) is not None:
            return
        # Output of a thread can have a later request as its parent.
        run_id = self._past.get(parent, next(reversed(self._past.values())))
        for output in self._translator.outputs(message):
            self._listener.late_output(run_id, output)

    def _background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
