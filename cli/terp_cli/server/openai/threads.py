"""The session in which a client's conversation continues.

A request carries its whole conversation. The fingerprint of its answered part finds the session that
answered, whose kernels have the variables. After an edited or repeated last message the same session
continues, rewound. Any other past starts a new session. `Stateful` is Open Interpreter's form: one
conversation for all clients, where a request adds its last message.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from terp.errors import SessionError, TerpError
from terp.events.messages import System
from terp.models import tool
from terp.text.dataclasses import dataclass, field
from terp_cli.server.failures import RequestRefused
from terp_cli.server.openai.forms import ChatBody, ChatMessage
from terp_cli.server.openai.requests import ChatRequest, NewMessages, fingerprint, new_messages
from terp_cli.server.opening import SessionRequest
from terp_cli.server.person import Open
from terp_cli.server.sessions import Served, Sessions
from terp_cli.server.turns import ServedTurn

_MOST = 2_000


@dataclass(frozen=True, slots=True)
class Paused:
    """The end of an answer that asked a question, with the question as shown.

    `turn` waits for the answer, and `after` is the number of the last event that was sent.
    """

    turn: ServedTurn
    question: Open
    after: int


@dataclass(frozen=True, slots=True)
class Began:
    """The start of a turn: its record's number, the prompt, and how many messages the client had before."""

    number: int
    prompt: str
    behind: int


@dataclass(slots=True, eq=False)
class Thread:
    """A conversation with a client in a session.

    `system` is the session's own system prompt, `client_system` the client's addition to it, `code` is True
    if the session runs code. `began` is the last turn of this conversation.
    """

    served: Served
    system: str
    code: bool
    client_system: str = ""
    paused: Paused | None = None
    began: Began | None = None

    @property
    def question(self) -> Open | None:
        """The question that the next message answers, if it is still open."""
        found = self.paused and self.paused.question
        return found if found in self.served.questions.all() else None


@dataclass
class Threads:
    """The conversations of all clients, by session and by the fingerprint of their messages so far.

    `_began` maps a fingerprint to the turn to which a request with that past rewinds.
    """

    sessions: Sessions
    _open: dict[str, Thread] = field(default_factory=dict)
    _began: dict[str, tuple[str, Began]] = field(default_factory=dict)
    _known: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_MOST))

    async def of_past(self, said: ChatRequest) -> tuple[Thread, Sequence[ChatMessage]]:
        """Return the conversation that a request continues, and the part of its past that is new to it.

        It is reserved: no other request finds it before the next `keep`.

        Raises:
            RequestRefused, TerpError: a new session is needed, and cannot be opened.
        """
        past = fingerprint(said.past, said.wishes) if said.past else ""
        known = next((one for one in reversed(self._known) if one[0] == past), None)
        if known is not None:
            self._known.remove(known)
            # The session may be gone by now, or another process may have it open.
            with suppress(RequestRefused, SessionError):
                return await self._in_session(known[1], said.wishes), ()
        if past in self._began:
            session, began = self._began[past]
            self._forget(session, began.number)
            with suppress(RequestRefused, TerpError, RuntimeError):
                thread = await self._in_session(session, said.wishes)
                if await _wound_back(thread, began):
                    return thread, said.past[began.behind :]
        return self._thread_in(await self.sessions.new(said.wishes)), said.past

    async def of_session(self, session: str) -> tuple[Thread, Sequence[ChatMessage]]:
        """Return the conversation in the session that a client names.

        Raises:
            RequestRefused, TerpError: there is no such session, or it cannot be opened.
        """
        found = await self._in_session(session, SessionRequest())
        self._forget(session, 0)
        return found, ()

    def keep(self, thread: Thread, after: str, said: ChatRequest | None) -> None:
        """Store the conversation for the past `after`, and its last turn for the past of `said`."""
        self._open = {session: one for session, one in self._open.items() if not one.served.closed}
        self._known.append((after, thread.served.id))
        if said is None or thread.began is None or not said.past:
            # A first message says nothing of whose it is.
            return
        self._began[fingerprint(said.past, said.wishes)] = (thread.served.id, thread.began)
        for key in list(self._began)[:-_MOST]:
            del self._began[key]

    def _forget(self, session: str, turn: int) -> None:
        """Remove the fingerprints of a session's present end, and of this turn and later ones."""
        for one in [one for one in self._known if one[1] == session]:
            self._known.remove(one)
        for key, (other, began) in list(self._began.items()):
            if other == session and began.number >= turn:
                del self._began[key]

    async def _in_session(self, session: str, wishes: SessionRequest) -> Thread:
        return self._thread_in(await self.sessions.resume(session, wishes))

    def _thread_in(self, served: Served) -> Thread:
        found = self._open.get(served.id)
        if found is None or found.served is not served:
            found = self._open[served.id] = thread_in(served)
        return found


