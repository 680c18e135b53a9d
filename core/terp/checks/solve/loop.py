"""From a problem to an answer, step after step, each of which is kept before the next."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from terp.checks.solve import phases
from terp.checks.solve.code import NoTests, split
from terp.checks.solve.phases import Bench, Ended, forget_unanswered, prepare
from terp.checks.solve.problem import HUMAN, Test
from terp.checks.solve.state import MORE, State, Step
from terp.errors import StopReason

Phase = Callable[[Bench, State], Awaitable[State]]
_PHASES: Mapping[Step, Phase] = {
    "solution": phases.solution,
    "tests": phases.tests,
    "check": phases.check,
    "revise": phases.revise,
}


class Reviewer(Protocol):
    """Who looks at an answer, and may want more of it."""

    async def look(self, state: State, complaint: str) -> tuple[str, str]:
        """More asserts, and a comment; both are empty when the answer is accepted.

        `complaint` says why the asserts before could not be taken.
        """


class Accepting:
    """Nobody: the first answer is the last."""

    async def look(self, state: State, complaint: str) -> tuple[str, str]:
        """Nothing more is wanted."""
        return "", ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended: `reason` is "done" when the answer was given, whether it passes or not."""

    state: State
    reason: StopReason = "done"
    error: str = ""
    remedy: str = ""


async def solve(bench: Bench, state: State, reviewer: Reviewer, keep: Callable[[State], None]) -> Outcome:
    """Work on a problem until the reviewer is content; every step is kept.

    Where a step does not come to its end, the state before it is kept, and can be gone on with.
    """
    prepare(bench.session)
    forget_unanswered(bench.session)
    keep(state)
    while state.step != "over":
        try:
            if state.step == "wait":
                state = await reviewed(state, reviewer)
            else:
                state = await _PHASES[state.step](bench, state)
        except Ended as end:
            return Outcome(state, end.stop_reason, end.message, end.remedy)
        keep(state)
    return Outcome(state)


async def reviewed(state: State, reviewer: Reviewer) -> State:
    """The state with what the reviewer wants besides, or at its end."""
    complaint = ""
    while True:
        asserts, comment = await reviewer.look(state, complaint)
        if not (asserts.strip() or comment.strip()):
            return replace(state, step="over")
        try:
            tests = tuple(Test(HUMAN, code) for code in split(asserts))
        except NoTests as why:
            complaint = f"These asserts are no Python: {why.message}."
            continue
        if asserts.strip() and not tests:
            complaint = "There is no assert in that."
            continue
        anchors = (*state.anchors, *tests)
        return replace(
            state.unchecked((*anchors, *state.of_model)),
            comment=comment.strip(),
            most=state.most + MORE if state.most else 0,
            rounds=state.rounds + 1,
        )
