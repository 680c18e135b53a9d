"""The human, or the policy, behind a session.

A session cannot be built without one, and no call of the model runs unless its `approve` returned
`Run`: a front end that forgets to ask can therefore only decline.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from terp.errors import NobodyThere
from terp.events import CodeProposed


@dataclass(frozen=True, slots=True)
class Run:
    """Consent to run exactly this code. Code other than what was shown is proposed again first.

    `by` is who gave it: "person", or the name of the policy that did. `rules` are what the person allows
    from now on in this session, in the words of `allow` (`shell: git status`).
    """

    code: str
    by: str = "person"
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decline:
    """No consent; `reason` is sent to the model. `stop` ends the turn instead of going on.

    `by` is who refused: "person", or the rule that did. It is false, as "no" is.
    """

    reason: str
    stop: bool = False
    by: str = "person"

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True, slots=True)
class Consent:
    """A question other than about code: install a package, download a file, write elsewhere.

    With `as_code` it is about what code could do as well: who runs code unasked is not asked this either.
    """

    what: str
    why: str = ""
    as_code: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """An answer: the letter it is given with, and what it does."""

    letter: str
    does: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with more answers than yes and no.

    `as_code` is the letter of who runs code unasked, where it is about what code could do as well.
    `otherwise` is what Enter alone answers, if it does.
    """

    what: str
    options: tuple[Option, ...]
    why: str = ""
    as_code: str = ""
    otherwise: str = ""


class Person(Protocol):
    """Who decides. Methods may take as long as a person needs; cancelling one takes the question back."""

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """The decision on one proposal."""

    async def allow(self, request: Consent) -> bool | Decline:
        """Whether something other than code may be done; the model reads the reason of a `Decline`."""

    async def choose(self, choice: Choice) -> str | Decline:
        """The letter of the answer; "" when none is wanted, or nobody answers; `Decline` as for `allow`."""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """A line for code that waits in `input()`.

        Raises:
            NobodyThere: no line will ever come.
        """


class AutoRun:
    """Runs every proposal unasked, as the person configured with `auto_run`; consents to nothing more.

    Code that a rule asks about, and questions that are not about code, go to `behind`, the person who may
    still be there.
    """

    def __init__(self, behind: Person | None = None) -> None:
        self._behind = behind or Nobody()

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """`Run`, unless a rule wants the person behind to be asked."""
        if proposed.asks:
            return await self._behind.approve(proposed)
        return Run(proposed.code, by="auto_run")

    async def allow(self, request: Consent) -> bool | Decline:
        """What the person behind says; no, when there is none. Yes to what code can do as well."""
        return request.as_code or await self._behind.allow(request)

    async def choose(self, choice: Choice) -> str | Decline:
        """What the person behind answers, if there is one. Yes to what code can do as well."""
        return choice.as_code or await self._behind.choose(choice)

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """What the person behind types."""
        return await self._behind.type_in(prompt, secret=secret)


class Nobody:
    """A headless run without `auto_run`: what no rule allows is declined and the turn stops there."""

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """`Decline`, ending the turn.

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
            "Run terp on a terminal, or add -y (auto_run=True in Python) to run code without being asked.",
        )

    async def allow(self, request: Consent) -> bool:
        """No."""
        return False

    async def choose(self, choice: Choice) -> str:
        """Nothing."""
        return ""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Nothing.

        Raises:
            NobodyThere: always.
        """
        raise NobodyThere("The code asked for input, and nobody is there to type it.")
