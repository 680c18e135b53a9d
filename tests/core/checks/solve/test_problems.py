"""Ten problems of different kinds, with transcripts of models that are wrong about code, tests, or both."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from terp.checks.solve.problem import Problem, read_folder, read_markdown, read_python
from terp.checks.solve.state import checked_against, last_line, result_text
from tests.core.checks.solve.solving import new, solving

pytestmark = pytest.mark.anyio
FOLDER = Path(__file__).with_name("problems")


def problem_in(folder: Path) -> Problem:
    if (markdown := folder / "problem.md").exists():
        return read_markdown(markdown.read_text(), folder.name)
    if (python := folder / "problem.py").exists():
        return read_python(python.read_text(), folder.name)
    return read_folder(folder)


@pytest.mark.parametrize("name", sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir()))
async def test_a_problem_ends_as_its_transcript_says(name: str, tmp_path: Path) -> None:
    transcript: dict[str, Any] = yaml.safe_load((FOLDER / name / "transcript.yaml").read_text())
    work = solving(tmp_path, *transcript["replies"], timeout_s=transcript.get("timeout_s", 30.0))
    outcome = await work.run(new(problem_in(FOLDER / name)))
    state = outcome.state
    assert len(work.model.requests) == len(transcript["replies"])
    dropped = [test for test in state.tests if test.status == "dropped"]
    assert (outcome.reason, outcome.error) == ("done", "")
    assert transcript["expected"] == {
        "passed": state.passed,
        "solutions": state.solutions,
        "against": list(checked_against(state)),
        "dropped": [last_line(test) for test in dropped],
    }


async def test_who_always_fails_is_told_which_test_and_why(tmp_path: Path) -> None:
    transcript = yaml.safe_load((FOLDER / "always_wrong" / "transcript.yaml").read_text())
    outcome = await solving(tmp_path, *transcript["replies"]).run(new(read_folder(FOLDER / "always_wrong")))
    told = result_text(outcome.state)
    assert told.startswith("It does not pass 2 of 2 given tests (4 solutions).\n  assert add(1, 2) == 3\n")
    assert "AssertionError: 3 is not 0" in told
