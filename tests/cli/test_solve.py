"""`terp solve`: the real program, real confined tests, and a person at a terminal."""

import json
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.running import Result, Terp, said, to
from tests.cli.teletype import Teletype
from tests.core.checks.solve.solving import RIGHT, WRONG, adding, asserting
from tests.loopback import Call, Loopback, Scripted

FILES = {
    "DESCRIPTION": "Add two numbers.",
    "EXAMPLE": "add(1, 2) is 3.",
    "INTERFACE": "def add(a: int, b: int) -> int: ...",
    "TEST": "assert add(1, 2) == 3\nassert add(2, 2) == 4\n",
}
CODE = "def add(a, b):\n    return a + b\n"
NO_TESTS = "I have none."
ASSERTS = "More asserts"
COMMENT = "A comment on the solution (Enter: none):"


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    made = Terp(tmp_path)
    (made.cwd / "adding").mkdir()
    for name, text in FILES.items():
        (made.cwd / "adding" / name).write_text(text)
    return made


def at_terminal(terp: Terp, server: Loopback, *arguments: str) -> Teletype:
    command = [sys.executable, "-m", "terp_cli", *to(server), *arguments]
    return Teletype(command, terp.cwd, terp.environ)


def sessions(terp: Terp) -> Sequence[Path]:
    return sorted((terp.home / "sessions").iterdir())


def test_the_solution_is_on_stdout_with_what_it_was_checked_against(terp: Terp) -> None:
    script: list[Scripted] = [adding(WRONG), adding(RIGHT), asserting("assert add(0, 5) == 5"), adding(RIGHT)]
    result = terp.asked(script, "solve", "adding")
    assert (result.code, result.out) == (
        0,
        f"{CODE}\n# It passes 2 given tests and 1 test of the model that a brute-force solution\n"
        "# confirms (2 solutions). Please verify it: tests do not prove it right.\n",
    )
    assert result.notes.splitlines()[1:] == [
        "=== Writing a solution (1 of 4) ===",
        "=== Checking against the given tests ===",
        "=== Revising the solution (2 of 4) ===",
        "=== Checking against the given tests ===",
        "=== Writing tests, from the description alone ===",
        "=== Asking for a brute-force solution, to confirm the tests ===",
        "=== Checking against tests of the model ===",
    ]
    assert "AssertionError: 2 is not 3" in said(result.requests[1])[-1][1]


def test_what_never_passes_ends_with_1_after_four_solutions(terp: Terp) -> None:
    result = terp.asked([adding(WRONG)] * 4, "solve", "adding")
    assert (result.code, len(result.requests)) == (1, 4)
    assert "# It does not pass 1 of 2 given tests (4 solutions).\n#   assert add(1, 2) == 3\n" in result.out


def test_json_has_every_test_and_what_it_came_to(terp: Terp) -> None:
    script: list[Scripted] = [[Call(code=CODE)], asserting("assert add(1, 1) == 3"), adding(RIGHT)]
    result = terp.asked(script, "solve", "adding", "--json")
    told = json.loads(result.out)
    assert (result.code, told["solution"], told["passed"], told["revisions"]) == (0, CODE, True, 1)
    assert told["checked_against"] == ["2 given tests"]
    assert [(one["source"], one["code"], one["status"]) for one in told["tests"]] == [
        ("given", "assert add(1, 2) == 3", "passed"),
        ("given", "assert add(2, 2) == 4", "passed"),
        ("ai", "assert add(1, 1) == 3", "dropped"),
    ]


def test_a_problem_may_come_in_on_stdin(terp: Terp) -> None:
    problem = "Double the number.\n\n```input\n4\n```\n```output\n8\n```\n"
    result = terp.asked(["```python\nprint(2 * int(input()))\n```", NO_TESTS], "solve", "-", data=problem)
    assert result.code == 0
    assert result.out.startswith("print(2 * int(input()))\n\n# It passes 1 given test (1 solution).")


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ("./nowhere", "there is no problem './nowhere': no such folder or file."),
        ("some.txt", "'some.txt' is no problem: a problem is a folder, a .md or .py file, or - for stdin."),
        ("large.md", "large.md is larger than 10 KB: it is no file of a problem."),
        ("adding", "adding has no INTERFACE, TEST: it needs DESCRIPTION, EXAMPLE, INTERFACE and TEST"),
    ],
)
def test_what_is_no_problem_is_told_before_the_model_is_asked(terp: Terp, argument: str, why: str) -> None:
    (terp.cwd / "some.txt").write_text("x")
    (terp.cwd / "large.md").write_text("x" * 11_000)
    for name in ("INTERFACE", "TEST"):
        (terp.cwd / "adding" / name).unlink()
    result = terp.asked([], "solve", argument)
    assert (result.code, result.out, result.requests) == (2, "", [])
    assert why in result.notes


