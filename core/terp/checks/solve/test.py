"""A test of a solution: where it is from, what it demands, and how it ended last."""

from dataclasses import dataclass
from typing import Literal

Source = Literal["given", "human", "ai"]
Status = Literal["new", "passed", "failed", "timeout", "dropped"]
GIVEN: Source = "given"
HUMAN: Source = "human"
AI: Source = "ai"


@dataclass(frozen=True, slots=True)
class Pair:
    """What a program reads, and what it has to write."""

    input: str
    expected: str


@dataclass(frozen=True, slots=True)
class Test:
    """One assert with all that it needs, or one pair of input and output.

    `error` says why it has failed, or why it was dropped. A test of the model counts once it is `confirmed`
    by something that does not know the solution; `revised` is whether it had the one revision that a test
    without that may ask for.
    """

    __test__ = False
    source: Source
    code: str = ""
    pair: Pair | None = None
    status: Status = "new"
    error: str = ""
    confirmed: bool = False
    revised: bool = False

    @property
    def is_anchor(self) -> bool:
        """Whether it always has to pass."""
        return self.source != AI

    @property
    def counts(self) -> bool:
        """Whether it says anything of a solution."""
        return self.status != "dropped" and (self.is_anchor or self.confirmed)

    @property
    def is_doubtful(self) -> bool:
        """Whether nothing has confirmed it, nor dropped it."""
        return self.status != "dropped" and not (self.is_anchor or self.confirmed)

    @property
    def has_failed(self) -> bool:
        """Whether the last solution did not pass it."""
        return self.status in ("failed", "timeout")

    @property
    def shown(self) -> str:
        """What it demands, as text."""
        if self.pair is None:
            return self.code
        return f"input:\n{self.pair.input.rstrip()}\nexpected output:\n{self.pair.expected.rstrip()}"
