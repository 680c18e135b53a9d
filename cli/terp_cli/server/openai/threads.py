"""Which session a conversation of a client goes on in.

A request carries its whole conversation. What was answered before is known again by its fingerprint, and goes
on in the session that answered: its kernels have the variables. A past that is not known, because it was
edited, answered once more, or comes from elsewhere, begins a new session.
"""

from collections import deque
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


@dataclass(slots=True)
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


@dataclass
class Threads:
    """The conversations of all clients, each under the fingerprint of what was said in it so far."""

    sessions: Sessions
    _known: deque[tuple[str, Thread]] = field(default_factory=lambda: deque(maxlen=_MOST))

    async def of_past(self, said: Said) -> tuple[Thread, bool]:
        """The conversation that a request goes on with; whether it is a new one, that knows nothing yet.

        It is taken: until it is kept again no other request finds it.
        """
        if said.past and (found := self._taken(fingerprint(said.past, said.wishes))):
            if not found.served.closed:
                self.sessions.get(found.served.id)
                return found, False
            if (again := await self._resumed(found.served.id, said.wishes)) is not None:
                return again, False
        return thread_in(await self.sessions.new(said.wishes)), True

    async def of_session(self, session: str) -> tuple[Thread, bool]:
        """The conversation in the session that a client names.

        Raises:
            Refused: there is no such session.
        """
        for one in self._known:
            if one[1].served.id == session and not one[1].served.closed:
                self._known.remove(one)
                self.sessions.get(session)
                return one[1], False
        return thread_in(await self.sessions.resume(session, Wishes())), False

    def keep(self, thread: Thread, said: str) -> None:
        """Let a request with this past find the conversation."""
        self._known.append((said, thread))

    def _taken(self, past: str) -> Thread | None:
        found = next((one for one in reversed(self._known) if one[0] == past), None)
        if found is None:
            return None
        self._known.remove(found)
        return found[1]

    async def _resumed(self, session: str, wishes: Wishes) -> Thread | None:
        try:
            return thread_in(await self.sessions.resume(session, wishes))
        except (Refused, SessionError):
            # It was removed, or another process has it open.
            return None


def thread_in(served: Served) -> Thread:
    """A conversation in a session of which this interface has not told anything."""
    messages, tools = served.session.request
    system = messages[0]
    assert isinstance(system, System), "every request begins with the system prompt"
    return Thread(served, system.text, any(one["function"]["name"] == tool.NAME for one in tools))
