"""The state of the work on a problem, the file in the session's folder that stores it, and its report."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from terp.checks.solve.problem import AI, Pair, Problem, Test
from terp.errors import SessionError
from terp.text.dataclasses import asdict, dataclass, replace
from terp.text.files import make_private, write_whole
from terp.text.plain import counted

if TYPE_CHECKING:
    from terp.secrets.redactor import Redactor

VERSION = 1
Step = Literal["solution", "tests", "check", "revise", "wait", "over"]
MORE = 2
"""Solutions beyond the limit that each comment of the user allows."""


@dataclass(frozen=True, slots=True)
class State:
    """The work on a problem between two steps.

    `step` is the next one. `solutions` is the number of solutions so far, of at most `most` (0: no limit).
    `complaint` is the fault of the last solution. `former` is the solution before a revision that only a test
    without confirmation has caused, `best` the last one that passed all anchors. `witness` describes the
    solution that confirms tests of the model, `code_of_witness` is its code. `comment` is the user's, until
    it is sent to the model; `rounds` counts the reviews with comments or asserts. `notes` are shown with the
    answer.
    """

    problem: Problem
    step: Step = "solution"
    code: str = ""
    complaint: str = ""
    solutions: int = 0
    most: int = 4
    tests: tuple[Test, ...] = ()
    asked_for_tests: bool = False
    witness: str = ""
    code_of_witness: str = ""
    former: str = ""
    best: str = ""
    comment: str = ""
    rounds: int = 0
    notes: tuple[str, ...] = ()

    @property
    def is_exhausted(self) -> bool:
        """True if the limit of solutions is reached."""
        return 0 < self.most <= self.solutions

    @property
    def anchors(self) -> tuple[Test, ...]:
        """The tests of the problem and of the user, which every solution has to pass."""
        return tuple(test for test in self.tests if test.is_anchor)

    @property
    def of_model(self) -> tuple[Test, ...]:
        """The tests that the model has written."""
        return tuple(test for test in self.tests if test.source == AI)

    @property
    def broken(self) -> tuple[Test, ...]:
        """The tests that count and have failed."""
        return tuple(test for test in self.tests if test.counts and test.has_failed)

    @property
    def passed(self) -> bool:
        """True if there are tests that count, and all of them have passed."""
        counting = [test.status for test in self.tests if test.counts]
        return bool(self.code and counting) and all(status == "passed" for status in counting)

    def unchecked(self, tests: tuple[Test, ...]) -> "State":
        """Return the state with these tests, to be run next; dropped ones stay dropped."""
        new = (test if test.status == "dropped" else replace(test, status="new", error="") for test in tests)
        return replace(self, step="check", tests=tuple(new))

    def with_note(self, note: str) -> "State":
        """Return the state with one more note for the answer."""
        return replace(self, notes=(*self.notes, note))


def reopened(state: State) -> State:
    """Return the state; if it was over, its answer is reviewed again."""
    return replace(state, step="wait") if state.step == "over" else state


def first_state(problem: Problem, most: int) -> State:
    """Return the state of a problem before the first step."""
    return State(problem, most=most, tests=problem.given)


def to_json(state: State) -> dict[str, Any]:
    """Return the state as a JSON object."""
    return {"version": VERSION, **asdict(state)}


def from_json(stored: Mapping[str, Any]) -> State:
    """Return the state that `to_json` wrote.

    Raises:
        LookupError, TypeError, ValueError: it is no state, or one of another version.
    """
    if stored["version"] != VERSION:
        raise ValueError(f"version {stored['version']}")
    fields = {name: value for name, value in stored.items() if name != "version"}
    problem = {**fields["problem"], "pairs": tuple(Pair(**pair) for pair in fields["problem"]["pairs"])}
    tests = tuple(
        Test(**{**test, "pair": Pair(**test["pair"]) if test["pair"] else None}) for test in fields["tests"]
    )
    return State(**{**fields, "problem": Problem(**problem), "tests": tests, "notes": tuple(fields["notes"])})


FILE_NAME = "solve.json"


def is_problem(folder: Path) -> bool:
    """Return True if a session's folder holds a problem that is not over."""
    try:
        return read_state(folder).step != "over"
    except SessionError:
        return False


