"""The human, or the policy, behind a session.

A session cannot be built without one, and no call of the model runs unless its `approve` returned
`Run`: a front end that forgets to ask can therefore only decline.
"""

from typing import Literal, Protocol

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.text.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """Consent to run exactly this code. Code other than what was shown is proposed again first.

    `by` is "person", or the name of the policy that consented. `rules` are added by the user for the rest of
    this session, in the syntax of the setting `allow` (`shell: git status`). With `held` the consent is not
    to the effects of the code: they are asked about when they happen.
    """

    code: str
    by: str = "person"
    rules: tuple[str, ...] = ()
    held: bool = False


@dataclass(frozen=True, slots=True)
class Decline:
    """A refusal; `reason` is sent to the model. `stop` ends the turn.

    `by` is "person", or the rule that refused. A refusal is false in conditions.
    """

    reason: str
    stop: bool = False
    by: str = "person"

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True, slots=True)
class Consent:
    """A yes/no question that is not about code: install a package, download a file, write elsewhere.

    `as_code` is True if code could do the same by itself: with `auto_run` the answer is yes without asking.
    """

    what: str
    why: str = ""
    as_code: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """An answer: the letter to type, and its effect."""

    letter: str
    does: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with more answers than yes and no.

    `as_code` is the answer that is taken without asking with `auto_run`, as code could do the same by itself;
    "" if the person is always asked. `otherwise` is the answer of an empty line, or "". With `needed` a
    session without a user cannot continue as if it had been answered. `rules` are those that the answer "r",
    or consent, adds to the session: a front end may offer to keep them in the user's settings.
    """

    what: str
    options: tuple[Option, ...]
    why: str = ""
    as_code: str = ""
    otherwise: str = ""
    needed: bool = False
    rules: tuple[str, ...] = ()


class Person(Protocol):
    """The user, or a policy, who decides. Methods may take any time; cancelling withdraws the question."""

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the decision on one proposal."""

    async def allow(self, request: Consent) -> bool | Decline:
        """Return True to consent; the model reads the reason of a `Decline`."""

    async def choose(self, choice: Choice) -> str | Decline:
        """Return the letter of the answer; "" if there is no answer; `Decline` as for `allow`."""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return a line for code that waits in `input()`.

        Raises:
            NobodyThere: no line will ever come.
        """


class AutoRun:
    """Runs every proposal without asking, as configured with `auto_run`; consents to nothing more.

    Code that a rule asks about, and questions that are not about code, go to `behind`, if somebody is there.
    """

    def __init__(self, behind: Person | None = None) -> None:
        self._behind = behind or Nobody()

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return `Run`; if a rule asks about the code, ask the person behind."""
        if proposed.asks:
            return await self._behind.approve(proposed)
        return Run(proposed.code, by="auto_run")

    async def allow(self, request: Consent) -> bool | Decline:
        """Consent if code could do the same without asking; else ask the person behind."""
        return request.as_code or await self._behind.allow(request)

    async def choose(self, choice: Choice) -> str | Decline:
        """Choose the answer that code could bring about by itself (`as_code`); else ask the person behind."""
        return choice.as_code or await self._behind.choose(choice)

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return a line from the person behind."""
        return await self._behind.type_in(prompt, secret=secret)


_ON_A_TERMINAL = "Run terp on a terminal, or allow it by a rule."


class Nobody:
    """A session without a user: declines code that no rule allows, which ends the turn."""

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Decline, and end the turn.

        Raises:
            NobodyThere: always, so that the turn ends as `approval_needed`.
        """
        if proposed.asks:
            raise NobodyThere(
                f"You must be asked about the code, and nobody is there: {proposed.asks}.",
                "Run terp on a terminal, or change the rule.",
            )
        raise NobodyThere(
            "The code needs approval, and nobody is there to give it.",
            "Run terp on a terminal, or add -y (approve='never' in Python) to run code without being asked.",
        )

    async def allow(self, request: Consent) -> bool:
        """Refuse."""
        return False

    async def choose(self, choice: Choice) -> str:
        """Return "", no answer.

        Raises:
            NobodyThere: an answer is needed.
        """
        if choice.needed:
            raise NobodyThere(f"You must be asked, and nobody is there: {choice.what}", _ON_A_TERMINAL)
        return ""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Raise.

        Raises:
            NobodyThere: always.
        """
        raise NobodyThere("The code asked for input, and nobody is there to type it.")
