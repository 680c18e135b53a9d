"""An open session of a server: its turns, questions, subscribers, and idle time."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from terp.session.session import Session
from terp_cli.server.failures import RequestRefused
from terp_cli.server.limits import ServerLimits
from terp_cli.server.person import RemotePerson, Subscribers
from terp_cli.server.questions import OpenQuestions
from terp_cli.server.transcript import Transcript
from terp_cli.server.tree import Tree
from terp_cli.server.turns import Asking, ServedTurn, Turns

if TYPE_CHECKING:
    from terp.secrets.scrubbing import Scrubber

# Time for an interrupted turn to end before its kernel is closed.
_GRACE_S = 0.5
# An interrupt returns after 2 s when code does not answer it; so much later the kernel of that code is ended.
_PATIENCE_S = 3.0


class Served:
    """A session with its turns, questions and files. `cwd` is its working directory."""

    def __init__(
        self,
        session: Session,
        person: RemotePerson,
        subscribers: Subscribers,
        *,
        cwd: Path,
        files: Tree,
        limits: ServerLimits,
    ) -> None:
        self.id = session.folder.name
        self.session = session
        self.person = person
        self.subscribers = subscribers
        self.cwd = cwd
        self.files = files
        self.transcript = Transcript(session.log, session.resources.scrubber)
        self.questions = OpenQuestions(session)
        self.turns = Turns(session, limits.queue, self._turned)
        self.closed = False
        # Who follows the log sees what is asked, too.
        person.changed = session.log.wake
        self.used = asyncio.get_running_loop().time()
        self._limits = limits
        self._rest: asyncio.TimerHandle | None = None
        self._resting: set[asyncio.Task[None]] = set()

    @property
    def scrubber(self) -> "Scrubber":
        """The scrubber of the session's secrets."""
        return self.session.resources.scrubber()

    @property
    def is_idle(self) -> bool:
        """Return True if no turn is running and no client follows."""
        return not (self.turns.busy or self.subscribers.following)

    @contextmanager
    def follows(self) -> Iterator[None]:
        """Count a client as a subscriber during the block.

        Raises:
            Refused: as many as may follow do.
        """
        if self.subscribers.following >= self._limits.watchers:
            raise RequestRefused(429, f"{self._limits.watchers} clients follow this session already.")
        with self.subscribers.follows():
            yield

    def heard(self) -> None:
        """Note a client's call about this session."""
        self.used = asyncio.get_running_loop().time()
        self.subscribers.heard()

    def ask(self, asking: Asking) -> ServedTurn:
        """Queue a turn.

        Raises:
            Refused: too many wait.
        """
        self._wake()
        return self.turns.ask(asking)

    async def stop(self) -> int:
        """Interrupt the running turn and drop the waiting ones; return the number of dropped turns."""
        dropped = self.turns.drop_waiting()
        await self.session.interrupt()
        return dropped

    async def end_turn(self) -> None:
        """Interrupt the turn for a client that cannot do so a second time; return when it is over.

        Code that has not answered for 5 s is ended with its kernel, as in a one-shot.
        """
        turn = self.turns.current
        await self.session.interrupt()
        if turn is not None:
            await asyncio.wait({turn.ended}, timeout=_PATIENCE_S)
            if not turn.ended.done():
                await self.session.interrupt()
                await turn.ending()

    async def aclose(self) -> None:
        """End the turn, the kernels and the session, and release its subscribers."""
        self._wake()
        self.turns.drop_waiting()
        stopping = asyncio.ensure_future(self.session.interrupt())
        await asyncio.wait({stopping}, timeout=_GRACE_S)
        # Code that resists an interrupt ends with its kernel.
        await self.session.kernels.aclose()
        await asyncio.wait({stopping})
        await self.session.aclose()
        await self.turns.over()
        self.closed = True
        self.session.log.wake()

    def _turned(self) -> None:
        self._wake()
        self.used = asyncio.get_running_loop().time()
        if self._limits.idle_s and not self.turns.busy:
            self._rest = asyncio.get_running_loop().call_later(self._limits.idle_s, self._begin_rest)

    def _wake(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _begin_rest(self) -> None:
        task = asyncio.create_task(self._let_rest())
        self._resting.add(task)
        task.add_done_callback(self._resting.discard)

    async def _let_rest(self) -> None:
        ended, rest = await self.session.kernels.rest(), f"{self._limits.idle_s:g} s"
        if ended:
            which = " and ".join(ended)
            self.session.dialog.notify(
                f"The {which} kernel did nothing for {rest} and was closed: its variables are gone.",
                "The next code starts a new one.",
            )
