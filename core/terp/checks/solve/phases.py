"""The steps from a problem to a solution: each takes what is there, and gives what comes next.

They know a session and what checks, and no order but that in `State.step`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from terp.checks.solve import prompts
from terp.checks.solve.asking import Ended, Show, asked, asked_beside, forget_unanswered, played
from terp.checks.solve.checking import Checker
from terp.checks.solve.confirming import confirmed, usable
from terp.checks.solve.splitting import names_in
from terp.checks.solve.state import State
from terp.checks.solve.test import Test
from terp.checks.solve.written import code_in
from terp.errors import ModelError
from terp.events.sameness import normal
from terp.session.session import Session

_STOPS = ("interrupted", "timeout", "max_budget")
NO_CODE = "The last reply had no code."


@dataclass(frozen=True, slots=True)
class Bench:
    """What the phases work with. `announce` tells what begins, `show` is given every event meanwhile."""

    session: Session
    checker: Checker
    announce: Callable[[str], None]
    show: Show


async def solution(bench: Bench, state: State) -> State:
    """The first solution.

    Raises:
        Ended: the model gave no reply.
    """
    bench.announce(_writing(state, "Writing a solution"))
    return await _written(bench, state, prompts.first(state.problem))


async def tests(bench: Bench, state: State) -> State:
    """The tests that the model writes without knowing the solution, confirmed as far as that can be done.

    Where it writes none, that is noted, and it is not asked again.

    Raises:
        Ended: it was interrupted.
    """
    bench.announce("Writing tests, from the description alone")
    told = replace(state, step="check", asked_for_tests=True)
    try:
        reply = await asked_beside(bench.session, prompts.tests(state.problem), bench.show)
    except ModelError as error:
        return told.with_note(f"The model has written no tests: {error.message}")
    found, unusable = usable(state, reply)
    if not (found or unusable):
        return told.with_note("The model has written no tests that can be used.")
    told = replace(told, tests=(*state.tests, *found, *unusable))
    return await confirmed(bench, told) if found else told


async def check(bench: Bench, state: State) -> State:
    """The tests as they end with the present solution: those of the model once all certain ones have passed.

    Raises:
        Ended: it was interrupted.
    """
    anchors = await _checked(bench, state, state.anchors, "the given tests")
    state = replace(state, tests=(*anchors, *state.of_model))
    if not any(test.has_failed for test in anchors):
        of_model = await _checked(bench, state, state.of_model, "tests of the model")
        state = replace(state, tests=(*anchors, *of_model), best=state.code)
    if state.former:
        state = _after_doubt(state)
    return _after_check(state)


async def revise(bench: Bench, state: State) -> State:
    """The next solution, by what is wrong with the present one.

    Raises:
        Ended: the model gave no reply.
    """
    bench.announce(_writing(state, "Revising the solution"))
    if state.complaint == NO_CODE:
        return await _written(bench, state, prompts.without_code(state.problem))
    broken = state.broken
    if broken:
        again = bool(state.complaint) and state.complaint == _signature(broken)
        prompt = prompts.failed(broken, state.comment, again=again)
        return await _written(bench, replace(state, complaint=_signature(broken)), prompt)
    if state.comment:
        return await _written(bench, state, prompts.commented(state.comment))
    doubtful = _doubtful(state)
    former = replace(
        state,
        former=state.code,
        tests=tuple(replace(test, revised=True) if test in doubtful else test for test in state.tests),
    )
    try:
        return await _written(bench, former, prompts.doubtful(doubtful))
    except Ended as end:
        if end.stop_reason in _STOPS:
            raise
        # The solution passes all that is certain: nothing more is needed of a model that fails.
        forget_unanswered(bench.session)
        return _after_check(_after_doubt(former))


def _after_check(state: State) -> State:
    """What comes after a check."""
    if state.is_exhausted and state.best not in ("", state.code):
        # No other will come: one that passes what is certain is better than the last.
        return replace(state.unchecked(state.tests), code=state.best, best="")
    if state.broken or state.comment:
        return replace(state, step="wait" if state.is_exhausted else "revise")
    if not state.asked_for_tests:
        return replace(state, step="tests")
    if _doubtful(state) and not state.is_exhausted:
        return replace(state, step="revise")
    return replace(state, step="wait")


def _after_doubt(state: State) -> State:
    """The former solution again, unless the new one passes all that counts and more of what was doubted."""
    doubted = [test for test in state.tests if test.revised and test.is_doubtful]
    failed = [test for test in doubted if test.has_failed]
    if not state.broken and len(failed) < len(doubted):
        kept, given_up, why = replace(state, former=""), failed, "did not pass it either"
    else:
        kept, given_up = replace(state, code=state.former, best=state.former, former=""), doubted
        why = "broke a certain test" if state.broken else "did not pass it either"
        # The former solution had passed all the others.
        kept = replace(kept, tests=tuple(_passing(test) for test in state.tests))
    error = f"Nothing confirms it, and a solution that was revised for it {why}."
    codes = {test.shown for test in given_up}
    tests = (
        replace(test, status="dropped", error=error) if test.is_doubtful and test.shown in codes else test
        for test in kept.tests
    )
    return replace(kept, tests=tuple(tests))


def _passing(test: Test) -> Test:
    return test if test.status == "dropped" else replace(test, status="passed", error="")


def _doubtful(state: State) -> tuple[Test, ...]:
    """The failed tests that may ask for their one revision."""
    return tuple(test for test in state.tests if test.is_doubtful and test.has_failed and not test.revised)


async def _checked(bench: Bench, state: State, tests: tuple[Test, ...], what: str) -> tuple[Test, ...]:
    new = [test for test in tests if test.status == "new"]
    if not new:
        return tests
    bench.announce(f"Checking against {what}")
    ended = iter(await played(bench.session, bench.checker.all(state.code, new), bench.show))
    return tuple(next(ended) if test.status == "new" else test for test in tests)


async def _written(bench: Bench, state: State, prompt: str) -> State:
    reply = await asked(bench.session, prompt, bench.show)
    code = code_in(reply, names_in(state.problem.interface))
    told = replace(state, solutions=state.solutions + 1, comment="")
    if code:
        return replace(told.unchecked(state.tests), code=code)
    if state.former:
        return told.unchecked(state.tests)
    return replace(told, complaint=NO_CODE, step="wait" if told.is_exhausted else "revise")


def _signature(broken: tuple[Test, ...]) -> str:
    return normal("\n".join(f"{test.shown}\n{test.error}" for test in broken))


def _writing(state: State, what: str) -> str:
    return (
        f"{what} ({state.solutions + 1} of {state.most})" if state.most else f"{what} ({state.solutions + 1})"
    )
