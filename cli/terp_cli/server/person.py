"""The person of a served session: any client that subscribes to it and answers through `Session.answer`."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from terp.errors import NobodyThere
from terp.events import Answered, Asked, CodeProposed, CodeRejected, TurnFinished
from terp.person import Choice, Consent, Decline, Option, Run
from terp.session.session import Session
from terp.text.dataclasses import dataclass
from terp_cli.server.failures import RequestRefused


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

    `waiting` are the open questions other than approvals, for `GET /v1/sessions/{id}`. `changed` is called
    at each question that a client must answer.
    """

    def __init__(self, subscribers: Subscribers) -> None:
        self.waiting: list[Waiting] = []
        self.changed: Callable[[], None] = _nobody_looks
        self.subscribers = subscribers
        self._asked = 0

    @property
    def is_asked(self) -> bool:
        """Return True if a question waits for a client."""
        return self._asked > 0

    def details_of(self, asked: Asked) -> Waiting:
        """Return the reason and the options of a question; none for an approval."""
        return next((one for one in self.waiting if one.what == asked.what), Waiting(asked.what))

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Decline and end the turn once no client follows the session."""
        with self._being_asked():
            await self.subscribers.gone()
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
            await self.subscribers.gone()
        raise NobodyThere(f"The code asked for input, and {_LEFT}.")

    async def _until_gone(self, waiting: Waiting) -> None:
        self.waiting.append(waiting)
        try:
            with self._being_asked():
                await self.subscribers.gone()
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
    """Do nothing, until the session is served."""


BY = "client"


@dataclass(frozen=True, slots=True)
class Open:
    """A question that waits. For an approval, `proposed` is the code that it is about."""

    asked: Asked
    proposed: CodeProposed | None = None


class OpenQuestions:
    """Reader of the open questions in a session's log."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._read = session.log.last
        self._proposed: dict[str, CodeProposed] = {}
        self._open: dict[str, Open] = {}

    def all(self) -> list[Open]:
        """Return the open questions, oldest first."""
        for record in self._session.log.since(self._read):
            self._read = record.number
            match record.event:
                case CodeProposed() as proposed:
                    self._proposed[proposed.call_id] = proposed
                case Asked() as asked:
                    about = self._proposed.get(asked.what) if asked.kind == "approval" else None
                    self._open[asked.question_id] = Open(asked, about)
                case Answered(question_id=question_id):
                    self._open.pop(question_id, None)
                case CodeRejected(call_id=call_id):
                    # It was interrupted while it waited.
                    self._open = {key: one for key, one in self._open.items() if one.asked.what != call_id}
                case TurnFinished():
                    # Those that were taken back have no answer.
                    self._open.clear()
                    self._proposed.clear()
        return list(self._open.values())

    def decide(self, call_id: str, digest: str, decision: Run | Decline) -> None:
        """Answer the question about the code of a call that has this digest.

        Raises:
            RequestRefused: no such code waits: it was answered, edited since, or never proposed here.
        """
        found = next((one for one in self.all() if one.proposed and one.proposed.call_id == call_id), None)
        if found is None or found.proposed is None:
            raise RequestRefused(
                404, f"No code of a call {call_id[:40]!r} waits for an answer.", code="not_waiting"
            )
        proposed = found.proposed
        if proposed.digest != digest:
            raise RequestRefused(
                409,
                f"The code of {call_id} that waits has another digest.",
                "Read its last code_proposed, and answer that.",
                code="other_code",
            )
        if isinstance(decision, Run) and not decision.code:
            decision = Run(proposed.code, by=BY)
        self._answer(found.asked, decision)

    def answer(self, question_id: str, answer: str | bool | Decline) -> None:
        """Answer any other question: a line for input, yes or no, a letter, or a reason to decline.

        Raises:
            RequestRefused: it is not open, or needs another kind of answer.
        """
        asked = next((one.asked for one in self.all() if one.asked.question_id == question_id), None)
        if asked is None:
            raise RequestRefused(404, "This question is not open.", code="not_waiting")
        if asked.kind == "approval":
            raise RequestRefused(
                409,
                "This question is about code: answer it at /approvals, with the digest of the code.",
                code="is_approval",
            )
        self._answer(asked, answer)

    def _answer(self, asked: Asked, answer: Run | Decline | str | bool) -> None:
        try:
            taken = self._session.answer(asked.question_id, answer, BY)
        except TypeError as error:
            raise RequestRefused(422, f"The answer is of the wrong kind: {error}.") from error
        if not taken:
            raise RequestRefused(409, "Another client has answered already.", code="answered")
