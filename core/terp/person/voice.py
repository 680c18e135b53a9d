"""What parts of a session ask and say outside a run: in its log, where every front end reads it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from terp.events import Noticed, Progress
from terp.events.log import EventLog
from terp.person import Choice, Consent, Decline, Person
from terp.person.questions import Questions

_BEAT_S = 1.0


class Voice:
    """Asks the person, once what was logged before is `drawn`, and tells."""

    def __init__(
        self, log: EventLog, questions: Questions, person: Person, drawn: Callable[[], Awaitable[None]]
    ) -> None:
        self._log = log
        self._questions = questions
        self._person = person
        self._drawn = drawn

    async def allow(self, request: Consent) -> bool:
        """Whether something other than code may be done."""

        async def ask() -> bool | Decline:
            await self._drawn()
            return await self._person.allow(request)

        return bool(await self._questions.ask("consent", request.what, ask))

    async def choose(self, choice: Choice) -> str:
        """One of several answers: its letter, or "" for none of them."""

        async def ask() -> str | Decline:
            await self._drawn()
            return await self._person.choose(choice)

        options = {option.letter: option.does for option in choice.options}
        letter: str = await self._questions.ask("choice", choice.what, ask, options=options)
        return letter if letter in options else ""

    async def line(self, prompt: str) -> str:
        """A line that the person types.

        Raises:
            NobodyThere: no line will ever come.
        """

        async def ask() -> str:
            await self._drawn()
            return await self._person.type_in(prompt, secret=False)

        return str(await self._questions.ask("input", prompt, ask))

    def tell(self, text: str, remedy: str = "") -> None:
        """Say something that a person must see."""
        self._log.append(Noticed(text, remedy))

    @asynccontextmanager
    async def working(self, what: str) -> AsyncGenerator[None, None]:
        """Say every second, while the block lasts, that this goes on."""
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
