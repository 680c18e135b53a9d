"""Which session a conversation of a client goes on in.

A request carries its whole conversation. What was answered before is known again by its fingerprint, and goes
on in the session that answered: its kernels have the variables. A past that is not known, because it was
edited, answered once more, or comes from elsewhere, begins a new session.
"""

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field

from terp import tool
from terp.errors import SessionError
from terp.messages import System
from terp_cli.server.failures import Refused
from terp_cli.server.openai.said import Said, fingerprint
from terp_cli.server.questions import Open
from terp_cli.server.served import Served
from terp_cli.server.sessions import Sessions
from terp_cli.server.turns import Turn
from terp_cli.server.wishes import Wishes

_MOST = 2_000


@dataclass(slots=True, eq=False)
class Thread:
    """A conversation with a client in a session.

    `system` is the prompt that the session has of itself, `code` whether it runs any, and `told` what the
    client has added. `shown` is the question with which the last answer ended, `turn` what waits for its
    answer, and `after` the number up to which events were told.
    """

    served: Served
    system: str
    code: bool
    told: str = ""
    turn: Turn | None = None
    shown: Open | None = None
    after: int = 0

    @property
    def going_on(self) -> Turn | None:
        """The turn of the last answer, if it has not ended."""
        return None if self.turn is None or self.turn.ended.done() else self.turn

    @property
    def question(self) -> Open | None:
        """The question that the next message answers, if it is still open."""
        return next((one for one in self.served.questions.all() if one == self.shown), None)


@dataclass(slots=True, eq=False)
class _Kept:
    """A conversation by what was said in it, and its session. One that is closed holds no memory."""

    said: str
    session: str
    thread: Thread | None


@dataclass
class Threads:
    """The conversations of all clients, each under the fingerprint of what was said in it so far."""

    sessions: Sessions
    _known: deque[_Kept] = field(default_factory=lambda: deque(maxlen=_MOST))

    async def of_past(self, said: Said) -> tuple[Thread, bool]:
        """The conversation that a request goes on with; whether it is a new one, that knows nothing yet.

        It is taken: until it is kept again no other request finds it.
        """
        past = fingerprint(said.past, said.wishes) if said.past else ""
        kept = next((one for one in reversed(self._known) if one.said == past), None)
        if kept is not None:
            # Clients of another session may have closed it, or removed it; another process may have it open.
            with suppress(Refused, SessionError):
                return await self._taken(kept, said.wishes), False
        return thread_in(await self.sessions.new(said.wishes)), True

    async def of_session(self, session: str) -> tuple[Thread, bool]:
        """The conversation in the session that a client names.

        Raises:
            Refused, TerpError: there is no such session, or it cannot be opened.
        """
        known = next((one for one in reversed(self._known) if one.session == session), None)
        return await self._taken(known or _Kept("", session, None), Wishes()), False

    def keep(self, thread: Thread, said: str) -> None:
        """Let a request with this past find the conversation."""
        for one in self._known:
            if one.thread is not None and one.thread.served.closed:
                one.thread = None
        self._known.append(_Kept(said, thread.served.id, thread))

    async def _taken(self, kept: _Kept, wishes: Wishes) -> Thread:
        if kept in self._known:
            self._known.remove(kept)
        if kept.thread is not None and not kept.thread.served.closed:
            self.sessions.get(kept.session)
            return kept.thread
        return thread_in(await self.sessions.resume(kept.session, wishes))


def thread_in(served: Served) -> Thread:
    """A conversation in a session of which this interface has not told anything."""
    messages, tools = served.session.request
    system = messages[0]
    assert isinstance(system, System), "every request begins with the system prompt"
    return Thread(served, system.text, any(one["function"]["name"] == tool.NAME for one in tools))
