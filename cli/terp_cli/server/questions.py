"""The open questions of a session, and answers to them: each is answered once, and to what was shown."""

from collections.abc import Iterator
from dataclasses import dataclass

from terp.events import Answered, Asked, CodeProposed, TurnFinished
from terp.person import Decline, Run
from terp.session.session import Session
from terp_cli.server.failures import RequestRefused

BY = "client"


@dataclass(frozen=True, slots=True)
class Open:
    """A question that waits. For an approval, `proposed` is the code that it is about."""

    asked: Asked
    proposed: CodeProposed | None = None


class OpenQuestions:
    """Reads in a session's log what waits for an answer."""

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
                    self._open[asked.question_id] = Open(asked, self._about(asked))
                case Answered(question_id=question_id):
                    self._open.pop(question_id, None)
                case TurnFinished():
                    # Those that were taken back have no answer.
                    self._open.clear()
                    self._proposed.clear()
        return list(self._open.values())

    def decide(self, call_id: str, digest: str, decision: Run | Decline) -> None:
        """Answer the question about the code of a call that has this digest.

        Raises:
            Refused: no such code waits: it was answered, edited since, or never asked about here.
        """
        found = next((one for one in self._approvals() if one[1].call_id == call_id), None)
        if found is None:
            raise RequestRefused(
                404, f"No code of a call {call_id[:40]!r} waits for an answer.", code="not_waiting"
            )
        asked, proposed = found
        if proposed.digest != digest:
            raise RequestRefused(
                409,
                f"The code of {call_id} that waits is another one than what the digest names.",
                "Read its last code_proposed, and answer that.",
                code="other_code",
            )
        if isinstance(decision, Run) and not decision.code:
            decision = Run(proposed.code, by=BY)
        self._answer(asked, decision)

    def answer(self, question_id: str, answer: str | bool) -> None:
        """Answer any other question: a line for input, yes or no, or the letter of a choice.

        Raises:
            Refused: it is not open, or wants another kind of answer.
        """
        asked = next((one.asked for one in self.all() if one.asked.question_id == question_id), None)
        if asked is None:
            raise RequestRefused(404, "No such question waits for an answer.", code="not_waiting")
        if asked.kind == "approval":
            raise RequestRefused(
                409, "Code is answered under approvals, with its digest.", code="is_approval"
            )
        self._answer(asked, answer)

    def _approvals(self) -> Iterator[tuple[Asked, CodeProposed]]:
        for one in self.all():
            if one.asked.kind == "approval" and one.proposed is not None:
                yield one.asked, one.proposed

    def _answer(self, asked: Asked, answer: Run | Decline | str | bool) -> None:
        try:
            taken = self._session.answer(asked.question_id, answer, BY)
        except TypeError as error:
            raise RequestRefused(422, f"The answer is of the wrong kind: {error}.") from error
        if not taken:
            raise RequestRefused(409, "Somebody else has answered already.", code="answered")

    def _about(self, asked: Asked) -> CodeProposed | None:
        return self._proposed.get(asked.what) if asked.kind == "approval" else None
