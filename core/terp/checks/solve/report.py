"""What came of a problem: for a person, and as an object for a program."""

from collections.abc import Iterator, Sequence
from typing import Any

from terp.checks.solve.problem import Test
from terp.checks.solve.state import State

_SHOWN = 3


def checked_against(state: State) -> tuple[str, ...]:
    """What the solution has passed, by origin; empty where nothing that counts was run."""
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


def as_json(state: State) -> dict[str, Any]:
    """The result as an object."""
    return {
        "problem": state.problem.name,
        "solution": state.code,
        "passed": state.passed,
        "tests": [_test(test) for test in state.tests],
        "revisions": state.solutions,
        "checked_against": list(checked_against(state)),
        "notes": list(state.notes),
    }


def told(state: State) -> str:
    """The result in lines for a person."""
    return "\n".join(_lines(state))


def _lines(state: State) -> Iterator[str]:
    if not state.code:
        yield f"There is no solution: none of {_count(state.solutions, 'reply', 'replies')} had code in it."
        return
    yield from _verdict(state)
    yield from _dropped(state)
    doubtful = [test for test in state.of_model if test.is_doubtful]
    if doubtful:
        passed = sum(test.status == "passed" for test in doubtful)
        yield f"Nothing confirms {_count(len(doubtful), 'test')} of the model; it passes {passed} of them."
        yield from _each([test for test in doubtful if test.has_failed])
    yield from state.notes


def _verdict(state: State) -> Iterator[str]:
    against = checked_against(state)
    tried = _count(state.solutions, "solution")
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
    """The line of a test that says something."""
    return test.code.splitlines()[-1] if test.pair is None else repr(test.pair.input.rstrip())


def _test(test: Test) -> dict[str, Any]:
    return {
        "source": test.source,
        "code": test.shown,
        "status": test.status,
        "error": test.error,
        "confirmed": test.is_anchor or test.confirmed,
    }


def _count(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
