"""The runs of a session by their numbers."""

from pathlib import Path

import pytest

from terp.errors import UnknownRun
from terp.events import CodeFinished, CodeProposed, CodeStarted, Event, Printed, SessionResumed
from terp.events.outputs import BackCall, Display, RunItem, Text
from terp.session.past_runs import PastRun, find_run, past_runs
from terp.testing import EchoKernel, ScriptedModel, call, collect
from tests.core.sessions import of, open_session, results

EVENTS: list[Event] = [
    CodeProposed("c1", "python", "x", "d", "/w", 1, "none"),
    CodeStarted("c1", 1),
    Printed("c1", Display({"image/png": ""}, path="/s/c1-1.png")),
    CodeFinished("c1", "ok", 0.5, output_path="/s/c1.txt"),
    CodeProposed("c2", "shell", "ls", "d", "/w", 1, "none"),
    CodeStarted("c2", 2),
    CodeFinished("c2", "error", 0.1),
    CodeProposed("c3", "python", "wait()", "d", "/w", 1, "none"),
    CodeStarted("c3", 3),
]


def test_runs_are_told_by_number_with_what_they_left() -> None:
    assert past_runs(EVENTS) == [
        PastRun(1, "c1", "python", "x", "ok", 0.5, "/s/c1.txt", ("/s/c1-1.png",)),
        PastRun(2, "c2", "shell", "ls", "error", 0.1),
        PastRun(3, "c3", "python", "wait()"),
    ]


def test_a_run_that_the_end_of_terp_broke_off_has_died_when_the_session_goes_on() -> None:
    [*_, last] = past_runs([*EVENTS, SessionResumed("s", 1, True)], lambda number: f"/s/{number}.txt")
    assert last == PastRun(3, "c3", "python", "wait()", "died", path="/s/3.txt")


@pytest.mark.parametrize(("number", "found"), [(1, 1), (2, 2), (-1, 2), (-2, 1)])
def test_a_run_that_is_over_is_found(number: int, found: int) -> None:
    assert find_run(past_runs(EVENTS), number).number == found


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (9, "There is no run 9. There are 1, 2."),
        (3, "Run 3 is still going on. There are 1, 2."),
        (0, "There is no run 0. There are 1, 2."),
        (-5, "There is no run -5. There are 1, 2."),
    ],
)
def test_a_run_that_is_not_there_is_told_with_those_that_are(number: int, said: str) -> None:
    with pytest.raises(UnknownRun, match=said):
        find_run(past_runs(EVENTS), number)
    with pytest.raises(UnknownRun, match="No run of this session is over"):
        find_run([], number)


async def test_a_session_counts_its_runs_and_keeps_what_they_put_out(tmp_path: Path) -> None:
    displayed: list[RunItem] = [Text("stdout", "seen\n"), Display({"text/plain": "42"}, is_result=True)]
    kernel = EchoKernel({"show": displayed})
    session = open_session(tmp_path, ScriptedModel([call("a")], [call("show")]), kernel)
    events = await collect(session, "go")
    await kernel.restart()
    assert [started.execution_count for started in of(CodeStarted, events)] == [1, 2]
    runs = past_runs(events)
    assert Path(find_run(runs, 2).path).name == "2.txt"
    assert Path(find_run(runs, 2).path).read_text() == "seen\n42\n"
    assert [run.code for run in runs] == ["a", "show"]


async def test_code_can_ask_for_what_an_earlier_run_put_out(tmp_path: Path) -> None:
    replies = {"ask": [BackCall("run_output", {"number": 1}), BackCall("run_output", {"number": 2})]}
    kernel = EchoKernel(replies)
    session = open_session(tmp_path, ScriptedModel([call("first")], [call("ask")]), kernel)
    await collect(session, "go")
    path = str(tmp_path / "session" / "outputs" / "1.txt")
    answer = {"number": 1, "path": path, "status": "ok", "language": "python", "images": []}
    assert kernel.answers == [(answer, ""), (None, "Run 2 is still going on. There are 1.")]
    assert results(session)[0] == "first"
