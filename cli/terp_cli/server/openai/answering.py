"""One answer: from the new messages of a request to the pieces of text that its client gets.

It ends with the turn, with calls of the client's own tools, or with a question. After a question the turn
waits for the next request, which answers it.
"""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Literal

from terp.checks.until import loop as until
from terp.errors import SessionError, StopReason
from terp.events import Asked, CodeStarted, Event, ReasoningDelta, TurnFinished, UsageReported
from terp.events.log import Record
from terp.events.messages import Assistant, Attachment, Message, Result, ToolCall
from terp.models import tool
from terp.person import Decline, Run
from terp.secrets.redactor import StreamRedactor
from terp.session.cost.budget import Tally
from terp.session.session import Session
from terp.text.dataclasses import dataclass, field, replace
from terp.text.fences import quoted
from terp_cli.server.failures import RequestRefused
from terp_cli.server.openai.forms import ChatMessage
from terp_cli.server.openai.markdown import Markdown
from terp_cli.server.openai.requests import ChatRequest, history, with_results
from terp_cli.server.openai.threads import Began, Paused, Thread
from terp_cli.server.person import BY, Open
from terp_cli.server.sessions import Served
from terp_cli.server.turns import Asking, ServedTurn

FinishReason = Literal["stop", "length", "tool_calls"]
_STATUSES: Mapping[StopReason, int] = {
    "usage": 400,
    "rejected": 400,
    "context_full": 400,
    "auth": 502,
    "rate_limited": 429,
    "unavailable": 503,
    "timeout": 504,
    "no_sandbox": 503,
    "error": 500,
}
"""The turns that end with an error for the client, and its status. Others end with what was said."""


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """A piece of the answer, or of the reasoning before it."""

    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class AnswerEnded:
    """The answer is complete. Comes last, unless the answer fails."""

    reason: FinishReason
    calls: Sequence[ToolCall] = ()


Piece = AnswerDelta | AnswerEnded


@dataclass
class ChatAnswer:
    """The answer to one request. Its pieces can be iterated once; closing them early stops the turn.

    `untold` are the past messages of the request that are new to the session.
    """

    thread: Thread
    said: ChatRequest
    untold: Sequence[ChatMessage]
    markdown: Markdown
    used: Tally = field(default_factory=Tally)
    has_run: bool = False
    _after: int = 0
    _pauses: bool = False
    _answered: Open | None = None
    _finished: TurnFinished | None = None

    async def pieces(self) -> AsyncGenerator[Piece, None]:
        """Yield the answer as it comes.

        Raises:
            RequestRefused: the turn has failed, or cannot begin.
        """
        served = self.thread.served
        turn = self._begun()
        try:
            self._after = max(self._after, await turn.beginning())
            async with aclosing(self._records(turn)) as following:
                async for record in following:
                    for piece in self._pieces(record.event):
                        yield piece
            async for piece in self._ending(turn):
                yield piece
        finally:
            if not (turn.ended.done() or self._pauses or served.turns.drop(turn)):
                # The client has left: nobody reads what the model or the code would still say.
                await served.end_turn()

    def _begun(self) -> ServedTurn:
        """Return the turn that answers: a new one, or the one that waits for this message."""
        served, text, paused = self.thread.served, self.said.new.text, self.thread.paused
        if paused is not None and is_yes(text) and self._has_run_already(paused):
            # What came of it is asked for; to the model, a "yes" would mean nothing.
            self._after, self.thread.paused = paused.after, None
            return paused.turn
        if paused is not None and not paused.turn.ended.done():
            self._after, self._answered = paused.after, self.thread.question
            if self._answered is not None:
                answer_question(served, self._answered, text)
            # Else somebody has answered elsewhere: what is asked now was not shown yet, and is shown first.
            if self._answered is not None or served.person.is_asked or is_yes(text):
                self.thread.paused = None
                return paused.turn
        if served.person.is_asked:
            raise RequestRefused(
                409, "The session waits for the answer to a question that another client got.", code="busy"
            )
        self._after = 0
        return served.ask(self._asking())

    def _has_run_already(self, paused: Paused) -> bool:
        """Return True if another client approved the code in question, and its turn has ended."""
        about, log = paused.question.proposed, self.thread.served.session.log
        return (
            about is not None
            and paused.turn.ended.done()
            and any(
                isinstance(one.event, CodeStarted) and one.event.call_id == about.call_id
                for one in log.since(paused.after)
            )
        )

    @property
    def _question(self) -> Open | None:
        """Return the question that waits for the client, except one that was just answered."""
        return next((one for one in self.thread.served.questions.all() if one != self._answered), None)

    def _asking(self) -> Asking:
        past = history(self.untold)
        known = {
            one.call_id for one in (*self.thread.served.session.history, *past) if isinstance(one, Result)
        }
        if unknown := self.said.new.results.keys() - known:
            raise RequestRefused(400, f"There is no call {min(unknown)[:80]!r} to have a result.")
        return partial(self._played, past=past)

    async def _played(self, session: Session, *, past: Sequence[Message]) -> AsyncGenerator[Event, None]:
        """Play the turn in the session, which by then has the past and the tools of the client."""
        new = self.said.new
        if self.said.system != self.thread.client_system:
            self.thread.client_system = self.said.system
            whole = "\n\n".join(part for part in (self.thread.system, self.said.system) if part)
            session.instruct(whole, code=self.thread.code)
        session.resources.outside, session.resources.demands = self.said.tools, self.said.demands
        if past or new.results:
            session.history = with_results([*session.history, *past], new.results)
        try:
            async with aclosing(self._turn(session)) as events:
                async for event in events:
                    yield event
        finally:
            session.resources.outside = session.resources.demands = {}

    def _turn(self, session: Session) -> AsyncGenerator[Event, None]:
        new = self.said.new
        if not new.has_words:
            return session.continue_turn()
        number = session.turns[-1].number + 1 if session.turns else 1
        self.thread.began = Began(number, new.text, len(self.said.past))
        pictures = [Attachment(f"picture {at}", "", image) for at, image in enumerate(new.images, 1)]
        return until.ask(session, new.text, pictures)

    def _pieces(self, event: Event) -> Sequence[Piece]:
        match event:
            case ReasoningDelta(text=text):
                return [AnswerDelta(text, thought=True)]
            case UsageReported():
                self.used = self.used.plus(event)
            case CodeStarted():
                self.has_run = True
            case TurnFinished():
                self._finished = event
            case _:
                pass
        text = self.markdown.take(event)
        return [AnswerDelta(text)] if text else []

    async def _records(self, turn: ServedTurn) -> AsyncGenerator[Record, None]:
        """Yield the turn's records without secrets, until it ends or a question waits for the client."""
        served = self.thread.served
        log, redaction = served.session.log, StreamRedactor(served.session.resources.redactor)
        while True:
            over = turn.ended.done() or served.closed
            asked = served.person.is_asked and self._question is not None
            end = log.last if turn.end is None else turn.end
            records = [one for one in log.since(self._after) if one.number <= end]
            for record in records:
                self._after = record.number
                for clean in redaction.passed(record):
                    yield clean
            if records:
                continue
            if over or asked:
                return
            await log.changed()

    async def _ending(self, turn: ServedTurn) -> AsyncGenerator[Piece, None]:
        served = self.thread.served
        if not turn.ended.done():
            question = self._question
            if question is None:
                raise RequestRefused(409, "The session was closed.", code="ended")
            self.thread.paused, self._pauses = Paused(turn, question, self._after), True
            yield AnswerDelta(self.markdown.block(question_text(served, question)))
            yield AnswerEnded("stop")
            return
        if self._finished is None:
            raise RequestRefused(409, "The session was interrupted before the turn began.", code="ended")
        self._check(self._finished)
        if self._finished.error:
            problem = f"{self._finished.error} {self._finished.remedy}".rstrip()
            yield AnswerDelta(self.markdown.block(quoted(served.redactor.redacted(problem))))
        calls = calls_left(served.session.history, self.said.tools)
        if calls:
            yield AnswerEnded("tool_calls", calls)
        else:
            yield AnswerEnded("length" if self._finished.reason == "max_steps" else "stop")

    def _check(self, finished: TurnFinished) -> None:
        status = _STATUSES.get(finished.reason)
        if status is None:
            return
        if not (self.markdown.begun or self.has_run or self.said.new.results):
            _take_back(self.thread.served)
        redacted = self.thread.served.redactor.redacted
        raise RequestRefused(
            status, redacted(finished.error), redacted(finished.remedy), code=finished.reason
        )


