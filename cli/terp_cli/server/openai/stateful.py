"""Chat completions as Open Interpreter has them: one conversation for all, a request adds its last message.

A message that is a word in braces is a switch, and is answered with null.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from terp_cli.server.failures import Refused
from terp_cli.server.openai.forms import ChatWanted
from terp_cli.server.openai.said import New, new
from terp_cli.server.openai.threads import Thread, thread_in
from terp_cli.server.served import Served

_GATHER = ("{CONTEXT_MODE_ON}", "{REQUIRE_START_ON}")
_ANSWER = ("{CONTEXT_MODE_OFF}", "{REQUIRE_START_OFF}")
_ANSWERS_ON_S = 6.0
# As much as one request may hold.
_MOST_GATHERED = 4_000_000


@dataclass
class Stateful:
    """The one conversation.

    `session` gives the session that all clients share. `auto_run` switches whether code in it runs unasked,
    where clients may do that. Messages that gather have `most_gathered` characters at most, with pictures.
    """

    session: Callable[[], Awaitable[Served]]
    auto_run: Callable[[bool], None] | None = None
    most_gathered: int = _MOST_GATHERED
    _thread: Thread | None = None
    _gathers: bool = False
    _gathered: list[New] = field(default_factory=list)
    _started: float = float("-inf")

    async def taken(self, wanted: ChatWanted) -> tuple[Thread, New | None]:
        """The conversation, and what of a request is to be answered now.

        Raises:
            Refused: the last message is none of the user, or switches what clients may not.
        """
        last = wanted.messages[-1]
        if last.role != "user":
            raise Refused(400, "The last message must be of the user.")
        said, thread = new([last]), await self._conversation()
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
            raise Refused(403, "Clients of this server cannot let code run unasked.", code="not_allowed")

    def _due(self, said: New) -> New | None:
        """All that was gathered with what is said now, or None while more is to come."""
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
        return New(words, tuple(image for one in gathered for image in one.images))

    def _gather(self, said: New) -> None:
        if sum(map(_size, [*self._gathered, said])) > self.most_gathered:
            raise Refused(
                413,
                "More messages have gathered than can be answered at once.",
                "{START} has them answered.",
                code="too_long",
            )
        self._gathered.append(said)


def _size(said: New) -> int:
    # Also of what is empty there must not be any number.
    return 100 + len(said.text) + sum(len(image.data) for image in said.images)
