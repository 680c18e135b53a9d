"""Sessions for code without `async`: a thread runs their event loop."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from terp.errors import SessionError
from terp.events.kernel import Variable
from terp.opening.chat_session import Attachable, ChatSession, OnEvent
from terp.session.live_kernel import LiveKernel
from terp.session.reply import CodeRun, Reply

if TYPE_CHECKING:
    from terp.checks.solve.phases import Outcome
    from terp.checks.solve.problem import Problem

T = TypeVar("T")


class SyncKernel:
    """`LiveKernel` for code without `async`: `kernel.run("…")`, `kernel["df"] = frame`, `kernel["df"]`.

    `make` builds the session inside the loop. `close`, or the end of the `with` block, closes the kernels,
    the model's connections and the loop's thread. Ctrl-C interrupts what runs and is raised again; the kernel
    and its variables stay. Code that has not stopped after 2 s is waited for; another Ctrl-C ends its kernel.
    """

    def __init__(self, make: Callable[[], Coroutine[Any, Any, ChatSession]]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="terp", daemon=True)
        self._thread.start()
        try:
            self.session = self._wait(make())
        except BaseException:
            self._stop()
            raise

    @property
    def _live(self) -> LiveKernel:
        return self.session.kernel

    def run(self, code: str, language: str = "") -> CodeRun:
        """Run code without a model; return its `text`, `outputs` and `error`. See `LiveKernel.run`."""
        return self._do(self._live.run(code, language))

    def __getitem__(self, name: str) -> Any:
        """Return a copy of a variable's value. See `LiveKernel.get`."""
        return self._do(self._live.get(name))

    def __setitem__(self, name: str, value: Any) -> None:
        """Bind a copy of a value to a variable of the kernel. See `LiveKernel.set`."""
        self._do(self._live.set(name, value))

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables of the Python kernel by name: type, shape, size in bytes, beginning of the value."""
        return self._do(self._live.variables())

    @property
    def files(self) -> Sequence[str]:
        """The files that code has created or changed, and displayed pictures: paths on this machine."""
        return self._live.files

    def upload(self, source: str | os.PathLike[str] | bytes, name: str = "") -> str:
        """Copy a file, or bytes as the file `name`, to the kernel; return its path there."""
        return self._do(self._live.upload(source, name))

    def download(self, path: str | os.PathLike[str]) -> bytes:
        """Return the content of a file of the kernel, up to 1 GB. See `LiveKernel.download`."""
        return self._do(self._live.download(path))

    def list_packages(self) -> Mapping[str, str]:
        """Return the versions of the packages that Python code can import, by the names of the packages."""
        return self._do(self._live.list_packages())

    def install(self, *packages: str, upgrade: bool = False) -> None:
        """Install packages for the Python kernel. See `LiveKernel.install`."""
        self._do(self._live.install(*packages, upgrade=upgrade))

    def start(self, language: str = "") -> None:
        """Start a kernel now, to have its first code run at once; return when it is ready."""
        self._do(self._live.start(language))

    def stop(self) -> None:
        """End all kernels; their variables are lost. The next use starts new ones."""
        self._do(self._live.stop())

    def restart(self, language: str = "") -> None:
        """Replace a kernel by a new one: its variables are lost, its files stay."""
        self._do(self._live.restart(language))

    def status(self, language: str = "") -> Literal["stopped", "ready", "busy"]:
        """Return the state of a kernel: "stopped" (the next use starts it), "ready" or "busy" with code."""
        return self._live.status(language)

    def interrupt(self) -> None:
        """Stop the running code or turn, from another thread; variables stay. See `LiveKernel.interrupt`."""
        self._wait(self._live.interrupt())

    def close(self) -> None:
        """Close the kernels, the connections and the thread. Harmless when called twice."""
        if self._thread.is_alive():
            try:
                self._wait(self.session.aclose())
            finally:
                self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`.

        Raises:
            SessionError: the chat is closed.
        """
        if not self._thread.is_alive():
            work.close()
            raise SessionError("This chat is closed.", "Open another one with terp.open(…).")
        try:
            return self._wait(work)
        except KeyboardInterrupt:
            # No other turn can begin until this one has ended.
            self._stop_turn()
            raise

    def _stop_turn(self) -> None:
        while True:
            try:
                return self._wait(self._interrupted())
            except KeyboardInterrupt:
                # One more Ctrl-C is one more interrupt.
                continue

    async def _interrupted(self) -> None:
        await self.session.interrupt()
        await self.session.idle()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Chat(SyncKernel):
    """A session to call: `chat("…")` returns the reply of one turn. Its kernel is that of a `SyncKernel`."""

    def __call__(
        self,
        prompt: str,
        attachments: Sequence[Attachable] = (),
        *,
        until: str = "",
        on_event: OnEvent | None = None,
    ) -> Reply:
        """Run one turn to its end. See `ChatSession.ask`; `on_event` is called in the loop's thread.

        Raises:
            SessionError: the chat is closed.
            AttachmentError: there is no such file, or an object is of another type.
            SettingsError: the check is malformed.
            TurnFailed: there is no answer. A turn that stopped at a limit, or that the user ended, returns
                its reply.
        """
        return self._do(self.session.ask(prompt, attachments, until=until, on_event=on_event))

    def solve(
        self, problem: "Problem | str | os.PathLike[str]", *, on_event: OnEvent | None = None
    ) -> "Outcome":
        """Write a program that passes the tests of a problem. See `ChatSession.solve`."""
        return self._do(self.session.solve(problem, on_event=on_event))