def write_state(folder: Path, state: State, redactor: "Callable[[], Redactor]") -> None:
    """Store the state in place of the previous one; a reader finds one of the two, complete.

    Raises:
        OSError: it cannot be written.
    """
    make_private(folder)
    text = json.dumps(redactor().redacted_fields(to_json(state)), ensure_ascii=True, indent=1)
    write_whole(folder / FILE_NAME, f"{text}\n".encode())


def read_state(folder: Path) -> State:
    """Read the state that is stored in a folder.

    Raises:
        SessionError: there is none, or it cannot be read.
    """
    try:
        return from_json(json.loads((folder / FILE_NAME).read_text(encoding="utf-8")))
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise SessionError(
            f"The session {folder.name} has no problem that can be resumed ({error})."
        ) from error


_SHOWN = 3


def checked_against(state: State) -> tuple[str, ...]:
    """Return the tests that the solution has passed, as phrases by origin; empty if none of them counts."""
    own = [test for test in state.tests if test.counts and test.status == "passed"]
    named = {
        "given": "given test{s}",
        "human": "test{s} of yours",
        "ai": f"test{{s}} of the model that {state.witness} confirms",
    }
    found: list[str] = []
    for source, words in named.items():
        if number := sum(test.source == source for test in own):
            found.append(f"{number} {words.format(s='' if number == 1 else 's')}")
    return tuple(found)


def result_json(state: State) -> dict[str, Any]:
    """Return the result as a JSON object."""
    return {
        "problem": state.problem.name,
        "solution": state.code,
        "passed": state.passed,
        "tests": [_test(test) for test in state.tests],
        "revisions": state.solutions,
        "checked_against": list(checked_against(state)),
        "notes": list(state.notes),
    }


def result_text(state: State) -> str:
    """Return the result in lines for the user."""
    return "\n".join(_result_lines(state))


def _result_lines(state: State) -> Iterator[str]:
    if not state.code:
        yield f"There is no solution: none of {counted(state.solutions, 'attempt')} had code in it."
        return
    yield from _verdict(state)
    yield from _dropped(state)
    doubtful = [test for test in state.of_model if test.is_doubtful]
    if doubtful:
        passed = sum(test.status == "passed" for test in doubtful)
        yield f"Nothing confirms {counted(len(doubtful), 'test')} of the model; it passes {passed} of them."
        yield from _each([test for test in doubtful if test.has_failed])
    yield from state.notes


def _verdict(state: State) -> Iterator[str]:
    against = checked_against(state)
    tried = counted(state.solutions, "solution")
    if state.passed:
        yield f"It passes {_joined(against)} ({tried}). Please verify it: tests do not prove it right."
    elif not any(test.counts for test in state.tests):
        yield f"It was checked against nothing that counts ({tried}): please verify it."
    else:
        names = {"given": "given", "human": "your", "ai": "confirmed"}
        counting = [test for test in state.tests if test.counts]
        failed = {source: [test for test in state.broken if test.source == source] for source in names}
        parts = [
            f"{len(tests)} of {sum(one.source == source for one in counting)} {names[source]} tests"
            for source, tests in failed.items()
            if tests
        ]
        yield f"It does not pass {_joined(parts) or 'all of its tests'} ({tried})."
        yield from _each(state.broken)


def _dropped(state: State) -> Iterator[str]:
    for test in state.tests:
        if test.status == "dropped":
            yield f"Dropped test of the model: {last_line(test)}"
            yield f"  {test.error}"


def _each(tests: Sequence[Test]) -> Iterator[str]:
    for test in tests[:_SHOWN]:
        yield from (f"  {line}" for line in test.shown.splitlines())
        yield from (f"    {line}" for line in test.error.strip().splitlines())
    if len(tests) > _SHOWN:
        yield f"  and {len(tests) - _SHOWN} more"


def last_line(test: Test) -> str:
    """Return the last line of a test, or its input."""
    return test.code.splitlines()[-1] if test.pair is None else repr(test.pair.input.rstrip())


def _test(test: Test) -> dict[str, Any]:
    return {
        "source": test.source,
        "code": test.shown,
        "status": test.status,
        "error": test.error,
        "confirmed": test.is_anchor or test.confirmed,
    }


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
