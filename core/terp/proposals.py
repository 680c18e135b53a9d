"""From a call of the model to the person's decision about exactly these bytes."""

import hashlib
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING

from terp.events import CodeProposed
from terp.kernels.protocol import Kernel
from terp.log import EventLog
from terp.person import Decline, Person, Run
from terp.questions import Questions
from terp.tool import Call

if TYPE_CHECKING:
    from terp.effects.session_names import SessionNames


class Proposals:
    """Shows calls and gets them decided.

    `drawn` returns when the front end that drives the turn has drawn everything logged so far, so
    that nobody is asked about code that is not on the screen yet. `tools` names those of the session.
    """

    def __init__(
        self,
        log: EventLog,
        questions: Questions,
        person: Person,
        drawn: Callable[[], Awaitable[None]],
        tools: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._tools = tools
        self._log = log
        self._questions = questions
        self._person = person
        self._drawn = drawn
        self._names: dict[str, SessionNames] = {}

    async def decide(self, call: Call, kernel: Kernel) -> Run | Decline:
        """The decision about `call`.

        A `Run` always holds the code that was shown last: an edit is proposed again before it can
        be approved, and so is code whose kernel was started anew while the person thought about it.
        """
        code = call.code
        while True:
            proposed = self._proposed(call, code, kernel)
            self._log.append(proposed)
            decision = await self._questions.ask("approval", call.id, self._asking(proposed))
            if not isinstance(decision, Run):
                return Decline("") if not isinstance(decision, Decline) else decision
            if decision.code == code and _still_true(proposed, kernel):
                return decision
            code = decision.code

    def _asking(self, proposed: CodeProposed) -> Callable[[], Awaitable[Run | Decline]]:
        async def ask() -> Run | Decline:
            await self._drawn()
            return await self._person.approve(proposed)

        return ask

    def _proposed(self, call: Call, code: str, kernel: Kernel) -> CodeProposed:
        # The tables of what is known are not needed before there is code.
        from terp.effects.analysis import effects_of  # noqa: PLC0415
        from terp.effects.python import TOOL  # noqa: PLC0415
        from terp.effects.session_names import SessionNames  # noqa: PLC0415

        if call.language not in self._names:
            self._names[call.language] = SessionNames(self._log, call.language)
        # A variable of the same name hides a tool.
        known = {**dict.fromkeys(self._tools(), TOOL), **self._names[call.language].known()}
        effects = effects_of(call.language, code, known, kernel.cwd)
        return CodeProposed(
            call.id, call.language, code, digest_of(code), kernel.cwd, kernel.generation, kernel.tier, effects
        )


def digest_of(code: str) -> str:
    """The SHA-256 of code in UTF-8, hexadecimal."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _still_true(proposed: CodeProposed, kernel: Kernel) -> bool:
    # A first start (generation 0 to 1) while the person reads loses nothing they could have relied on.
    restarted = proposed.kernel_generation not in (0, kernel.generation)
    return not restarted and (proposed.cwd, proposed.tier) == (kernel.cwd, kernel.tier)
