"""The phases from a problem to a solution: a solution, tests that are confirmed, checks and revisions.

Each phase takes a state and returns the next one, which names the next phase in `State.step`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Generic, Protocol, TypeVar

from terp.checks.solve import prompts
from terp.checks.solve.checker import Checker
from terp.checks.solve.code import TEST, NoTests, claim_of, code_in, names_in, names_used, split
from terp.checks.solve.problem import AI, HUMAN, Test, pairs_in
from terp.checks.solve.state import MORE, State, Step, result_text
from terp.errors import BudgetSpent, ModelError, StopReason, TerpError
from terp.events import Event, TurnFinished
from terp.events.error_text import normal
from terp.events.messages import Assistant
from terp.session.foreground import Interrupted, Task
from terp.session.session import Session
from terp.text.dataclasses import dataclass, field, replace

T = TypeVar("T")
Show = Callable[[Event], object]


class PhaseStopped(TerpError):
    """A phase did not finish; the work can be resumed from the state before it."""

    def __init__(self, reason: StopReason, message: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.stop_reason: StopReason = reason


def prepare(session: Session) -> None:
    """Prepare a session: each turn is one reply, and no code of it runs in a kernel."""
    session.instruct(prompts.SYSTEM, code=False)
    session.resources.limits = replace(session.resources.limits, max_steps=1)


def forget_unanswered(session: Session) -> None:
    """Undo a turn whose prompt was never answered: its phase runs again, or is skipped."""
    last = session.history[session.turns[-1].at :] if session.turns else ()
    if last and not any(isinstance(message, Assistant) for message in last):
        session.rewind.undo()


async def reply_to(session: Session, prompt: str, show: Show) -> Assistant:
    """Send the next prompt of the conversation; return the reply.

    Raises:
        PhaseStopped: there is no reply.
    """
    end: TurnFinished | None = None
    async with aclosing(session.turn(prompt)) as events:
        async for event in events:
            show(event)
            end = event if isinstance(event, TurnFinished) else end
    replies = [message for message in session.history if isinstance(message, Assistant)]
    # A reply with a tool call ends the turn at the limit of one step.
    if (
        end is not None
        and replies
        and (end.reason == "done" or (end.reason == "max_steps" and replies[-1].calls))
    ):
        return replies[-1]
    assert end is not None, "a turn ends with its end"
    raise PhaseStopped(end.reason, end.error, end.remedy)


async def reply_beside(session: Session, prompt: str, show: Show) -> Assistant:
    """Send a prompt without the conversation; return the reply.

    Raises:
        PhaseStopped: it was interrupted, or the budget of the session is spent.
        ModelError: there is no reply.
    """
    try:
        return await played(session, session.answer_aside(prompt), show)
    except BudgetSpent as spent:
        raise PhaseStopped(spent.stop_reason, spent.message, spent.remedy) from spent


async def played(session: Session, doing: Awaitable[T], show: Show) -> T:
    """Await `doing` so that the user can interrupt it like a turn; return its result.

    Raises:
        PhaseStopped: it was interrupted.
    """
    work = _AwaitTask(doing)
    async with aclosing(session.play(work)) as events:
        async for event in events:
            show(event)
    if work.error is not None:
        raise work.error
    if not work.results:
        raise PhaseStopped("interrupted")
    return work.results[0]


@dataclass(slots=True)
class _AwaitTask(Task, Generic[T]):
    """A task of a session that awaits one object."""

    doing: Awaitable[T]
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


_STOPS = ("interrupted", "timeout", "max_budget")
NO_CODE = "The last reply had no code."


@dataclass(frozen=True, slots=True)
class SolveContext:
    """The collaborators of the phases. `announce` shows which phase begins, `show` gets every event."""

    session: Session
    checker: Checker
    announce: Callable[[str], None]
    show: Show


async def solution(context: SolveContext, state: State) -> State:
    """Ask for the first solution.

    Raises:
        PhaseStopped: there is no reply.
    """
    context.announce(_writing(state, "Writing a solution"))
    return await _written(context, state, prompts.first(state.problem))


async def tests(context: SolveContext, state: State) -> State:
    """Ask for tests without showing the solution, and try to confirm them.

    If there are none, the state gets a note, and the model is not asked again.

    Raises:
        PhaseStopped: it was interrupted.
    """
    context.announce("Writing tests, from the description alone")
    asked = replace(state, step="check", asked_for_tests=True)
    try:
        reply = await reply_beside(context.session, prompts.tests(state.problem), context.show)
    except ModelError as error:
        return asked.with_note(f"The model has written no tests: {error.message}")
    found, unusable = usable(state, reply)
    if not (found or unusable):
        return asked.with_note("The model has written no tests that can be used.")
    asked = replace(asked, tests=(*state.tests, *found, *unusable))
    return await confirmed(context, asked) if found else asked


async def check(context: SolveContext, state: State) -> State:
    """Run the tests with the current solution; those of the model once all anchors have passed.

    Raises:
        PhaseStopped: it was interrupted.
    """
    anchors = await _checked(context, state, state.anchors, "the given tests")
    state = replace(state, tests=(*anchors, *state.of_model))
    if not any(test.has_failed for test in anchors):
        of_model = await _checked(context, state, state.of_model, "tests of the model")
        state = replace(state, tests=(*anchors, *of_model), best=state.code)
    if state.former:
        state = _after_doubt(state)
    return _after_check(state)


async def revise(context: SolveContext, state: State) -> State:
    """Ask for a revision of the current solution.

    Raises:
        PhaseStopped: there is no reply.
    """
    context.announce(_writing(state, "Revising the solution"))
    if state.complaint == NO_CODE:
        return await _written(context, state, prompts.without_code(state.problem))
    broken = state.broken
    if broken:
        again = bool(state.complaint) and state.complaint == _signature(broken)
        prompt = prompts.failed(broken, state.comment, again=again)
        return await _written(context, replace(state, complaint=_signature(broken)), prompt)
    if state.comment:
        return await _written(context, state, prompts.commented(state.comment))
    doubtful = _doubtful(state)
    former = replace(
        state,
        former=state.code,
        tests=tuple(replace(test, revised=True) if test in doubtful else test for test in state.tests),
    )
    try:
        return await _written(context, former, prompts.doubtful(doubtful))
    except PhaseStopped as end:
        if end.stop_reason in _STOPS:
            raise
        # The current solution passes all anchors, so an error of the model does not stop the work.
        forget_unanswered(context.session)
        return _after_check(_after_doubt(former))


def _after_check(state: State) -> State:
    """Return the state with the phase that follows a check."""
    if state.is_exhausted and state.best not in ("", state.code):
        # No further revision is allowed: prefer the solution that passed all anchors to the last one.
        return replace(state.unchecked(state.tests), code=state.best, best="")
    if state.broken or state.comment:
        return replace(state, step="wait" if state.is_exhausted else "revise")
    if not state.asked_for_tests:
        return replace(state, step="tests")
    if _doubtful(state) and not state.is_exhausted:
        return replace(state, step="revise")
    return replace(state, step="wait")


def _after_doubt(state: State) -> State:
    """Return to the former solution, unless the new one passes all that count and more of the doubtful."""
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
    """Return the failed tests that may still cause a revision."""
    return tuple(test for test in state.tests if test.is_doubtful and test.has_failed and not test.revised)


async def _checked(
    context: SolveContext, state: State, tests: tuple[Test, ...], what: str
) -> tuple[Test, ...]:
    new = [test for test in tests if test.status == "new"]
    if not new:
        return tests
    context.announce(f"Checking against {what}")
    ended = iter(await played(context.session, context.checker.all(state.code, new), context.show))
    return tuple(next(ended) if test.status == "new" else test for test in tests)


async def _written(context: SolveContext, state: State, prompt: str) -> State:
    reply = await reply_to(context.session, prompt, context.show)
    code = code_in(reply, names_in(state.problem.interface))
    answered = replace(state, solutions=state.solutions + 1, comment="")
    if code:
        return replace(answered.unchecked(state.tests), code=code)
    if state.former:
        return answered.unchecked(state.tests)
    return replace(answered, complaint=NO_CODE, step="wait" if answered.is_exhausted else "revise")


def _signature(broken: tuple[Test, ...]) -> str:
    return normal("\n".join(f"{test.shown}\n{test.error}" for test in broken))


def _writing(state: State, what: str) -> str:
    limit = f" of {state.most}" if state.most else ""
    return f"{what} ({state.solutions + 1}{limit})"


_MOST = 20
_CONTRADICTS = "It contradicts a given test."
_BRUTE_FORCE, _INDEPENDENT = "a brute-force solution", "an independent solution"


def usable(state: State, reply: Assistant) -> tuple[tuple[Test, ...], tuple[Test, ...]]:
    """Return the usable tests in a reply, and those that were dropped, with the reason."""
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


async def confirmed(context: SolveContext, state: State) -> State:
    """Let another solution that passes the anchors confirm or dispute the tests of the model.

    The model is asked for one by brute force, and if that fails for an independent one. Without either, the
    tests stay doubtful.

    Raises:
        PhaseStopped: it was interrupted.
    """
    for name in (_BRUTE_FORCE, _INDEPENDENT):
        context.announce(f"Asking for {name}, to confirm the tests")
        prompt = prompts.witness(state.problem, brute_force=name == _BRUTE_FORCE)
        try:
            reply = await reply_beside(context.session, prompt, context.show)
        except ModelError as error:
            return state.with_note(f"Nothing confirms the tests of the model: {error.message}")
        code = code_in(reply, names_in(state.problem.interface))
        if code and await _passes_anchors(context, state, code):
            return await _by(context, replace(state, witness=name, code_of_witness=code))
    return state.with_note("Nothing confirms the tests of the model: other solutions break given tests.")


async def _passes_anchors(context: SolveContext, state: State, code: str) -> bool:
    ended = await played(context.session, context.checker.all(code, state.anchors), context.show)
    statuses = {test.status for test in ended}
    # Brute force may be too slow for a given test, and is right all the same.
    return statuses <= {"passed", "timeout"} and statuses != {"timeout"}


async def _by(context: SolveContext, state: State) -> State:
    doing = context.checker.all(state.code_of_witness, state.of_model)
    by_witness = await played(context.session, doing, context.show)
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
    """Return the asserts of a text that is no Python as a whole."""
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


Phase = Callable[[SolveContext, State], Awaitable[State]]
_PHASES: Mapping[Step, Phase] = {
    "solution": solution,
    "tests": tests,
    "check": check,
    "revise": revise,
}


class Reviewer(Protocol):
    """Reviews an answer and may ask for more."""

    async def look(self, state: State, complaint: str) -> tuple[str, str]:
        """Return more asserts and a comment; both are empty when the answer is accepted.

        `complaint` is the reason why the last asserts could not be used; "" at first.
        """


class Accepting:
    """Implements `Reviewer`: accepts the first answer."""

    async def look(self, state: State, complaint: str) -> tuple[str, str]:
        """Ask for nothing more."""
        return "", ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of the work; `reason` is "done" when there was an answer, passing or not."""

    state: State
    reason: StopReason = "done"
    error: str = ""
    remedy: str = ""

    @property
    def code(self) -> str:
        """The solution; "" for none."""
        return self.state.code

    @property
    def passed(self) -> bool:
        """True if there are tests that count, and the solution passes all of them."""
        return self.state.passed

    def __str__(self) -> str:
        return result_text(self.state)


async def solve(
    context: SolveContext, state: State, reviewer: Reviewer, keep: Callable[[State], None]
) -> Outcome:
    """Work on a problem until the reviewer accepts the answer. `keep` stores the state after each phase.

    If a phase stops, the outcome has the state before it, from which the work can be resumed.
    """
    prepare(context.session)
    forget_unanswered(context.session)
    keep(state)
    while state.step != "over":
        try:
            if state.step == "wait":
                state = await reviewed(state, reviewer)
            else:
                state = await _PHASES[state.step](context, state)
        except PhaseStopped as end:
            return Outcome(state, end.stop_reason, end.message, end.remedy)
        keep(state)
    return Outcome(state)


async def reviewed(state: State, reviewer: Reviewer) -> State:
    """Let the reviewer see the answer; return the state with their asserts and comment, or at its end."""
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
