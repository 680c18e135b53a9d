"""`watch` of a call: the real program, a real kernel."""

from pathlib import Path

from tests.cli.running import Terp
from tests.loopback import Call, Scripted


def test_a_broken_condition_of_a_call_ends_it_with_1(tmp_path: Path) -> None:
    calls: list[Scripted] = [Call(code="xs = [1, 2, 3]"), Call(code="xs.pop();"), "never read"]
    result = Terp(tmp_path).asked(calls, "-y", "--watch-condition", "len(xs) > 2", "go")
    assert (result.code, result.out) == (1, "")
    assert "Watch: len(xs) > 2 does not hold: len(xs) is 2." in result.notes
