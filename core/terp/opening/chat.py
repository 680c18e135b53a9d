"""Sessions for code without `async`: a thread runs their event loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar

from terp.errors import SessionError
from terp.events.kernel import Variable
from terp.opening.chat_session import ChatSession
from terp.session.live_kernel import LiveKernel

P = ParamSpec("P")
T = TypeVar("T")
To = TypeVar("To")


def _blocking(
    to: "Callable[[SyncKernel], To]", method: Callable[Concatenate[To, P], Coroutine[Any, Any, T]]
) -> "Callable[Concatenate[SyncKernel, P], T]":
    """Return a method that waits for a coroutine of the object that `to` returns."""

    @wraps(method)
    def wait(self: "SyncKernel", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._do(method(to(self), *args, **kwargs))

    return wait


def _session(chat: "SyncKernel") -> ChatSession:
    return chat.session


def _live(chat: "SyncKernel") -> LiveKernel:
    return chat.session.kernel


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

    run = _blocking(_live, LiveKernel.run)
    __getitem__ = _blocking(_live, LiveKernel.get)
    __setitem__ = _blocking(_live, LiveKernel.set)
    upload = _blocking(_live, LiveKernel.upload)
    download = _blocking(_live, LiveKernel.download)
    list_packages = _blocking(_live, LiveKernel.list_packages)
    install = _blocking(_live, LiveKernel.install)
    start = _blocking(_live, LiveKernel.start)
    stop = _blocking(_live, LiveKernel.stop)
    restart = _blocking(_live, LiveKernel.restart)

    def __contains__(self, name: object) -> bool:
        return name in self.variables

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables of the Python kernel by name: type, shape, size in bytes, beginning of the value."""
        return self._do(_live(self).variables())

    @property
    def files(self) -> Sequence[str]:
        """The files that code has created or changed, and displayed pictures: paths on this machine."""
        return _live(self).files

    def status(self, language: str = "") -> Literal["stopped", "ready", "busy"]:
        """Return the state of a kernel: "stopped" (the next use starts it), "ready" or "busy" with code."""
        return _live(self).status(language)

    def interrupt(self) -> None:
        """Stop the running code or turn, from another thread; variables stay. See `LiveKernel.interrupt`."""
        self._wait(_live(self).interrupt())

    def close(self) -> None:
        """Close the kernels, the connections and the thread. Harmless when called twice."""
        if self._thread.is_alive():
            try:
                self._wait(self.session.aclose())
            finally:
                self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
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
    """A session to call: `chat("…")` returns the reply of one turn. Its kernel is that of a `SyncKernel`.

    `on_event` is called in the loop's thread. A closed chat raises `SessionError`.
    """

    __call__ = _blocking(_session, ChatSession.ask)
    solve = _blocking(_session, ChatSession.solve)
