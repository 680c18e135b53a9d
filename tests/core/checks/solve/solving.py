"""What tests of solving share: a session with a scripted model, and kernels of which none is started."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from terp.checks.solve.checker import Checker
from terp.checks.solve.phases import Accepting, Outcome, Reviewer, SolveContext, solve
from terp.checks.solve.problem import Problem
from terp.checks.solve.state import State, first_state
from terp.events.messages import User
from terp.kernels.jupyter.local import LocalKernels
from terp.person import Nobody
from terp.session.session import Session
from terp.testing import Scripted, ScriptedModel

ADDING = Problem(
    "adding",
    "Add two numbers.",
    "add(1, 2) is 3.",
    "def add(a: int, b: int) -> int: ...",
    "assert add(1, 2) == 3\nassert add(2, 2) == 4",
)
RIGHT, WRONG = "return a + b", "return a * b"


def adding(body: str) -> str:
    """A reply with a solution of `ADDING`."""
    return f"===code-start===\ndef add(a, b):\n    {body}\n===code-end==="


def asserting(*asserts: str) -> str:
    """A reply with tests."""
    return "\n".join(["===test-start===", *asserts, "===test-end==="])


@dataclass
class Solving:
    """Work on a problem, with all that was told, asked and kept meanwhile."""

    model: ScriptedModel
    context: SolveContext
    told: list[str] = field(default_factory=list)
    kept: list[State] = field(default_factory=list)

    @property
    def prompts(self) -> Sequence[str]:
        """What the model was asked, request by request."""
        asked = (request[-1] for request in self.model.requests)
        return [message.text for message in asked if isinstance(message, User)]

    async def run(self, state: State, reviewer: Reviewer | None = None) -> Outcome:
        """Solve, from that state on, to the end."""
        outcome = await solve(self.context, state, reviewer or Accepting(), self.kept.append)
        await self.context.session.aclose()
        return outcome


def solving(tmp_path: Path, *replies: Scripted, timeout_s: float = 30.0) -> Solving:
    """Work with a model that gives these replies."""
    model, told = ScriptedModel(*replies), list[str]()
    session = Session(model, LocalKernels(str(tmp_path)), Nobody(), folder=tmp_path / "session")
    checker = Checker(session.kernels, timeout_s)
    return Solving(model, SolveContext(session, checker, told.append, lambda _: None), told)


def new(problem: Problem = ADDING, most: int = 4) -> State:
    """The state before anything was done."""
    return first_state(problem, most)
