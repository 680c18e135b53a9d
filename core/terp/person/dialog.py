"""Questions to the user of a session, and notices to them: both are events of the session's log."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from terp.events import Answered, Asked, Noticed, Progress, QuestionKind
from terp.events.log import EventLog
from terp.person import Choice, Consent, Decline, Person, Run
from terp.text.dataclasses import dataclass

Asking = Callable[[], Awaitable[Any]]
Answer = Run | Decline | bool | str
_BEAT_S = 1.0


@dataclass(frozen=True, slots=True)
class _Reply:
    answer: Answer
    by: str


class UserDialog:
    """Questions to the user, and notices. The first answer counts, from whichever front end it comes.

    `person` is asked once all that was logged before is `drawn`. `asked` counts questions from before the
    session was resumed. `objected` is called with a question that is not about code, and with the words that
    the user declined it with.
    """

    def __init__(
        self,
        log: EventLog,
        person: Person,
        drawn: Callable[[], Awaitable[None]],
        *,
        asked: int = 0,
        objected: Callable[[str, str], None] = lambda _what, _why: None,
    ) -> None:
        self._log = log
        self._person = person
        self._drawn = drawn
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
        """Return the first answer: that of `from_person`, or one given to `answer`.

        The slower of the two is cancelled; cancelling this cancels both. Errors of `from_person`
        are raised here.
        """
        self._count += 1
        question_id = f"q{self._count}"
        elsewhere = self._open[question_id] = asyncio.get_running_loop().create_future()
        self._kinds[question_id] = kind
        self._log.append(Asked(question_id, kind, what, secret, options or {}))
        person = asyncio.ensure_future(self._once_drawn(from_person))
        try:
            await asyncio.wait({person, elsewhere}, return_when=asyncio.FIRST_COMPLETED)
            reply = elsewhere.result() if elsewhere.done() else _from_person(person.result())
        finally:
            elsewhere.cancel()
            # Until it has ended the person may still hold the screen or the keyboard.
            person.cancel()
            await asyncio.wait({person})
            del self._open[question_id], self._kinds[question_id]
        self._log.append(Answered(question_id, "" if secret else _logged(reply.answer), reply.by))
        if kind != "approval" and isinstance(reply.answer, Decline) and reply.answer.reason:
            self._objected(what, reply.answer.reason)
        return reply.answer

    def answer(self, question_id: str, answer: Answer, by: str) -> bool:
        """Answer an open question; return False if it is no longer open or was never asked.

        Raises:
            TypeError: this kind of question needs another kind of answer.
        """
        future = self._open.get(question_id)
        if future is None or future.done():
            return False
        wanted: dict[QuestionKind, tuple[type, ...]] = {
            "approval": (Run, Decline),
            "consent": (bool, Decline),
            "choice": (str, Decline),
            "input": (str,),
        }
        kind = self._kinds[question_id]
        if not isinstance(answer, wanted[kind]):
            raise TypeError(f"{kind} is answered with {' or '.join(t.__name__ for t in wanted[kind])}")
        future.set_result(_Reply(answer, by))
        return True

    async def allow(self, request: Consent) -> bool:
        """Return True if the user consents to something other than code."""
        return bool(await self.ask("consent", request.what, lambda: self._person.allow(request)))

    async def choose(self, choice: Choice) -> str:
        """Return the letter of the answer that the user chose, or "" for none."""
        options = {option.letter: option.does for option in choice.options}
        letter: str = await self.ask(
            "choice", choice.what, lambda: self._person.choose(choice), options=options
        )
        return letter if letter in options else ""

    async def line(self, prompt: str, *, secret: bool = False) -> str:
        """Return a line that the user types; a `secret` one is not logged.

        Raises:
            NobodyThere: no line will ever come.
        """
        ask = partial(self._person.type_in, prompt, secret=secret)
        return str(await self.ask("input", prompt, ask, secret=secret))

    def notify(self, text: str, remedy: str = "") -> None:
        """Show the user a notice."""
        self._log.append(Noticed(text, remedy))

    def count(self, what: str, done: int, seconds: float) -> None:
        """Show how much of something is done."""
        self._log.append(Progress(what, done, 0, seconds))

    @asynccontextmanager
    async def working(self, what: str) -> AsyncGenerator[None, None]:
        """Report progress every second while the block runs."""
        began = time.monotonic()

        async def beat() -> None:
            while True:
                self._log.append(Progress(what, 0, 0, time.monotonic() - began))
                await asyncio.sleep(_BEAT_S)

        beating = asyncio.create_task(beat())
        try:
            yield
        finally:
            beating.cancel()
            await asyncio.wait({beating})
            self._log.append(Progress(what, 1, 1, time.monotonic() - began))

    async def _once_drawn(self, ask: Asking) -> Any:
        await self._drawn()
        return await ask()


def _from_person(answer: Answer) -> _Reply:
    return _Reply(answer, answer.by if isinstance(answer, Run | Decline) else "person")


def _logged(answer: Answer) -> str:
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
