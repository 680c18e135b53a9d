"""A session for code without `async`: a thread runs its event loop."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from terp.checks.until.loop import ask
from terp.errors import SessionError
from terp.events import Event
from terp.events.messages import Attachment
from terp.session.artifacts import OUTPUTS
from terp.session.reply import Reply, TurnFailed, reply_of
from terp.session.session import Session
from terp.text.files import make_private
from terp.text.paths import unused

T = TypeVar("T")
Given = Attachment | str | os.PathLike[str] | bytes
_FAILURES = frozenset(
    """
    error until_failed rejected context_full unavailable rate_limited auth approval_needed
    """.split()  # noqa: SIM905  (a table of names, to be read)
)


class Chat:
    """A session to call: `chat("…")` returns the reply of one turn.

    `make` builds the session inside the loop. `close`, or the end of the `with` block, closes the kernels,
    the model's connections and the loop's thread.
    """

    def __init__(self, make: Callable[[], Coroutine[Any, Any, Session]]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="terp", daemon=True)
        self._thread.start()
        try:
            self.session = self._wait(make())
        except BaseException:
            self._stop()
            raise

    def __call__(
        self,
        prompt: str,
        attachments: Sequence[Given] = (),
        *,
        on_event: Callable[[Event], None] | None = None,
    ) -> Reply:
        """Run one turn to its end; `on_event` is called with each event, in the loop's thread.

        `attachments` are paths of files, or bytes, which are written to the session's folder.
        Ctrl-C interrupts the turn and is raised again; the kernel and its variables stay. Code that has not
        stopped after 2 s is waited for; another Ctrl-C ends its kernel.

        Raises:
            SessionError: the chat is closed.
            AttachmentError: there is no such file.
            TurnFailed: there is no answer. A turn that stopped at a limit, or that the user ended, returns
                its reply.
        """
        if not self._thread.is_alive():
            raise SessionError("This chat is closed.", "Open another one with terp.open(…).")
        attached = [one for given in attachments for one in _attached(self.session, given)]
        try:
            reply = self._wait(_gathered(ask(self.session, prompt, attached), on_event))
        except KeyboardInterrupt:
            # No other turn can begin until this one has ended.
            self._stop_turn()
            raise
        if reply.stop_reason in _FAILURES:
            raise TurnFailed(reply.error, reply.remedy, reply=reply)
        return reply

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


def _attached(session: Session, given: Given) -> Sequence[Attachment]:
    if isinstance(given, Attachment):
        return [given]
    from terp.session.attachments import attach, attach_elsewhere  # noqa: PLC0415  (most prompts have none)

    if isinstance(given, bytes):
        # Code in a sandbox can read this folder.
        path = unused(make_private(session.folder / OUTPUTS) / "attachment")
        path.write_bytes(given)
        given = path
    files = [os.fspath(given)]
    return attach_elsewhere(files) if session.readiness.carries else attach(files, Path(session.kernels.cwd))


async def _gathered(turn: AsyncGenerator[Event, None], on_event: Callable[[Event], None] | None) -> Reply:
    seen: list[Event] = []
    async with aclosing(turn) as events:
        async for event in events:
            seen.append(event)
            if on_event is not None:
                on_event(event)
    return reply_of(seen)
