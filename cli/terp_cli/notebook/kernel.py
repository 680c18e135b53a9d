"""The notebook's own kernel behind terp's protocol: code is sent through the pipe and runs there."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from terp.errors import KernelBusy, KernelError, UnknownLanguage
from terp.events import Printed
from terp.events.kernel import (
    Kernel,
    KernelListener,
    KnownLanguage,
    OnlyKernel,
    Variable,
    WrittenValue,
)
from terp.events.outputs import BackCall, Output, RunEnded, RunItem, RunStarted, RunStatus
from terp.events.wire import from_json
from terp.kernels.attached.attachment import ConnectionFile, KernelAttachment
from terp.kernels.jupyter.files import FileWatch
from terp.kernels.jupyter.reports import changes_in, failed_in, more_in, shape_in, stopped_in
from terp.kernels.sandbox.tier import NONE
from terp_cli.notebook.pipe import KernelPipe

_PYTHON = "python"
_RESISTS_S, _ANSWERS_S = 2.0, 2.0


class NotebookKernel(OnlyKernel):
    """Implements `Kernel`, and the only one of its `Kernels`. It answers while a turn is running.

    `opened` are the facts that it sent first. Nothing confines its code.
    """

    language = _PYTHON
    languages = (_PYTHON,)
    generation = 1
    tier = NONE
    elsewhere = connection_file = ""
    resumed, network = False, True
    stateless: Sequence[str] = ()

    def __init__(self, pipe: KernelPipe, opened: Mapping[str, Any], own_folders: Sequence[str]) -> None:
        self.running = ""
        self.cwd = str(opened["cwd"])
        self.place = "this notebook's kernel" if opened["rich"] else "this IPython"
        self._pipe = pipe
        self._pid, self._python = int(opened["pid"]), str(opened["python"])
        self._turn = asyncio.Lock()
        self._items: asyncio.Queue[RunItem] = asyncio.Queue()
        self._stopped: RunStatus | None = None
        self._over = asyncio.Event()
        self._over.set()
        self._watch = FileWatch(own_folders=own_folders)

    @property
    def attached(self) -> Mapping[str, KernelAttachment]:
        """The kernel, for the system prompt: somebody else uses it too."""
        file = ConnectionFile("", "", "", {}, document="this notebook")
        return {_PYTHON: KernelAttachment(file, _PYTHON, self._python, self.cwd)}

    def known(self) -> Sequence[KnownLanguage]:
        """Return Python."""
        return (KnownLanguage((_PYTHON,), self.place),)

    def get(self, language: str) -> Kernel:
        """Return this kernel.

        Raises:
            UnknownLanguage: it is not Python.
        """
        if language.lower() not in (_PYTHON, "py", "ipython"):
            raise UnknownLanguage(
                f"The notebook's kernel runs Python, not {language!r}; %%bash runs a shell."
            )
        return self

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        """Do nothing: outside runs nothing is known of the kernel."""
        return lambda: None

    async def rest(self) -> Sequence[str]:
        """Do nothing: the kernel is the notebook's."""
        return ()

    async def start(self) -> None:
        """Do nothing: it runs."""

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Run `code` in the notebook; yield what happens."""
        async with self._turn:
            self._items, self._stopped, self.running = asyncio.Queue(), None, run_id or "run"
            self._over.clear()
            await asyncio.to_thread(self._watch.look, self.cwd)
            self._watch.begin()
            began = time.time_ns()
            self._pipe.send("run", code=code)
            clock = asyncio.get_running_loop().call_later(timeout_s or 1e9, self._stop, "timeout")
            try:
                while True:
                    item = await self._items.get()
                    if isinstance(item, RunEnded):
                        files = await asyncio.to_thread(self._watch.changes, began, {}, self.cwd)
                        yield replace(item, files=files)
                        return
                    yield item
            finally:
                clock.cancel()
                if not self._over.is_set():
                    await self.interrupt()
                self.running = ""

    def take(self, message: Mapping[str, Any]) -> None:
        """Take a message about the run; without a run a service call is refused, and others are dropped."""
        if self._over.is_set():
            if message["do"] == "call":
                self._pipe.send("reply", value=None, error="no code of terp's is running")
            return
        match message["do"]:
            case "started":
                self._items.put_nowait(RunStarted(int(message["count"])))
            case "output":
                self._items.put_nowait(_output(message["output"]))
            case "call":
                self._items.put_nowait(BackCall(str(message["service"]), message["arguments"]))
            case "ended":
                self.cwd = str(message["cwd"])
                status: RunStatus = message["status"]
                if status == "interrupted" and self._stopped:
                    status = self._stopped
                self._over.set()
                self._items.put_nowait(
                    RunEnded(
                        status, None, (), "", changes_in(message), more_in(message), stopped_in(message), "",
                        *failed_in(message),
                    )
                )  # fmt: skip

    @property
    def is_stopped(self) -> bool:
        """True if the session has stopped the run: an interrupt of it is not the user's."""
        return self._stopped is not None

    async def type_in(self, text: str | None) -> None:
        """Do nothing: the notebook itself asks for input."""

    async def answer(self, value: Any, error: str = "") -> None:
        """Answer a service call."""
        self._pipe.send("reply", value=value, error=error)

    async def interrupt(self) -> None:
        """Interrupt the run, unless the notebook has; return after 2 s at the latest."""
        if not self._over.is_set():
            self._stop("interrupted")
            try:
                async with asyncio.timeout(_RESISTS_S):
                    await self._over.wait()
            except TimeoutError:
                return

    def _stop(self, why: RunStatus) -> None:
        self._stopped = self._stopped or why
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
        answer = await self._asked("variables")
        return [
            Variable(
                str(name), str(kind), shape_in(shape), size if isinstance(size, int) else None, str(head)
            )
            for name, kind, shape, size, head in answer["value"]
        ]

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

    async def aclose(self) -> None:
        """Do nothing: the kernel stays with its notebook."""


def _output(fields: Mapping[str, Any]) -> Output:
    event = from_json({"event": "printed", "call_id": "", "output": fields})
    assert isinstance(event, Printed)
    return event.output
