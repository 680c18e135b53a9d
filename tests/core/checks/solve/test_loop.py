"""All steps one after the other: the person's part, the limits, and what is kept."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from terp.checks.solve.state import (
    FILE_NAME,
    State,
    checked_against,
    from_json,
    is_problem,
    read_state,
    to_json,
    write_state,
)
from terp.errors import SessionError, Unavailable
from terp.secrets.redactor import Redactor
from tests.core.checks.solve.solving import RIGHT, WRONG, adding, asserting, new, solving

pytestmark = pytest.mark.anyio
NO_TESTS = "I have none."


class Says:
    """A reviewer with a script; `seen` keeps the state at each look, `complaints` what was wrong."""

    def __init__(self, *said: tuple[str, str]) -> None:
        self.said = list(said)
        self.seen: list[State] = []
        self.complaints: list[str] = []

    async def look(self, state: State, complaint: str) -> tuple[str, str]:
        self.seen.append(state)
        self.complaints.append(complaint)
        return self.said.pop(0) if self.said else ("", "")


def sources(state: State) -> Sequence[str]:
    return [test.source for test in state.tests]


async def test_asserts_of_a_person_accumulate_and_comments_do_not(tmp_path: Path) -> None:
    work = solving(tmp_path, adding(RIGHT), NO_TESTS, adding("return b + a"), adding(RIGHT))
    says = Says(("assert add(4, 4) == 8", "Turn it."), ("assert add(5, 5) == 10", "Turn it back."))
    outcome = await work.run(new(), says)
    assert sources(outcome.state) == ["given", "given", "human", "human"]
    assert checked_against(outcome.state) == ("2 given tests", "2 tests of yours")
    assert ["Turn it." in prompt for prompt in work.prompts] == [False, False, True, False]
    assert [state.most for state in says.seen] == [4, 6, 8]


async def test_an_assert_of_a_person_that_fails_asks_for_a_revision(tmp_path: Path) -> None:
    work = solving(tmp_path, adding("return a + b if a < 4 else 0"), NO_TESTS, adding(RIGHT))
    outcome = await work.run(new(), Says(("assert add(4, 4) == 8", "")))
    assert (outcome.state.passed, outcome.state.solutions, outcome.state.rounds) == (True, 2, 1)


async def test_two_more_solutions_may_follow_what_a_person_says(tmp_path: Path) -> None:
    work = solving(tmp_path, *[adding(WRONG)] * 9)
    outcome = await work.run(new(), Says(("", "Think!")))
    assert (outcome.state.solutions, len(work.model.requests)) == (6, 6)


async def test_asserts_that_are_none_are_asked_for_again(tmp_path: Path) -> None:
    says = Says(("assert add(", ""), ("add(1, 2)", ""))
    await solving(tmp_path, adding(RIGHT), NO_TESTS).run(new(), says)
    assert says.complaints == [
        "",
        "These asserts are no Python: line 1: '(' was never closed.",
        "There is no assert in that.",
    ]


async def test_every_step_is_kept_and_what_is_kept_goes_on(tmp_path: Path) -> None:
    work = solving(tmp_path, adding(WRONG), adding(RIGHT), asserting("assert add(0, 5) == 5"), adding(RIGHT))
    outcome = await work.run(new())
    assert [state.step for state in work.kept] == [
        "solution", "check", "revise", "check", "tests", "check", "wait", "over",
    ]  # fmt: skip
    for state in work.kept:
        assert from_json(json.loads(json.dumps(to_json(state)))) == state
    again = await solving(tmp_path).run(work.kept[-2])
    assert again.state == outcome.state


async def test_a_model_that_cannot_be_reached_leaves_the_step_to_be_done_again(tmp_path: Path) -> None:
    work = solving(tmp_path, adding(WRONG), Unavailable("It is away."))
    outcome = await work.run(new())
    assert (outcome.reason, outcome.error, outcome.state.step) == ("unavailable", "It is away.", "revise")
    assert (await solving(tmp_path, adding(RIGHT), NO_TESTS).run(outcome.state)).state.passed


async def test_the_state_is_read_as_it_was_written_without_secrets(tmp_path: Path) -> None:
    state = new()
    write_state(tmp_path, state, Redactor)
    assert (read_state(tmp_path), is_problem(tmp_path)) == (state, True)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize("text", ["", "[]", '{"version": 99}', '{"version": 1}'])
async def test_a_state_that_cannot_be_read_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    assert not is_problem(tmp_path)
    with pytest.raises(SessionError, match="no problem that can be resumed"):
        read_state(tmp_path)
