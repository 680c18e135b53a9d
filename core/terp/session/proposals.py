"""Approval: a call of the model is shown, and the user or a rule decides about exactly these bytes."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from terp.analysis.rules.deciding import Ruling
from terp.events import RULE, CodeProposed
from terp.events.kernel import Kernel
from terp.events.log import EventLog
from terp.kernels.sandbox.tier import NONE
from terp.models.tool import Call
from terp.person import Decline, Person, Run
from terp.person.dialog import UserDialog
from terp.session.resources import SessionResources
from terp.text.digest import sha256
from terp.tools.toolbox import is_shipped

if TYPE_CHECKING:
    from terp.analysis.effects.known import SessionNames


BY_EFFECT = "effect"
"""The policy that runs code at once and asks about its effects."""
_NOT_HELD = "the effects of code in this kernel cannot be held"
_NO_SANDBOX = "this kernel was started without the sandbox"


class Proposals:
    """Shows calls and has them approved or declined."""

    def __init__(
        self, log: EventLog, dialog: UserDialog, person: Person, resources: SessionResources
    ) -> None:
        self._resources = resources
        self._log = log
        self._dialog = dialog
        self._person = person
        self._names: dict[str, SessionNames] = {}
        self._shown_tier = ""

    async def decide(self, call: Call, kernel: Kernel, *, ask: bool = False) -> Run | Decline:
        """Return the decision about `call`; with `ask` its effects cannot be held, and the user is asked.

        A `Run` always holds the code that was shown last: an edit is proposed again before it can be
        approved, and so is code whose kernel was restarted while the user was deciding.
        """
        code, edited = call.code, False
        while True:
            proposed, ruling = self._proposed(call, code, kernel, _NOT_HELD if ask else "")
            self._log.append(proposed)
            asking = self._asking(proposed, ruling, edited=edited)
            decision = await self._dialog.ask("approval", call.id, asking)
            if not isinstance(decision, Run):
                return Decline("") if not isinstance(decision, Decline) else decision
            if decision.by == "person" and (held := self._resources.confinement) is not None:
                held.shown = proposed.tier
            if decision.rules:
                self._resources.rules.add(decision.rules)
            if decision.code == code and _still_true(proposed, kernel):
                return decision
            code, edited = decision.code, True

    def has_shown_tier(self, kernel: Kernel) -> bool:
        """Return False if the kernel runs without the sandbox that was shown with the last proposal."""
        return kernel.tier != NONE or self._shown_tier == NONE

    def _asking(
        self, proposed: CodeProposed, ruling: Ruling, *, edited: bool
    ) -> Callable[[], Awaitable[Run | Decline]]:
        async def ask() -> Run | Decline:
            if ruling.verdict == "deny":
                return Decline(f"a rule of the user denies {ruling.what}.", by=f"{RULE}{ruling.by}")
            # A user who has just edited the code waits to see it again.
            if ruling.verdict == "allow" and not edited and not proposed.asks:
                return Run(proposed.code, by=f"{RULE}{ruling.by}", held=ruling.on_effects)
            if self._starts_at_once(proposed):
                return Run(proposed.code, by=BY_EFFECT, held=True)
            return await self._person.approve(proposed)

        return ask

    def _starts_at_once(self, proposed: CodeProposed) -> bool:
        """Return True if the user is asked about effects only. That they are held is checked at the run."""
        confinement = self._resources.confinement
        return confinement is not None and confinement.at_once and not (proposed.place or proposed.asks)

    def _proposed(self, call: Call, code: str, kernel: Kernel, asks: str) -> tuple[CodeProposed, Ruling]:
        # Its tables are not needed before there is code.
        from terp.analysis.effects import cells, known  # noqa: PLC0415

        if call.language not in self._names:
            self._names[call.language] = known.SessionNames(self._log, call.language)
        resources = self._resources
        if resources.bound is not None and call.language == "python":
            self._names["python"].learn(resources.bound)
            resources.bound = None
        offered = {
            tool.name: f"{known.SHIPPED}.{tool.name}" if is_shipped(tool) else known.TOOL
            for tool in resources.toolbox.tools
        }
        if resources.servers is not None:
            offered["mcp"] = known.SERVERS
        # A variable of the same name hides a tool.
        names = {**offered, **self._names[call.language].known()}
        effects = cells.effects_of(call.language, code, names, kernel.cwd)
        held = (
            not (asks or kernel.place) and resources.confinement is not None and resources.confinement.holds
        )
        ruling = resources.rules.ruling(call.language, code, effects, held=held)
        proposed = CodeProposed(
            call.id,
            call.language,
            code,
            digest_of(code),
            kernel.cwd,
            kernel.generation,
            kernel.tier,
            effects,
            kernel.place,
            f"rule {ruling.by}" if ruling.verdict == "ask" else asks or self._weaker(kernel),
        )
        self._shown_tier = proposed.tier
        return proposed, ruling

    def _weaker(self, kernel: Kernel) -> str:
        """Return why the code needs approval: its kernel has a weaker sandbox than was shown, or ""."""
        held = self._resources.confinement
        is_weaker = held is not None and not kernel.place and held.promises_more(kernel.tier)
        return _NO_SANDBOX if is_weaker else ""


def digest_of(code: str) -> str:
    """Return the SHA-256 of code in UTF-8, hexadecimal."""
    return sha256(code.encode("utf-8", "surrogatepass"))


def _still_true(proposed: CodeProposed, kernel: Kernel) -> bool:
    # A first start (generation 0 to 1) while the user reads loses nothing; only then does a kernel on another
    # machine report its directory.
    restarted = proposed.kernel_generation not in (0, kernel.generation)
    moved = proposed.cwd not in ("", kernel.cwd)
    return not (restarted or moved) and (proposed.tier, proposed.place) == (kernel.tier, kernel.place)
