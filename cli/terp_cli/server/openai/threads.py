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


@dataclass(frozen=True, slots=True)
class Paused:
    """Where an answer ended with a question, which is as it was shown.

    `turn` waits for the answer, and `after` is the number up to which its events were told.
    """

    turn: Turn
    question: Open
    after: int


@dataclass(slots=True, eq=False)
class Thread:
    """A conversation with a client in a session.

    `system` is the prompt that the session has of itself, `code` whether it runs any, and `told` what the
    client has added.
    """

    served: Served
    system: str
    code: bool
    told: str = ""
    paused: Paused | None = None

    @property
    def question(self) -> Open | None:
        """The question that the next message answers, if it is still open."""
        found = self.paused and self.paused.question
        return found if found in self.served.questions.all() else None


@dataclass
class Threads:
    """The conversations of all clients: by session, and by the fingerprint of what was said so far."""

    sessions: Sessions
    _open: dict[str, Thread] = field(default_factory=dict)
    _known: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_MOST))

    async def of_past(self, said: Said) -> tuple[Thread, bool]:
        """The conversation that a request goes on with; whether it is a new one, that knows nothing yet.

        It is taken: until it is kept again no other request finds it.
        """
        past = fingerprint(said.past, said.wishes) if said.past else ""
        known = next((one for one in reversed(self._known) if one[0] == past), None)
        if known is not None:
            self._known.remove(known)
            # The session may be gone by now, or another process may have it open.
            with suppress(Refused, SessionError):
                return await self._in_session(known[1], said.wishes), False
        return self._thread_in(await self.sessions.new(said.wishes)), True

    async def of_session(self, session: str) -> tuple[Thread, bool]:
        """The conversation in the session that a client names.

        Raises:
            Refused, TerpError: there is no such session, or it cannot be opened.
        """
        found = await self._in_session(session, Wishes())
        for one in [one for one in self._known if one[1] == session]:
            self._known.remove(one)
        return found, False

    def keep(self, thread: Thread, said: str) -> None:
        """Let a request with this past find the conversation."""
        self._open = {session: one for session, one in self._open.items() if not one.served.closed}
        self._known.append((said, thread.served.id))

    async def _in_session(self, session: str, wishes: Wishes) -> Thread:
        return self._thread_in(await self.sessions.resume(session, wishes))

    def _thread_in(self, served: Served) -> Thread:
        found = self._open.get(served.id)
        if found is None or found.served is not served:
            found = self._open[served.id] = thread_in(served)
        return found


def thread_in(served: Served) -> Thread:
    """A conversation in a session of which this interface has not told anything."""
    messages, tools = served.session.request
    system = messages[0]
    assert isinstance(system, System), "every request begins with the system prompt"
    return Thread(served, system.text, any(one["function"]["name"] == tool.NAME for one in tools))
