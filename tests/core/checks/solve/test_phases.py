"""Each step from a problem to a solution, alone, with a scripted model."""

from dataclasses import replace
from pathlib import Path

import pytest

from terp.checks.solve import phases
from terp.checks.solve.phases import PhaseStopped, prepare
from terp.checks.solve.problem import AI, HUMAN, Problem, Test
from terp.checks.solve.state import State
from terp.errors import Unavailable
from terp.session.resources import Limits
from terp.testing import Scripted
from tests.core.checks.solve.solving import ADDING, RIGHT, WRONG, Solving, adding, asserting, new, solving

pytestmark = pytest.mark.anyio
GOOD = "def add(a, b):\n    return a + b\n"
BAD = "def add(a, b):\n    return a * b\n"


def at_work(tmp_path: Path, *replies: Scripted) -> Solving:
    work = solving(tmp_path, *replies)
    prepare(work.context.session)
    return work


def passed(*more: Test) -> State:
    """The state of a right solution that has passed the given tests."""
    tests = tuple(replace(test, status="passed") for test in new().tests)
    return replace(new(), step="tests", code=GOOD, solutions=1, tests=(*tests, *more))


async def test_a_solution_is_asked_for_with_everything_but_the_tests(tmp_path: Path) -> None:
    work = at_work(tmp_path, adding(RIGHT))
    state = await phases.solution(work.context, new())
    assert (state.step, state.code, state.solutions) == ("check", GOOD, 1)
    assert "Add two numbers." in work.prompts[0]
    assert "assert" not in work.prompts[0]


async def test_a_reply_without_code_counts_and_is_told(tmp_path: Path) -> None:
    work = at_work(tmp_path, "I do not know.", adding(RIGHT))
    state = await phases.solution(work.context, new())
    assert (state.step, state.solutions, state.complaint) == ("revise", 1, phases.NO_CODE)
    state = await phases.revise(work.context, state)
    assert (state.step, state.code) == ("check", GOOD)
    assert work.prompts[1].startswith("Your reply had no code")


async def test_a_check_that_fails_asks_for_a_revision_with_the_error(tmp_path: Path) -> None:
    work = at_work(tmp_path, adding(RIGHT))
    state = await phases.check(work.context, replace(new(), code=BAD, solutions=1))
    assert (state.step, [test.status for test in state.tests]) == ("revise", ["failed", "passed"])
    state = await phases.revise(work.context, state)
    assert (state.code, [test.status for test in state.tests]) == (GOOD, ["new", "new"])
    assert "Your solution has not passed 1 test." in work.prompts[0]
    assert "AssertionError: 2 is not 3" in work.prompts[0]


async def test_the_third_failure_that_is_the_same_says_so(tmp_path: Path) -> None:
    work = solving(tmp_path, adding(WRONG), adding(WRONG), adding(RIGHT))
    await work.run(new())
    assert ["the same failure as before" in prompt for prompt in work.prompts[:3]] == [False, False, True]


async def test_tests_are_asked_for_without_the_solution(tmp_path: Path) -> None:
    work = at_work(tmp_path, asserting("assert add(0, 5) == 5"), adding(RIGHT))
    state = await phases.tests(work.context, passed())
    assert state.of_model == (Test(AI, "assert add(0, 5) == 5", confirmed=True),)
    assert [GOOD in str(request) for request in work.model.requests] == [False, False]
    assert all(ADDING.interface in prompt for prompt in work.prompts)


async def test_a_model_that_cannot_be_reached_for_tests_ends_nothing(tmp_path: Path) -> None:
    work = at_work(tmp_path, Unavailable("It is away."))
    state = await phases.tests(work.context, passed())
    assert (state.step, state.notes) == ("check", ("The model has written no tests: It is away.",))


async def test_a_budget_that_is_spent_is_no_model_that_fails(tmp_path: Path) -> None:
    work = at_work(tmp_path, adding(RIGHT), asserting("assert add(1, 1) == 2"))
    state = await phases.solution(work.context, new())
    work.context.session.resources.limits = Limits(max_budget_usd=0.001)
    with pytest.raises(
        PhaseStopped, match=r"Stopped: \$0\.0010 of \$0\.0010 is spent \(max_budget\)\."
    ) as end:
        await phases.tests(work.context, state)
    assert (end.value.stop_reason, len(work.prompts)) == ("max_budget", 1)