def test_a_person_adds_asserts_and_comments_until_both_are_empty(terp: Terp) -> None:
    script: list[Scripted] = [adding(RIGHT), NO_TESTS, adding("return b + a")]
    with Loopback(script) as server, at_terminal(terp, server, "solve", "adding") as terminal:
        terminal.until(ASSERTS)
        terminal.types("assert add(5, 5) == 10\rassert add(0, 0) == 0\r\r\r")
        terminal.until(COMMENT)
        terminal.types("The other way round, please.\r")
        assert "Revising the solution (2 of 6)" in terminal.until(ASSERTS)
        terminal.types("assert add(7, 0) == 7\r\r\r")
        terminal.until(COMMENT)
        terminal.types("\r")
        shown = terminal.until(ASSERTS)
        terminal.types("\r")
        terminal.until(COMMENT)
        terminal.types("\r")
        assert terminal.over()[1] == 0
        assert "2 given tests and 3 tests of yours" in shown
    assert "The other way round, please." in said(server.requests[2])[-1][1]
    assert "Your solution passes all of its tests." in said(server.requests[2])[-1][1]


@pytest.mark.parametrize("verb", [(), ("solve",)])
def test_a_question_is_asked_again_after_terp_was_killed(terp: Terp, verb: tuple[str, ...]) -> None:
    with Loopback([adding(RIGHT), NO_TESTS]) as server:
        with at_terminal(terp, server, "solve", "adding") as terminal:
            terminal.until(ASSERTS)
            terminal.types("assert add(5, 5) == 10\r\r\r")
            terminal.until(COMMENT)
            terminal.types("\r")
            terminal.until(ASSERTS)
            terminal.kill()
        [folder] = sessions(terp)
        shutil.rmtree(terp.cwd / "adding")
        with at_terminal(terp, server, *verb, "-r", folder.name) as terminal:
            shown = terminal.until(ASSERTS)
            terminal.types("\r")
            terminal.until(COMMENT)
            terminal.types("\r")
            assert terminal.over()[1] == 0
    assert "2 given tests and 1 test of yours" in shown
    assert len(server.requests) == 2
    state = json.loads((folder / "solve.json").read_text())
    assert (state["step"], state["solutions"], state["most"], state["rounds"]) == ("over", 1, 6, 1)


def test_an_answer_can_be_looked_at_again_when_all_is_over(terp: Terp) -> None:
    first = terp.asked([adding(RIGHT), NO_TESTS], "solve", "adding")
    [folder] = sessions(terp)
    again = terp.asked([], "solve", "-r", folder.name)
    assert (again.code, again.out, again.requests) == (0, first.out, [])


def test_each_event_is_a_line_and_the_result_the_last(terp: Terp) -> None:
    result = terp.asked([adding(RIGHT), NO_TESTS], "solve", "adding", "--output-format", "stream-json")
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert (lines[0]["event"], lines[-1]["passed"]) == ("turn_started", True)
    assert [one["event"] for one in lines[:-1]].count("turn_finished") == 1


def test_ctrl_c_leaves_a_question_that_can_be_gone_on_with(terp: Terp) -> None:
    script: list[Scripted] = [adding(RIGHT), NO_TESTS]
    with Loopback(script) as server, at_terminal(terp, server, "solve", "adding") as terminal:
        terminal.until(ASSERTS)
        terminal.kill(signal.SIGINT)
        shown, code = terminal.over()
    [folder] = sessions(terp)
    assert (code, f"resume with: terp solve -r {folder.name}" in shown) == (130, True)


def test_a_recording_solves_the_problem_again_without_a_model(terp: Terp) -> None:
    script: list[Scripted] = [adding(WRONG), adding(RIGHT), asserting("assert add(0, 5) == 5"), adding(RIGHT)]
    first = terp.asked(script, "solve", "adding", "--record", "calls.jsonl")
    again = terp.asked([], "solve", "adding", "--replay", "calls.jsonl")
    assert (again.code, again.out, again.notes) == (0, first.out, first.notes)
    assert again.requests == []


def test_a_step_that_the_model_did_not_answer_is_done_again(terp: Terp) -> None:
    first = terp.asked([adding(WRONG)], "solve", "adding")
    [folder] = sessions(terp)
    assert (first.code, f"resume with: terp solve -r {folder.name}" in first.notes) == (1, True)
    result: Result = terp.asked([adding(RIGHT), NO_TESTS], "solve", "-r", folder.name)
    assert (result.code, result.out.startswith(CODE)) == (0, True)
    assert [role for role, _ in said(result.requests[0])] == ["system", "user", "assistant", "user"]


def test_tests_are_confined_whatever_the_code_of_a_session_may_do(terp: Terp) -> None:
    reaching = adding(f"open({str(terp.cwd / 'written')!r}, 'w'); return a + b")
    result = terp.asked([reaching, adding(RIGHT), NO_TESTS], "solve", "adding", "--sandbox", "off")
    assert (result.code, "(2 solutions)" in result.out) == (0, True)
    assert result.notes.splitlines()[0].endswith(" without network ===")
    assert not (terp.cwd / "written").exists()
