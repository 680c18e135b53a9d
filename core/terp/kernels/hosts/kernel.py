"""The base class of terp's own kernels: ipykernel's kernel, driven by `Wires`."""

import asyncio
import ctypes
import os
import signal
import sys
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import zmq
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from terp.kernels.hosts.streams import BATCH_S, Printer, Send, Wires
from terp.kernels.hosts.terminal import TerminalInput, can_detect_reads
from terp.kernels.jupyter.translation import COMM_TARGET, RUN_NUMBER
from terp.text.dataclasses import dataclass

# Poll interval of the stdin channel while an answer is awaited: it has no reliable descriptor.
_LOOK_S = 0.02
_END_OF_FILE = "\x04"
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class CellFailure:
    """The error of a cell, in Jupyter's terms. `traceback` are lines to show, none for the plain error."""

    name: str
    value: str
    traceback: tuple[str, ...] = ()


class HostCell:
    """One request to run code; `printer` sends its output."""

    def __init__(self, code: str, printer: Printer, *, allows_input: bool) -> None:
        self.code = code
        self.printer = printer
        self.allows_input = allows_input
        self.facts: dict[str, Any] = {}

    def lost(self, why: str) -> None:
        """Note that the program ended with the cell and lost its state; `why` is for user and model."""
        self.facts["lost"] = why

    def moved_to(self, directory: str) -> None:
        """Note the program's new working directory."""
        self.facts["cwd"] = directory


