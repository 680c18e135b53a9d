"""The prompts of each phase of solving."""

from collections.abc import Sequence

from terp.checks.solve.problem import Problem, Test
from terp.text.fences import fenced
from terp.text.plain import counted

_SHOWN = 5
SYSTEM = (
    "You solve programming problems in Python. You have no tools: write code, which is run and tested for "
    "you. You may think in words first; only the marked code is taken."
)
_CODE = (
    "Put the whole solution between a line `===code-start===` and a line `===code-end===`, ready to run, "
    "without tests and without examples of its use."
)
_FUNCTION = (
    "Implement the interface and nothing but it, with its names and parameters as they are. What it changes "
    f"in place it has to change in place. {_CODE}"
)
_PROGRAM = f"Write a program that reads stdin and writes to stdout what is asked for, exactly that. {_CODE}"
_ASSERTS = (
    "Write tests for solutions of this problem; you do not see any. Each is one line `assert CALL == VALUE` "
    "that calls the interface, with a value that you have worked out from the description. Up to ten, no two "
    "alike: the smallest inputs, limits, repeats, whatever is easily forgotten. Put them between a line "
    "`===test-start===` and a line `===test-end===`, without anything else."
)
_PAIRS = (
    "Write tests for programs that solve this problem; you do not see any. Each is a fenced block `input` "
    "and a fenced block `output` after it, with what you have worked out from the description. Up to eight, "
    "no two alike: the smallest inputs, limits, repeats, whatever is easily forgotten."
)
_BRUTE_FORCE = (
    "Solve this problem in the simplest way that is certainly right: by trying everything, or by doing "
    "literally what the description says. Speed does not matter, as it will only see small inputs."
)
_INDEPENDENT = "Solve this problem, and go through the examples by hand before you write it down."


def first(problem: Problem) -> str:
    """Ask for the first solution."""
    return f"Solve: {problem.name}\n\n{_description(problem)}\n\n{_how(problem)}"


def without_code(problem: Problem) -> str:
    """Ask again after a reply that had no code."""
    marks = "between `===code-start===` and `===code-end===`"
    return f"Your reply had no code {marks}, so nothing could be tested.\n{_how(problem)}"


def failed(broken: Sequence[Test], comment: str, *, again: bool) -> str:
    """Ask for a revision of a solution that has failed, `again` in the same way as the one before."""
    parts = [f"Your solution has not passed {counted(len(broken), 'test')}."]
    parts += [_failure(test) for test in broken[:_SHOWN]]
    if again:
        parts.append("This is the same failure as before: find another way.")
    if comment:
        parts.append(f"The person who asked says besides:\n{comment}")
    parts.append(f"Find what is wrong in the solution, and write all of it again. {_CODE}")
    return "\n\n".join(parts)


def commented(comment: str) -> str:
    """Ask for a revision of a solution that has passed its tests, after a comment of the user."""
    return (
        "Your solution passes all of its tests. The person who asked has looked at it, and says:\n"
        f"{comment}\n\n"
        f"Change it as they wish, and keep the tests passing. {_CODE}"
    )


def doubtful(broken: Sequence[Test]) -> str:
    """Ask about failed tests without confirmation: the mistake may be in them."""
    parts = [
        "Your solution passes the tests that are certain. These were written from the description alone:"
    ]
    parts += [_failure(test) for test in broken[:_SHOWN]]
    parts.append(
        "The mistake can be in the test as well. If the description says that the test is right, correct the "
        f"solution; else give it back as it is. {_CODE}"
    )
    return "\n\n".join(parts)


def tests(problem: Problem) -> str:
    """Ask for tests, without showing a solution."""
    return f"{_description(problem)}\n\n{_PAIRS if problem.is_program else _ASSERTS}"


def witness(problem: Problem, *, brute_force: bool) -> str:
    """Ask for another solution that can confirm tests: by brute force, or an independent one."""
    return f"{_BRUTE_FORCE if brute_force else _INDEPENDENT}\n\n{_description(problem)}\n\n{_how(problem)}"


def _how(problem: Problem) -> str:
    return _PROGRAM if problem.is_program else _FUNCTION


def _description(problem: Problem) -> str:
    given = {"Description": problem.description, "Examples": problem.example}
    parts = [f"{name}:\n{text.strip()}" for name, text in given.items() if text.strip()]
    if problem.interface.strip():
        parts.append(f"Interface:\n{fenced(problem.interface.strip(), 'python')}")
    return "\n\n".join(parts)


def _failure(test: Test) -> str:
    return f"{fenced(test.shown, 'python' if test.pair is None else '')}\n{fenced(test.error.strip())}"
