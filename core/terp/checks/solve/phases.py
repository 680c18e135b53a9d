"""The steps from a problem to a solution: prompts, tests that are confirmed, checks and revisions.

They know a session and a checker; their order is in `State.step`.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from terp.checks.solve import prompts
from terp.checks.solve.checking import Checker
from terp.checks.solve.code import TEST, NoTests, claim_of, code_in, names_in, names_used, split
from terp.checks.solve.problem import AI, Test, pairs_in
from terp.checks.solve.state import State
from terp.errors import BudgetSpent, ModelError, StopReason, TerpError
from terp.events import Event, TurnFinished
from terp.events.messages import Assistant
from terp.events.sameness import normal
from terp.session.session import Session
from terp.text.interrupts import Interrupted, Interrupts

T = TypeVar("T")
Show = Callable[[Event], None]


class Ended(TerpError):
    """A turn, or other work of the session, did not come to its end; it can be gone on with."""

    def __init__(self, reason: StopReason, message: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.stop_reason: StopReason = reason


def prepare(session: Session) -> None:
    """Let a session solve: each turn is one reply, and no code of it runs in a kernel."""
    session.brief(prompts.SYSTEM, code=False)
    session.limits = replace(session.limits, max_steps=1)


def forget_unanswered(session: Session) -> None:
    """Take back a prompt that was never answered: its step is done again, or left."""
    last = session.history[session.turns[-1].at :] if session.turns else ()
    if last and not any(isinstance(message, Assistant) for message in last):
        session.past.undo()


async def asked(session: Session, prompt: str, show: Show) -> Assistant:
    """The reply to the next prompt of the conversation.

    Raises:
        Ended: there is none.
    """
    end: TurnFinished | None = None
    async with aclosing(session.turn(prompt)) as events:
        async for event in events:
            show(event)
            end = event if isinstance(event, TurnFinished) else end
    replies = [message for message in session.history if isinstance(message, Assistant)]
    # A reply that calls a tool is one step of a turn that would go on.
    if (
        end is not None
        and replies
        and (end.reason == "done" or (end.reason == "max_steps" and replies[-1].calls))
    ):
        return replies[-1]
    assert end is not None, "a turn ends with its end"
    raise Ended(end.reason, end.error, end.remedy)


async def asked_beside(session: Session, prompt: str, show: Show) -> Assistant:
    """The reply to a prompt that knows nothing of the conversation.

    Raises:
        Ended: it was interrupted, or the session may cost no more.
        ModelError: there is none.
    """
    try:
        return await played(session, session.beside(prompt), show)
    except BudgetSpent as spent:
        raise Ended(spent.stop_reason, spent.message, spent.remedy) from spent


async def played(session: Session, doing: Awaitable[T], show: Show) -> T:
    """What `doing` gives, which the person can interrupt as they can a turn.

    Raises:
        Ended: they did.
    """
    work = _Doing(doing)
    async with aclosing(session.play(work)) as events:
        async for event in events:
            show(event)
    if work.error is not None:
        raise work.error
    if not work.results:
        raise Ended("interrupted")
    return work.results[0]


@dataclass(slots=True)
class _Doing(Generic[T]):
    """Work that is one awaitable."""

    doing: Awaitable[T]
    interrupts: Interrupts = field(default_factory=Interrupts)
    results: list[T] = field(default_factory=list)
    error: TerpError | None = None

    async def run(self) -> None:
        """Await it."""
        try:
            self.results.append(await self.interrupts.guard(self.doing))
        except Interrupted:
            return
        except TerpError as error:
            self.error = error

    async def stop(self) -> None:
        """Cancel it."""
        self.interrupts.stop()


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


_MOST = 20
_CONTRADICTS = "It contradicts a given test."
_BRUTE_FORCE, _INDEPENDENT = "a brute-force solution", "an independent solution"


def usable(state: State, reply: Assistant) -> tuple[tuple[Test, ...], tuple[Test, ...]]:
    """The tests in a reply that can say something, and those that were dropped, with the reason."""
    found: list[Test] = []
    dropped: list[Test] = []
    seen = {test.shown for test in state.anchors}
    for test in _tests_written(state, reply)[:_MOST]:
        if test.shown in seen:
            continue
        seen.add(test.shown)
        if why := _why_not(state, test):
            dropped.append(replace(test, status="dropped", error=why))
        else:
            found.append(test)
    return tuple(found), tuple(dropped)


async def confirmed(bench: "Bench", state: State) -> State:
    """The state whose tests of the model another solution, which passes the anchors, confirms or disputes.

    One by brute force is asked for, and if that is no good one of any kind. Without either, the tests stay
    doubtful.

    Raises:
        Ended: it was interrupted.
    """
    for name in (_BRUTE_FORCE, _INDEPENDENT):
        bench.announce(f"Asking for {name}, to confirm the tests")
        prompt = prompts.witness(state.problem, brute_force=name == _BRUTE_FORCE)
        try:
            reply = await asked_beside(bench.session, prompt, bench.show)
        except ModelError as error:
            return state.with_note(f"Nothing confirms the tests of the model: {error.message}")
        code = code_in(reply, names_in(state.problem.interface))
        if code and await _passes_anchors(bench, state, code):
            return await _by(bench, replace(state, witness=name, code_of_witness=code))
    return state.with_note("Nothing confirms the tests of the model: other solutions break given tests.")


async def _passes_anchors(bench: "Bench", state: State, code: str) -> bool:
    ended = await played(bench.session, bench.checker.all(code, state.anchors), bench.show)
    statuses = {test.status for test in ended}
    # Brute force may be too slow for a given test, and is right all the same.
    return statuses <= {"passed", "timeout"} and statuses != {"timeout"}


async def _by(bench: "Bench", state: State) -> State:
    doing = bench.checker.all(state.code_of_witness, state.of_model)
    by_witness = await played(bench.session, doing, bench.show)
    tests = [
        _judged(test, ended, state.witness) for test, ended in zip(state.of_model, by_witness, strict=True)
    ]
    return replace(state, tests=(*state.anchors, *tests))


def _judged(test: Test, ended: Test, witness: str) -> Test:
    if test.status == "dropped" or ended.status == "timeout":
        return test
    if ended.status == "passed":
        return replace(test, confirmed=True)
    last = ended.error.strip().splitlines()[-1] if ended.error.strip() else "it fails"
    return replace(test, status="dropped", error=f"Disputed: {witness} says otherwise ({last[:200]}).")


def _tests_written(state: State, reply: Assistant) -> Sequence[Test]:
    if state.problem.is_program:
        return [Test(AI, pair=pair) for pair in pairs_in(reply.text)]
    try:
        return [Test(AI, code) for code in split(code_in(reply, kind=TEST))]
    except NoTests:
        return [Test(AI, code) for code in _line_by_line(code_in(reply, kind=TEST))]


def _line_by_line(code: str) -> Sequence[str]:
    """The asserts of a text of which some line is no Python."""
    found: list[str] = []
    for line in code.splitlines():
        try:
            found += split(line)
        except NoTests:
            continue
    return found


def _why_not(state: State, test: Test) -> str:
    if test.pair is not None:
        same = [
            one.pair
            for one in state.anchors
            if one.pair and one.pair.input.split() == test.pair.input.split()
        ]
        differs = any(pair.expected.split() != test.pair.expected.split() for pair in same)
        return _CONTRADICTS if differs else ""
    names = names_in(state.problem.interface)
    if names and not names & names_used(test.code):
        return "It calls nothing of the interface."
    claim = claim_of(test.code)
    anchors = (claim_of(one.code) for one in state.anchors if one.pair is None)
    return _CONTRADICTS if any(claim.contradicts(one) for one in anchors) else ""
