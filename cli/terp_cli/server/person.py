"""The person behind a session that is served: whoever follows it, and answers through `Session.answer`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.person import Choice, Consent, Decline, Option, Run
from terp_cli.server.presence import Presence

_LEFT = "nobody was connected to answer"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the event of a question does not tell of it: why it is asked, and what can be chosen."""

    what: str
    why: str = ""
    options: tuple[Option, ...] = ()


class RemotePerson:
    """Never answers by itself, but for those who have left: then code is declined and nothing is allowed.

    `waiting` is what is asked now beyond approvals, for `GET /v1/sessions/{id}`. `changed` is called whenever
    something is asked that nobody else, such as a rule, has answered.
    """

    def __init__(self, presence: Presence) -> None:
        self.waiting: list[Waiting] = []
        self.changed: Callable[[], None] = _nobody_looks
        self._presence = presence
        self._asked = 0

    @property
    def is_asked(self) -> bool:
        """Whether a question waits for a client."""
        return self._asked > 0

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """A refusal that ends the turn, once nobody follows the session any more."""
        with self._being_asked():
            await self._presence.gone()
        return Decline(_LEFT, stop=True)

    async def allow(self, request: Consent) -> bool:
        """No, once nobody follows."""
        await self._until_gone(Waiting(request.what, request.why))
        return False

    async def choose(self, choice: Choice) -> str:
        """Nothing, once nobody follows."""
        await self._until_gone(Waiting(choice.what, choice.why, choice.options))
        return ""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Nothing, ever.

        Raises:
            NobodyThere: nobody follows any more.
        """
        with self._being_asked():
            await self._presence.gone()
        raise NobodyThere(f"The code asked for input, and {_LEFT}.")

    async def _until_gone(self, waiting: Waiting) -> None:
        self.waiting.append(waiting)
        try:
            with self._being_asked():
                await self._presence.gone()
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
    """Until the session is served."""
