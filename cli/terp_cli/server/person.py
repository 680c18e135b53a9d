"""The person of a served session: any client that subscribes to it and answers through `Session.answer`."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.person import Choice, Consent, Decline, Option, Run


class Subscribers:
    """A count of the clients that follow a session, and the time of the last call.

    No client is there once none has followed, or called, for `patience_s` seconds.
    """

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._following = 0
        self._heard = asyncio.Event()
        self._left = asyncio.Event()
        self._left.set()

    @property
    def following(self) -> int:
        """The number of clients that follow now."""
        return self._following

    def heard(self) -> None:
        """Note a call of a client."""
        self._heard.set()

    @contextmanager
    def follows(self) -> Iterator[None]:
        """Count a client as a subscriber during the block."""
        self._following += 1
        self._left.clear()
        self._heard.set()
        try:
            yield
        finally:
            self._following -= 1
            if not self._following:
                self._left.set()

    async def gone(self) -> None:
        """Return once no client has followed or called for `patience_s`."""
        while True:
            await self._left.wait()
            self._heard.clear()
            try:
                async with asyncio.timeout(self._patience_s):
                    await self._heard.wait()
            except TimeoutError:
                return


_LEFT = "nobody was connected to answer"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The part of a question that its event does not carry: its reason and its options."""

    what: str
    why: str = ""
    options: tuple[Option, ...] = ()


class RemotePerson:
    """Waits for a client's answer; once no client is there, code is declined and nothing is allowed.

    `waiting` is what is asked now beyond approvals, for `GET /v1/sessions/{id}`. `changed` is called whenever
    something is asked that nobody else, such as a rule, has answered.
    """

    def __init__(self, subscribers: Subscribers) -> None:
        self.waiting: list[Waiting] = []
        self.changed: Callable[[], None] = _nobody_looks
        self._subscribers = subscribers
        self._asked = 0

    @property
    def is_asked(self) -> bool:
        """Return True if a question waits for a client."""
        return self._asked > 0

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Decline and end the turn once no client follows the session."""
        with self._being_asked():
            await self._subscribers.gone()
        return Decline(_LEFT, stop=True)

    async def allow(self, request: Consent) -> bool:
        """Return False once no client follows."""
        await self._until_gone(Waiting(request.what, request.why))
        return False

    async def choose(self, choice: Choice) -> str:
        """Return "" (no choice) once no client follows."""
        await self._until_gone(Waiting(choice.what, choice.why, choice.options))
        return ""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Raise once no client follows.

        Raises:
            NobodyThere: nobody follows any more.
        """
        with self._being_asked():
            await self._subscribers.gone()
        raise NobodyThere(f"The code asked for input, and {_LEFT}.")

    async def _until_gone(self, waiting: Waiting) -> None:
        self.waiting.append(waiting)
        try:
            with self._being_asked():
                await self._subscribers.gone()
        finally:
            self.waiting.remove(waiting)

    @contextmanager
    def _being_asked(self) -> Iterator[None]:
        self._asked += 1
        self.changed()
        try:
            yield
        finally:
            self._asked -= 1


def _nobody_looks() -> None:
    """Until the session is served."""