async def test_a_test_that_another_solution_disputes_is_dropped(tmp_path: Path) -> None:
    work = at_work(tmp_path, asserting("assert add(0, 5) == 6"), adding(RIGHT))
    [test] = (await phases.tests(work.context, passed())).of_model
    assert (test.status, test.error) == (
        "dropped",
        "Disputed: a brute-force solution says otherwise (AssertionError: 5 is not 6).",
    )


async def test_what_breaks_given_tests_confirms_nothing(tmp_path: Path) -> None:
    work = at_work(tmp_path, asserting("assert add(0, 5) == 0"), adding(WRONG), adding(WRONG))
    state = await phases.tests(work.context, passed())
    assert ([test.is_doubtful for test in state.of_model], len(work.model.requests)) == ([True], 3)
    assert state.notes == ("Nothing confirms the tests of the model: other solutions break given tests.",)


async def test_a_doubtful_test_may_ask_for_one_revision(tmp_path: Path) -> None:
    work = at_work(tmp_path, adding("return a + b if a != 7 else 0"))
    doubtful = Test(AI, "assert add(7, 0) == 0", status="failed", error="7 is not 0")
    state = await phases.revise(work.context, passed(doubtful))
    assert "The mistake can be in the test as well." in work.prompts[0]
    state = await phases.check(work.context, replace(state, asked_for_tests=True))
    assert (state.step, "!= 7" in state.code, state.of_model[0].status) == ("wait", True, "passed")


async def test_a_revision_for_a_doubtful_test_that_breaks_a_certain_one_is_undone(tmp_path: Path) -> None:
    work = at_work(tmp_path, adding(WRONG))
    doubtful = Test(AI, "assert add(7, 0) == 0", status="failed", error="7 is not 0")
    state = await phases.revise(work.context, passed(doubtful))
    state = await phases.check(work.context, replace(state, asked_for_tests=True))
    assert (state.step, state.code, state.passed) == ("wait", GOOD, True)
    assert [test.status for test in state.of_model] == ["dropped"]
    assert "broke a certain test" in state.of_model[0].error


async def test_a_model_that_fails_over_a_doubtful_test_leaves_the_solution(tmp_path: Path) -> None:
    work = at_work(tmp_path, Unavailable("It is away."))
    doubtful = Test(AI, "assert add(7, 0) == 0", status="failed", error="7 is not 0")
    state = await phases.revise(work.context, replace(passed(doubtful), asked_for_tests=True))
    assert (state.step, state.code, work.context.session.history) == ("wait", GOOD, ())


async def test_a_comment_on_what_passes_is_asked_in_other_words(tmp_path: Path) -> None:
    work = at_work(tmp_path, adding("return b + a"))
    state = await phases.revise(work.context, replace(passed(), comment="Shorter!"))
    assert work.prompts[0].startswith("Your solution passes all of its tests.")
    assert ("Shorter!" in work.prompts[0], state.comment) == (True, "")


async def test_a_test_of_a_person_always_counts(tmp_path: Path) -> None:
    work = at_work(tmp_path)
    state = await phases.check(work.context, passed(Test(HUMAN, "assert add(1, 1) == 3")))
    assert (state.step, [test.source for test in state.broken]) == ("revise", ["human"])


async def test_at_the_limit_one_that_passes_what_is_certain_is_better_than_the_last(tmp_path: Path) -> None:
    right = Test(AI, "assert add(9, 9) == 18", confirmed=True)
    odd = adding("return a + b if a < 9 else 0")
    work = solving(tmp_path, odd, asserting(right.code), adding(RIGHT), adding(WRONG))
    outcome = await work.run(new(most=2))
    assert "a < 9" in outcome.state.code
    assert [test.status for test in outcome.state.tests] == ["passed", "passed", "failed"]


async def test_nothing_is_called_good_without_a_test(tmp_path: Path) -> None:
    work = solving(tmp_path, adding(RIGHT), "No tests.")
    outcome = await work.run(new(Problem("adding", "Add two numbers.")))
    assert (outcome.reason, outcome.state.passed) == ("done", False)