class HostKernel(Kernel):
    """The base class of a kernel in front of a program: subclasses implement `run`, and `names` and `stop`.

    Cells run in the main thread, one at a time. SIGINT never raises: it increments `interrupts` and ends a
    `wires.wait`; `run` must check it.
    """

    implementation = "terp"
    implementation_version = "1"
    banner = ""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)  # type: ignore[no-untyped-call]
        self._execute_sleep = 0.0
        thread = self.iopub_thread
        # By default ZeroMQ drops messages after a thousand unread ones; a cell's output limit bounds them.
        thread.schedule(lambda: setattr(thread.socket, "sndhwm", 0))
        self.wires = Wires()
        self.interrupts = 0
        self.busy = False
        self._wake, self._alarm = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._alarm, False)
        self.wires.add(self._wake, self._awake)
        self.terminal = TerminalInput() if can_detect_reads() else None
        self.shell_handlers["comm_open"] = self._answer_comm
        self._main = threading.get_ident()
        # Set before a program is started, which would inherit that ipykernel ignores the signal.
        signal.signal(signal.SIGINT, lambda *_: self.wake(interrupt=True))

    @abstractmethod
    def run(self, cell: HostCell) -> CellFailure | None:
        """Run the code of `cell` to its end; return None if it succeeded.

        It must stop the code when `interrupts` increases.
        """

    def names(self) -> Sequence[tuple[str, str, str]]:
        """Return the user's variables: name, type, and a short preview. Not called while code runs."""
        return ()

    def stop(self) -> None:
        """Kill the program and all that it started. Called in any thread."""

    def wake(self, *, interrupt: bool = False) -> None:
        """End a `wires.wait`, in any thread and in a signal handler."""
        self.interrupts += interrupt
        with suppress(BlockingIOError):
            os.write(self._alarm, b"\0")

    @property
    def stdin(self) -> int:
        """The descriptor for the standard input of programs; -1 where a waiting read cannot be detected."""
        return -1 if self.terminal is None else self.terminal.number

    def wait(self, cell: HostCell, until: Callable[[], bool], *timeouts_s: float | None) -> bool:
        """Read the program's output until `until()` is True, an interrupt arrives, or a time is up.

        Output of the cell is sent in the meantime. Return True if `until()` is.
        """
        before = self.interrupts
        timeout_s = min((one for one in timeouts_s if one is not None), default=None)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not until():
            if self.interrupts != before:
                return False
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            if self.wires.flush_soon() or cell.printer.flush_soon():
                left = BATCH_S if left is None else min(left, BATCH_S)
            self.wires.wait(left)
        return True

    def ask(self, cell: HostCell, prompt: str, secret: bool) -> str | None:
        """Return the user's answer; None for end of file, for an interrupt, or without a user to ask."""
        if not cell.allows_input:
            return None
        cell.printer.flush()
        # The request is sent on another channel: this report marks the end of the text before it.
        cell.printer.report(asks=True)
        while self.stdin_socket.poll(0):
            self.stdin_socket.recv_multipart()
        identity = self._parent_ident["shell"]
        content = {"prompt": prompt, "password": secret}
        self._post(self.stdin_socket, "input_request", content, self._parent(), identity)
        answer: list[str] = []
        before = self.interrupts
        while not answer and self.interrupts == before:
            self.wires.wait(_LOOK_S)
            cell.printer.flush_soon()
            answer += self._answers()
        return answer[0] if answer and answer[0] != _END_OF_FILE else None

    def _answers(self) -> list[str]:
        if not self.stdin_socket.poll(0, zmq.POLLIN):
            return []
        assert self.session is not None
        _, reply = self.session.recv(self.stdin_socket)
        return [str(reply["content"].get("value", ""))] if reply else []

    async def execute_request(self, stream: Any, ident: Any, parent: Any) -> None:
        """Run code, under the number by which the session counts its runs."""
        number = (parent.get("metadata") or {}).get(RUN_NUMBER)
        if type(number) is int and number > self.execution_count:
            self.execution_count = number - 1
        await super().execute_request(stream, ident, parent)  # type: ignore[no-untyped-call]

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: Any = None,
        allow_stdin: bool = False,
        **_: Any,
    ) -> dict[str, Any]:
        """Run code to its end, blocking the event loop."""
        self.wires.listen_between_cells(asyncio.get_running_loop())
        send: Send = (lambda *_: None) if silent else self._sender()
        cell = HostCell(code, Printer(send), allows_input=allow_stdin)
        self.interrupts, self.busy = 0, True
        try:
            failure = self.run(cell)
        except Exception as broken:
            # Without a reply the error stays unknown, and the next cell fails in the same way.
            self.log.exception("A cell could not be run.")
            failure = CellFailure("KernelFailed", f"{broken}. Restart the kernel if this happens again.")
        finally:
            self.busy = False
        cell.printer.finish()
        if cell.facts:
            cell.printer.report(**cell.facts)
        count = {"execution_count": self.execution_count}
        if failure is None:
            return {"status": "ok", **count, "payload": [], "user_expressions": {}}
        lines = list(failure.traceback) or [": ".join(filter(None, (failure.name, failure.value)))]
        error = {"ename": failure.name, "evalue": failure.value, "traceback": lines}
        send("error", error)
        return {"status": "error", **count, **error}

    def exit_failure(self, status: int) -> CellFailure | None:
        """Return the failure of a cell by the exit status, negative for a signal; None for success."""
        if self.interrupts:
            return CellFailure("KeyboardInterrupt", "")
        return CellFailure("ExitStatus", str(128 - status if status < 0 else status)) if status else None

    async def do_shutdown(self, restart: bool) -> dict[str, Any]:
        """End the program; called in the thread of the control channel."""
        self.stop()
        self.wake(interrupt=True)
        return {"status": "ok", "restart": restart}

    def pre_handler_hook(self) -> None:
        """Keep this kernel's handler of SIGINT: ipykernel would raise KeyboardInterrupt at any place."""

    def post_handler_hook(self) -> None:
        """Do nothing: `pre_handler_hook` changed nothing."""

    def is_free(self) -> bool:
        """Return True if the program can be asked now: no cell runs, and this is the main thread."""
        return not self.busy and threading.get_ident() == self._main

    def _sender(self) -> Send:
        parent = self._parent()
        return lambda kind, content: self._post(self.iopub_socket, kind, content, parent)

    def _parent(self) -> Any:
        return self.get_parent("shell")  # type: ignore[no-untyped-call]

    def _post(
        self, socket: Any, kind: str, content: Mapping[str, Any], parent: Any, ident: Any = None
    ) -> None:
        assert self.session is not None
        self.session.send(socket, kind, dict(content), parent, ident=ident)

    def _awake(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wake, 4096)

    def _answer_comm(self, _stream: Any, _ident: Any, message: Any) -> None:
        """Answer requests of the adapter beside cells, as terp's package in a Python kernel does."""
        content = message["content"]
        if content.get("target_name") != COMM_TARGET:
            return
        asked = (content.get("data") or {}).get("ask")
        rows = self.names() if self.is_free() else ()
        answers: dict[str, Any] = {
            "variables": [(name, kind, (), None, head) for name, kind, head in rows],
            "names": {name: kind for name, kind, _ in rows},
        }
        data = {asked: answers[asked]} if asked in answers else {}
        reply = {"comm_id": content["comm_id"], "data": data}
        self._post(self.iopub_socket, "comm_msg", reply, message)


def serve(kernel: type[HostKernel]) -> None:
    """Run a kernel of this class until a shutdown request, or the end of the parent process."""
    end_with_parent()
    IPKernelApp.launch_instance(kernel_class=kernel)


def end_with_parent() -> None:
    """Have this process killed when the one that started it dies (Linux; elsewhere ipykernel polls)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
