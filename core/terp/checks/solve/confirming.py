"""Which tests of a model are evidence: those that something confirms which does not know the solution."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from terp.checks.solve import prompts
from terp.checks.solve.asking import asked_beside, played
from terp.checks.solve.single import pairs_in
from terp.checks.solve.splitting import NoTests, claim_of, names_in, names_used, split
from terp.checks.solve.state import State
from terp.checks.solve.test import AI, Test
from terp.checks.solve.written import TEST, code_in
from terp.errors import ModelError
from terp.events.messages import Assistant

if TYPE_CHECKING:
    from terp.checks.solve.phases import Bench

_MOST = 20
_CONTRADICTS = "It contradicts a given test."
_BRUTE_FORCE, _INDEPENDENT = "a brute-force solution", "an independent solution"


def usable(state: State, reply: Assistant) -> tuple[tuple[Test, ...], tuple[Test, ...]]:
    """The tests in a reply that can say something, and those that were dropped, with the reason."""
    found: list[Test] = []
    dropped: list[Test] = []
    seen = {test.shown for test in state.anchors}
    for test in _written(state, reply)[:_MOST]:
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


def _written(state: State, reply: Assistant) -> Sequence[Test]:
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
