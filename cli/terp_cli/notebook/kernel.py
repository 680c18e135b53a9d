"""The notebook's own kernel behind terp's protocol: code is sent through the pipe and runs there."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from terp.errors import KernelBusy, KernelError
from terp.events.kernel import OnlyKernel, Variable, WrittenValue
from terp.events.outputs import BackCall, Output, RunEnded, RunItem, RunStarted, RunStatus
from terp.kernels.attached.attachment import ConnectionFile, KernelAttachment
from terp.kernels.jupyter.files import FileWatch
from terp.kernels.jupyter.reports import changes_in, failed_in, more_in, stopped_in, variable_of
from terp.kernels.jupyter.translation import Translator, omitted
from terp_cli.notebook.pipe import KernelPipe

_RESISTS_S, _ANSWERS_S = 2.0, 2.0


class NotebookKernel(OnlyKernel):
    """Implements `Kernel`, and the only one of its `Kernels`. It answers while a turn is running.

    `opened` are the facts that it sent first. Nothing confines its code. Conditions in `watch` are evaluated
    after each run.
    """

    language, generation, network = "python", 1, True
    stateless: Sequence[str] = ()

    def __init__(self, pipe: KernelPipe, opened: Mapping[str, Any], own_folders: Sequence[str]) -> None:
        self.cwd = str(opened["cwd"])
        self.place = "this notebook's kernel" if opened["rich"] else "this IPython"
        self.watch: list[str] = []
        self._pipe = pipe
        self._pid, self._python = int(opened["pid"]), str(opened["python"])
        self._turn = asyncio.Lock()
        self._messages: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self._translator = Translator()
        self._calls = False
        self._stopped: RunStatus | None = None
        self._over = asyncio.Event()
        self._over.set()
        self._watch = FileWatch(own_folders=own_folders)

    @property
    def attached(self) -> Mapping[str, KernelAttachment]:
        """The kernel, for the system prompt: somebody else uses it too."""
        file = ConnectionFile("", "", "", {}, document="this notebook")
        return {self.language: KernelAttachment(file, self.language, self._python, self.cwd)}

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Run `code` in the notebook; yield what happens."""
        async with self._turn:
            self._messages, self._stopped, self.running = asyncio.Queue(), None, run_id or "run"
            await asyncio.to_thread(self._watch.look, self.cwd)
            self._watch.begin()
            began = time.time_ns()
            self._over.clear()
            self._pipe.send("run", code=code, watch=self.watch)
            yield RunStarted(number)
            clock = asyncio.get_running_loop().call_later(timeout_s or 1e9, self._stop, "timeout")
            try:
                while (message := await self._messages.get())["do"] == "call":
                    yield BackCall(str(message["service"]), message["arguments"])
                for output in self._outputs(message):
                    yield output
                files = await asyncio.to_thread(self._watch.changes, began, {}, self.cwd)
                yield RunEnded(
                    self._status(message),
                    files=files,
                    changes=changes_in(message),
                    more_changes=more_in(message),
                    stopped_at=stopped_in(message),
                    recall=f"out[{number}]",
                    **failed_in(message),
                )
            finally:
                clock.cancel()
                if not self._over.is_set():
                    await self.interrupt()
                self.running = ""

    def take(self, message: Mapping[str, Any]) -> None:
        """Take the report on a run, or a service call of its code; without a run, refuse the call."""
        self._calls = message["do"] == "call"
        if self._calls and self._over.is_set():
            self._pipe.send("reply", value=None, error="no code of terp's is running")
            return
        if not self._calls:
            self.cwd = str(message["cwd"])
            self._over.set()
        self._messages.put_nowait(message)

    def _outputs(self, message: Mapping[str, Any]) -> Iterator[Output]:
        for one in message["messages"]:
            yield from self._translator.outputs(one)
        if left_out := omitted(message):
            yield left_out

    def _status(self, message: Mapping[str, Any]) -> RunStatus:
        status: RunStatus = message["status"]
        return self._stopped or status if status == "interrupted" else status

    @property
    def is_stopped(self) -> bool:
        """True if the session has stopped the run: an interrupt of it is not the user's."""
        return self._stopped is not None

    async def answer(self, value: Any, error: str = "") -> None:
        """Answer a service call."""
        self._calls = False
        self._pipe.send("reply", value=value, error=error)

    async def interrupt(self) -> None:
        """Interrupt the run, unless the notebook has; return after 2 s at the latest."""
        if not self._over.is_set():
            self._stop("interrupted")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), _RESISTS_S)

    def _stop(self, why: RunStatus) -> None:
        self._stopped = self._stopped or why
        if self._calls:
            # Code that waits for a service is interrupted by its answer.
            self._calls = False
            self._pipe.send("reply", value=None, error="interrupted")
        else:
            os.kill(self._pid, signal.SIGINT)

    async def restart(self) -> None:
        """Refuse.

        Raises:
            KernelError: always.
        """
        raise KernelError(
            "terp does not restart the notebook's kernel.", "Restart it in the notebook's menu."
        )

    async def variables(self) -> Sequence[Variable]:
        """Return the user's variables."""
        return [variable_of(row) for row in (await self._asked("variables"))["value"]]

    async def value(self, name: str, keys: Sequence[Any], spec: str) -> WrittenValue:
        """Return the text of a value."""
        answer = await self._asked("value", asked=json.dumps([name, keys, spec]))
        return WrittenValue(str(answer["value"].get("text") or ""), str(answer["value"].get("why") or ""))

    async def _asked(self, what: str, **about: str) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(_ANSWERS_S):
                return await self._pipe.ask(what, **about)
        except TimeoutError:
            raise KernelBusy("The notebook's kernel is busy.", "Ask again later.") from None