async def _wound_back(thread: Thread, began: Began) -> bool:
    """Rewind to before a turn, and restore variables; return False if that is impossible."""
    served, session, paused = thread.served, thread.served.session, thread.paused
    thread.paused = None
    if paused is not None and not paused.turn.ended.done():
        served.turns.drop_waiting()
        await served.end_turn()
        await served.turns.over()
    turn = next((one for one in session.turns if one.number == began.number), None)
    if turn is None or not turn.prompt.startswith(began.prompt) or served.turns.busy:
        return False
    await session.rewind.restore(turn.number)
    return True


def thread_in(served: Served) -> Thread:
    """Return a new conversation in a session that this interface has not used yet."""
    messages, tools = served.session.request
    system = messages[0]
    assert isinstance(system, System), "every request begins with the system prompt"
    return Thread(served, system.text, any(one["function"]["name"] == tool.NAME for one in tools))


_GATHER = ("{CONTEXT_MODE_ON}", "{REQUIRE_START_ON}")
_ANSWER = ("{CONTEXT_MODE_OFF}", "{REQUIRE_START_OFF}")
_ANSWERS_ON_S = 6.0
# As much as one request may hold.
_MOST_GATHERED = 4_000_000


@dataclass
class Stateful:
    """The one conversation of all clients, as in Open Interpreter.

    `session` returns the session that all clients share. `auto_run` switches approvals of code on and off,
    if clients may do that. Messages collected until `{START}` have at most `most_gathered` characters,
    pictures included.
    """

    session: Callable[[], Awaitable[Served]]
    auto_run: Callable[[bool], None] | None = None
    most_gathered: int = _MOST_GATHERED
    _thread: Thread | None = None
    _gathers: bool = False
    _gathered: list[NewMessages] = field(default_factory=list)
    _started: float = float("-inf")

    async def taken(self, wanted: ChatBody) -> tuple[Thread, NewMessages | None]:
        """Return the conversation, and the part of a request that is to be answered now.

        Raises:
            RequestRefused: the last message is not the user's, or clients may not switch approvals.
        """
        last = wanted.messages[-1]
        if last.role != "user":
            raise RequestRefused(400, "The last message must be of the user.")
        said, thread = new_messages([last]), await self._conversation()
        if await self._switched(said.text.strip(), thread.served):
            return thread, None
        return thread, said if thread.question is not None else self._due(said)

    async def _conversation(self) -> Thread:
        served = await self.session()
        served.heard()
        if self._thread is None or self._thread.served is not served:
            self._thread = thread_in(served)
        return self._thread

    async def _switched(self, word: str, served: Served) -> bool:
        if word == "{STOP}":
            await served.stop()
        elif word in ("{AUTO_RUN_ON}", "{AUTO_RUN_OFF}"):
            self._switch_auto_run(on=word == "{AUTO_RUN_ON}")
        elif word in (*_GATHER, *_ANSWER):
            self._gathers = word in _GATHER
        else:
            return False
        return True

    def _switch_auto_run(self, *, on: bool) -> None:
        if self.auto_run is not None:
            self.auto_run(on)
        elif on:
            raise RequestRefused(
                403, "Clients of this server cannot run code without approval.", code="not_allowed"
            )

    def _due(self, said: NewMessages) -> NewMessages | None:
        """Return the collected messages with this one; None while more are to come."""
        now, is_start = asyncio.get_running_loop().time(), said.text.strip() == "{START}"
        if is_start and not self._gathers:
            return None
        if is_start:
            self._started = now
        else:
            self._gather(said)
        if not self._gathered or (self._gathers and now > self._started + _ANSWERS_ON_S):
            return None
        gathered, self._gathered = self._gathered, []
        words = "\n\n".join(one.text for one in gathered if one.text)
        return NewMessages(words, tuple(image for one in gathered for image in one.images))

    def _gather(self, said: NewMessages) -> None:
        if sum(map(_size, [*self._gathered, said])) > self.most_gathered:
            raise RequestRefused(
                413,
                "The collected messages are too long to be answered at once.",
                "Send {START} to get them answered.",
                code="too_long",
            )
        self._gathered.append(said)


def _size(said: NewMessages) -> int:
    # Also of what is empty there must not be any number.
    return 100 + len(said.text) + sum(len(image.data) for image in said.images)
