"""Which session a conversation of a client goes on in.

A request carries its whole conversation. What was answered before is known again by its fingerprint, and goes
on in the session that answered: its kernels have the variables. One whose last message was sent again or
edited goes on there, too, wound back. Any other past begins a new session.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from terp.errors import SessionError, TerpError
from terp.events.messages import System
from terp.models import tool
from terp_cli.server.failures import Refused
from terp_cli.server.openai.forms import MessageSaid
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


@dataclass(frozen=True, slots=True)
class Began:
    """Where a turn began: its number, what was asked, and how many messages the client had before it."""

    number: int
    prompt: str
    behind: int


@dataclass(slots=True, eq=False)
class Thread:
    """A conversation with a client in a session.

    `system` is the prompt that the session has of itself, `code` whether it runs any, and `told` what the
    client has added. `began` is the last turn that was asked for here.
    """

    served: Served
    system: str
    code: bool
    told: str = ""
    paused: Paused | None = None
    began: "Began | None" = None

    @property
    def question(self) -> Open | None:
        """The question that the next message answers, if it is still open."""
        found = self.paused and self.paused.question
        return found if found in self.served.questions.all() else None


@dataclass
class Threads:
    """The conversations of all clients: by session, and by the fingerprint of what was said so far.

    `_began` has the turn to which a request with such a past goes back.
    """

    sessions: Sessions
    _open: dict[str, Thread] = field(default_factory=dict)
    _began: dict[str, tuple[str, Began]] = field(default_factory=dict)
    _known: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_MOST))

    async def of_past(self, said: Said) -> tuple[Thread, Sequence[MessageSaid]]:
        """The conversation that a request goes on with; what of its past is new to that.

        It is taken: until it is kept again no other request finds it.
        """
        past = fingerprint(said.past, said.wishes) if said.past else ""
        known = next((one for one in reversed(self._known) if one[0] == past), None)
        if known is not None:
            self._known.remove(known)
            # The session may be gone by now, or another process may have it open.
            with suppress(Refused, SessionError):
                return await self._in_session(known[1], said.wishes), ()
        if past in self._began:
            session, began = self._began[past]
            self._forget(session, began.number)
            with suppress(Refused, TerpError, RuntimeError):
                thread = await self._in_session(session, said.wishes)
                if await _wound_back(thread, began):
                    return thread, said.past[began.behind :]
        return self._thread_in(await self.sessions.new(said.wishes)), said.past

    async def of_session(self, session: str) -> tuple[Thread, Sequence[MessageSaid]]:
        """The conversation in the session that a client names.

        Raises:
            Refused, TerpError: there is no such session, or it cannot be opened.
        """
        found = await self._in_session(session, Wishes())
        self._forget(session, 0)
        return found, ()

    def keep(self, thread: Thread, after: str, said: Said | None) -> None:
        """Let a request with the past `after` find the conversation, and one with that of `said` its turn."""
        self._open = {session: one for session, one in self._open.items() if not one.served.closed}
        self._known.append((after, thread.served.id))
        if said is None or thread.began is None or not said.past:
            # A first message says nothing of whose it is.
            return
        self._began[fingerprint(said.past, said.wishes)] = (thread.served.id, thread.began)
        for key in list(self._began)[:-_MOST]:
            del self._began[key]

    def _forget(self, session: str, turn: int) -> None:
        """Let nobody find a session where it ends now, or at this turn or a later one."""
        for one in [one for one in self._known if one[1] == session]:
            self._known.remove(one)
        for key, (other, began) in list(self._began.items()):
            if other == session and began.number >= turn:
                del self._began[key]

    async def _in_session(self, session: str, wishes: Wishes) -> Thread:
        return self._thread_in(await self.sessions.resume(session, wishes))

    def _thread_in(self, served: Served) -> Thread:
        found = self._open.get(served.id)
        if found is None or found.served is not served:
            found = self._open[served.id] = thread_in(served)
        return found


async def _wound_back(thread: Thread, began: Began) -> bool:
    """Take back a turn and all after it, with what its code did to variables; False where that cannot be."""
    served, session, paused = thread.served, thread.served.session, thread.paused
    thread.paused = None
    if paused is not None and not paused.turn.ended.done():
        served.turns.drop_waiting()
        await served.end_turn()
        await served.turns.over()
    turn = next((one for one in session.turns if one.number == began.number), None)
    if turn is None or not turn.prompt.startswith(began.prompt) or served.turns.busy:
        return False
    await session.past.with_code.go(turn.number)
    return True


def thread_in(served: Served) -> Thread:
    """A conversation in a session of which this interface has not told anything."""
    messages, tools = served.session.request
    system = messages[0]
    assert isinstance(system, System), "every request begins with the system prompt"
    return Thread(served, system.text, any(one["function"]["name"] == tool.NAME for one in tools))
