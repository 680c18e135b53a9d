"""The state of the work on a problem, and the file in the session's folder that stores it."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from terp.checks.solve.problem import AI, Pair, Problem, Test
from terp.errors import SessionError
from terp.secrets.redacting import redacted
from terp.settings.places import make_private

if TYPE_CHECKING:
    from terp.secrets.scrubbing import Scrubber

VERSION = 1
Step = Literal["solution", "tests", "check", "revise", "wait", "over"]
MORE = 2
"""Solutions that a person who comments may ask for beyond the limit."""


@dataclass(frozen=True, slots=True)
class State:
    """Everything between two steps.

    `step` is what comes next. `solutions` were written so far, of at most `most` (0: no limit). `complaint`
    is what was wrong with the last one. `former` is the solution before a revision that only a test without
    confirmation has asked for, `best` the last that passed all certain tests. `witness` says what confirms
    tests of the model, `code_of_witness` is that. `comment` is what the person wants besides, until the model
    has been told; `rounds` counts how often they wanted something. `notes` are told with the answer.
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
        """Whether no more solutions are asked for."""
        return 0 < self.most <= self.solutions

    @property
    def anchors(self) -> tuple[Test, ...]:
        """The tests that always have to pass."""
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
        """Whether all that counts has passed, and something does."""
        counting = [test.status for test in self.tests if test.counts]
        return bool(self.code and counting) and all(status == "passed" for status in counting)

    def unchecked(self, tests: tuple[Test, ...]) -> "State":
        """The same with these tests, all of which are to be run next, but for those that were dropped."""
        new = (test if test.status == "dropped" else replace(test, status="new", error="") for test in tests)
        return replace(self, step="check", tests=tuple(new))

    def with_note(self, note: str) -> "State":
        """The same, with one thing more to be told."""
        return replace(self, notes=(*self.notes, note))


def reopened(state: State) -> State:
    """The state, whose answer may be looked at again when all was over."""
    return replace(state, step="wait") if state.step == "over" else state


def begun(problem: Problem, most: int) -> State:
    """The state before anything was done."""
    return State(problem, most=most, tests=problem.given)


def to_json(state: State) -> dict[str, Any]:
    """The state as an object."""
    return {"version": VERSION, **asdict(state)}


def from_json(told: Mapping[str, Any]) -> State:
    """The state that `to_json` wrote.

    Raises:
        LookupError, TypeError, ValueError: it is none of this version.
    """
    if told["version"] != VERSION:
        raise ValueError(f"version {told['version']}")
    fields = {name: value for name, value in told.items() if name != "version"}
    problem = {**fields["problem"], "pairs": tuple(Pair(**pair) for pair in fields["problem"]["pairs"])}
    tests = tuple(
        Test(**{**test, "pair": Pair(**test["pair"]) if test["pair"] else None}) for test in fields["tests"]
    )
    return State(**{**fields, "problem": Problem(**problem), "tests": tests, "notes": tuple(fields["notes"])})


FILE_NAME = "solve.json"


def is_problem(folder: Path) -> bool:
    """Whether a session's folder holds a problem that is not over."""
    try:
        return read_state(folder).step != "over"
    except SessionError:
        return False


def write_state(folder: Path, state: State, scrubber: "Callable[[], Scrubber]") -> None:
    """Keep the state, in place of that before: whoever reads finds one of the two, whole.

    Raises:
        OSError: it cannot be written.
    """
    make_private(folder)
    text = json.dumps(redacted(to_json(state), scrubber()), ensure_ascii=True, indent=1)
    begun = folder / f"{FILE_NAME}.new"
    with begun.open("w", encoding="utf-8") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
    begun.replace(folder / FILE_NAME)


def read_state(folder: Path) -> State:
    """The state that is kept in a folder.

    Raises:
        SessionError: there is none, or it cannot be read.
    """
    try:
        return from_json(json.loads((folder / FILE_NAME).read_text(encoding="utf-8")))
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise SessionError(
            f"The session {folder.name} has no problem that can be gone on with ({error})."
        ) from error
