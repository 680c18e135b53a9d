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
    to: "Callable[[Blocking], To]", method: Callable[Concatenate[To, P], Coroutine[Any, Any, T]]
) -> "Callable[Concatenate[Blocking, P], T]":
    """Return a method that waits for a coroutine of the object that `to` returns."""

    @wraps(method)
    def wait(self: "Blocking", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._do(method(to(self), *args, **kwargs))

    return wait


def _session(chat: "Blocking") -> ChatSession:
    return chat.session


def _live(chat: "Blocking") -> LiveKernel:
    return chat.session.kernel


class Blocking:
    """The methods of a `LiveKernel` for code without `async`, and the thread in which they run.

    `make` builds the session inside the loop, at the beginning of the `with` block or at the first use.
    `close` or the end of the block closes the kernels, the model's connections and the loop's thread; else
    the kernels on this machine end with the program. Ctrl-C interrupts what runs and is raised again; the
    kernel and its variables stay. Code that has not stopped after 2 s is waited for; another Ctrl-C ends its
    kernel.
    """

    def __init__(self, make: Callable[[], Coroutine[Any, Any, ChatSession]]) -> None:
        self._make = make
        self._opening = threading.Lock()
        self._session: ChatSession | None = None
        self._entered: ChatSession | None = None
        self._closed = False

    @property
    def session(self) -> ChatSession:
        """The session itself; its coroutines belong to the thread of the loop.

        Raises:
            SessionError: it is closed.
        """
        with self._opening:
            if self._closed:
                raise SessionError("This chat is closed.", "Open another one with terp.open(…).")
            if self._session is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="terp", daemon=True)
                self._thread.start()
                try:
                    self._session = self._wait(self._make())
                except BaseException:
                    self._stop()
                    raise
        return self._session

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

    # `__getitem__` takes names, and would be called with numbers.
    __iter__ = None

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
        """Stop the running code or turn, from another thread or `on_event`; variables stay.

        See `LiveKernel.interrupt`.
        """
        stopping = asyncio.run_coroutine_threadsafe(_live(self).interrupt(), self._loop)
        if threading.current_thread() is not self._thread:
            stopping.result()

    def close(self) -> None:
        """Close the kernels, the connections and the thread. Harmless when called twice."""
        closed, self._closed = self._closed, True
        if self._session is not None and not closed:
            try:
                self._wait(self._session.aclose())
            finally:
                self._stop()

    def __enter__(self) -> Self:
        if self._closed:
            self._closed, self._session = False, None
        _live(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aexit__(self, *_: object) -> None:
        if self._entered is not None:
            await self._entered.aclose()

    async def _enter(self) -> ChatSession:
        self._entered = entered = await self._make()
        return entered

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
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
        if threading.current_thread() is self._thread:
            work.close()
            raise SessionError(
                "on_event cannot wait for the chat that called it: only interrupt() works there."
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class SyncKernel(Blocking):
    """`LiveKernel` for code without `async`: `kernel.run("…")`, `kernel["df"] = frame`, `kernel["df"]`."""

    async def __aenter__(self) -> LiveKernel:
        return (await self._enter()).kernel


class Chat(Blocking):
    """A session to call: `chat("…")` returns the reply of one turn. Its kernel is as that of `SyncKernel`.

    `on_event` is called in the loop's thread. A closed chat raises `SessionError`.
    """

    __call__ = _blocking(_session, ChatSession.ask)
    solve = _blocking(_session, ChatSession.solve)

    async def __aenter__(self) -> ChatSession:
        return await self._enter()