def calls_left(messages: Sequence[Message], tools: Mapping[str, object]) -> Sequence[ToolCall]:
    """Return the open calls of the client's tools in the last reply."""
    last = next((one for one in reversed(messages) if isinstance(one, Assistant)), None)
    named = [replace(call, name=tool.plain_name(call.name)) for call in (last.calls if last else ())]
    return [call for call in named if call.name in tools]


def _take_back(served: Served) -> None:
    """Undo a turn without an answer: the client will send the same message again."""
    if served.turns.busy:
        return
    try:
        served.session.rewind.undo()
    except SessionError:
        # It had not begun.
        return


ASKS_TO_RUN = "Do you want to run this code?"
_YES = re.compile(r"\s*yes[.!?\s]*", re.IGNORECASE)


def is_yes(text: str) -> bool:
    """Return True if a message consents, and says nothing else."""
    return _YES.fullmatch(text) is not None


def question_text(served: Served, question: Open) -> str:
    """Return the question as text, for the end of an answer."""
    asked = question.asked
    if asked.kind == "approval":
        return ASKS_TO_RUN
    what = served.redactor.redacted(asked.what)
    if asked.kind == "input":
        return f"The code waits for a line: {what}".rstrip()
    waiting = served.person.details_of(asked)
    text = f"{what}\n\n{served.redactor.redacted(waiting.why)}".rstrip()
    if asked.kind == "consent":
        return f"{text}\n\nyes or no?"
    return "\n".join([f"{text}\n", *(f"- {option.letter}: {option.does}" for option in waiting.options)])


def answer_question(served: Served, question: Open, text: str) -> None:
    """Answer a question as it was shown. Any text but an answer declines, and is the reason.

    Raises:
        RequestRefused: the question is answered already, or is now about other code.
    """
    asked, proposed = question.asked, question.proposed
    if proposed is not None:
        decision = Run(proposed.code, by=BY) if is_yes(text) else Decline(text)
        served.questions.decide(proposed.call_id, proposed.digest, decision)
        return
    served.questions.answer(
        asked.question_id, text.strip() if asked.kind == "input" else _chosen(asked, text)
    )


def _chosen(asked: Asked, text: str) -> str | bool | Decline:
    said = text.strip().rstrip(".!").lower()
    letter = {"yes": "y", "no": "n"}.get(said, said)
    if letter != "n" and letter not in (asked.options or "y"):
        return Decline(text.strip())
    return letter == "y" if asked.kind == "consent" else letter
