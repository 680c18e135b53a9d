"""Questions to the person behind a session: asked once, answered once, by whoever is first."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from terp.events import Answered, Asked, QuestionKind
from terp.events.log import EventLog
from terp.person import Decline, Run

Asking = Callable[[], Awaitable[Any]]
Answer = Run | Decline | bool | str


@dataclass(frozen=True, slots=True)
class _Reply:
    answer: Answer
    by: str


class Questions:
    """The open questions of a session; `asked` is how many were asked before it was resumed.

    `objected` gets a question that is not about code, and the words that declined it.
    """

    def __init__(
        self, log: EventLog, asked: int = 0, objected: Callable[[str, str], None] = lambda _what, _why: None
    ) -> None:
        self._log = log
        self._objected = objected
        self._open: dict[str, asyncio.Future[_Reply]] = {}
        self._kinds: dict[str, QuestionKind] = {}
        self._count = asked

    async def ask(
        self,
        kind: QuestionKind,
        what: str,
        from_person: Asking,
        *,
        secret: bool = False,
        options: Mapping[str, str] | None = None,
    ) -> Any:
        """The first answer: what `from_person` returns, or what comes through `answer`.

        The slower of the two is cancelled; cancelling this cancels both. What `from_person` raises
        is raised here.
        """
        self._count += 1
        question_id = f"q{self._count}"
        elsewhere = self._open[question_id] = asyncio.get_running_loop().create_future()
        self._kinds[question_id] = kind
        self._log.append(Asked(question_id, kind, what, secret, options or {}))
        person = asyncio.ensure_future(from_person())
        try:
            await asyncio.wait({person, elsewhere}, return_when=asyncio.FIRST_COMPLETED)
            reply = elsewhere.result() if elsewhere.done() else _from_person(person.result())
        finally:
            elsewhere.cancel()
            # Until it has ended the person may still hold the screen or the keyboard.
            person.cancel()
            await asyncio.wait({person})
            del self._open[question_id], self._kinds[question_id]
        self._log.append(Answered(question_id, "" if secret else _told(reply.answer), reply.by))
        if kind != "approval" and isinstance(reply.answer, Decline) and reply.answer.reason:
            self._objected(what, reply.answer.reason)
        return reply.answer

    def answer(self, question_id: str, answer: Answer, by: str) -> bool:
        """Answer an open question; False when it is no longer open or was never asked.

        Raises:
            TypeError: this kind of question wants another kind of answer.
        """
        future = self._open.get(question_id)
        if future is None or future.done():
            return False
        wanted: dict[QuestionKind, tuple[type, ...]] = {
            "approval": (Run, Decline),
            "consent": (bool,),
            "choice": (str,),
            "input": (str,),
        }
        kind = self._kinds[question_id]
        if not isinstance(answer, wanted[kind]):
            raise TypeError(f"{kind} is answered with {' or '.join(t.__name__ for t in wanted[kind])}")
        future.set_result(_Reply(answer, by))
        return True


def _from_person(answer: Answer) -> _Reply:
    return _Reply(answer, answer.by if isinstance(answer, Run | Decline) else "person")


def _told(answer: Answer) -> str:
    match answer:
        case Run(rules=rules):
            return f"run, and always: {'; '.join(rules)}" if rules else "run"
        case Decline(reason=reason, by=by):
            # A rule says it all by its name.
            return f"declined: {reason}" if reason and by == "person" else "declined"
        case bool():
            return "yes" if answer else "no"
        case _:
            return answer
