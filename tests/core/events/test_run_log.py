"""The runs of a session by their numbers."""

from pathlib import Path

import pytest

from terp.errors import UnknownRun
from terp.events import (
    Answered,
    Asked,
    CodeFinished,
    CodeProposed,
    CodeStarted,
    Event,
    KernelChanged,
    Printed,
    SessionResumed,
)
from terp.events.log import EventLog
from terp.events.outputs import BackCall, Display, FileChange, InputRequest, RunItem, Text, VariableChange
from terp.events.run_log import LoggedRun, RunLog
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


def facts(run: LoggedRun) -> tuple[object, ...]:
    return (run.number, run.call_id, run.language, run.code, run.fate, run.seconds, run.output_path)


def test_runs_have_their_number_and_what_they_left() -> None:
    runs = RunLog.of(EVENTS).started
    assert [facts(run) for run in runs] == [
        (1, "c1", "python", "x", "ok", 0.5, "/s/c1.txt"),
        (2, "c2", "shell", "ls", "error", 0.1, ""),
        (3, "c3", "python", "wait()", "running", 0.0, ""),
    ]
    assert [run.images for run in runs] == [["/s/c1-1.png"], [], []]


def test_a_run_that_the_end_of_terp_broke_off_has_died_when_the_session_is_resumed() -> None:
    [*_, last] = RunLog.of([*EVENTS, SessionResumed("s", 1, True)]).started
    assert (last.number, last.fate) == (3, "died")


def test_a_log_is_read_on_from_the_last_look() -> None:
    log = EventLog()
    runs = RunLog(log)
    seen = []
    for event in EVENTS:
        log.append(event)
        seen.append(len(runs.started))
    assert seen == [0, 1, 1, 1, 1, 2, 2, 2, 3]
    assert [facts(run) for run in runs.all] == [facts(run) for run in RunLog(log).all]


def test_a_file_that_is_renamed_or_gone_again_is_none_that_runs_have_left() -> None:
    changes = [
        [FileChange("/w/a", "created"), FileChange("/w/b", "created")],
        [FileChange("/w/a", "modified"), FileChange("/w/c", "moved", source="/w/b")],
        [FileChange("/w/d", "created")],
        [FileChange("/w/d", "deleted"), FileChange("/w/e", "deleted")],
    ]
    files = RunLog.of(CodeFinished("c1", "ok", 0.1, tuple(each)) for each in changes).files
    assert [(path, change.action) for path, change in files.items()] == [
        ("/w/a", "created"),
        ("/w/c", "moved"),
        ("/w/e", "deleted"),
    ]


def test_names_end_with_the_kernel_of_their_language() -> None:
    def bound(call_id: str, language: str, name: str) -> list[Event]:
        return [
            CodeProposed(call_id, language, name, "d", "/w", 1, "none"),
            CodeStarted(call_id, 1),
            CodeFinished(call_id, "ok", 0.1, changes=(VariableChange(name, "new"),)),
        ]

    events = [*bound("c1", "python", "x"), *bound("c2", "r", "y"), KernelChanged("python", "died")]
    names = RunLog.of(events).names
    assert (names.of("python"), names.of("r"), names.lost, names.ended_at("python")) == ([], ["y"], {"x"}, 7)


@pytest.mark.parametrize(("number", "found"), [(1, 1), (2, 2), (-1, 2), (-2, 1)])
def test_a_run_that_is_over_is_found(number: int, found: int) -> None:
    assert RunLog.of(EVENTS).find(number).number == found


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (9, "There is no run 9. There are 1, 2."),
        (3, "Run 3 is still running. There are 1, 2."),
        (0, "There is no run 0. There are 1, 2."),
        (-5, "There is no run -5. There are 1, 2."),
    ],
)
def test_a_run_that_is_not_there_is_an_error_that_names_those_that_are(number: int, said: str) -> None:
    with pytest.raises(UnknownRun, match=said):
        RunLog.of(EVENTS).find(number)
    with pytest.raises(UnknownRun, match="No run of this session is over"):
        RunLog().find(number)


async def test_a_session_counts_its_runs_and_keeps_what_they_put_out(tmp_path: Path) -> None:
    displayed: list[RunItem] = [Text("stdout", "seen\n"), Display({"text/plain": "42"}, is_result=True)]
    kernel = EchoKernel({"show": displayed})
    session = open_session(tmp_path, ScriptedModel([call("a")], [call("show")]), kernel)
    events = await collect(session, "go")
    await kernel.restart()
    assert [started.execution_count for started in of(CodeStarted, events)] == [1, 2]
    runs = RunLog.of(events)
    assert Path(runs.find(2).output_path).name == "2.txt"
    assert Path(runs.find(2).output_path).read_text() == "seen\n42\n"
    assert [run.code for run in runs.started] == ["a", "show"]


async def test_code_can_ask_for_what_an_earlier_run_put_out(tmp_path: Path) -> None:
    replies = {"ask": [BackCall("run_output", {"number": 1}), BackCall("run_output", {"number": 2})]}
    kernel = EchoKernel(replies)
    session = open_session(tmp_path, ScriptedModel([call("first")], [call("ask")]), kernel)
    await collect(session, "go")
    path = str(tmp_path / "session" / "outputs" / "1.txt")
    answer = {"number": 1, "path": path, "status": "ok", "language": "python", "images": []}
    assert kernel.answers == [(answer, ""), (None, "Run 2 is still running. There are 1.")]
    assert results(session)[0] == "first"


def wants(call_id: str, prompt: str) -> Printed:
    return Printed(call_id, InputRequest(prompt, secret=False))


def typed_for(*events: Event) -> list[list[str]]:
    """The lines that runs c1 and c2 were given, when each question is answered by its id."""
    answers = [Answered("q1", "1", "person"), Answered("q2", "2", "person")]
    begun = [each for call_id in ("c1", "c2") for each in ran(call_id)]
    runs = RunLog.of([*begun, *events, *answers]).started
    return [run.answers for run in runs]


def ran(call_id: str) -> list[Event]:
    return [CodeProposed(call_id, "python", "input()", "d", "/w", 1, "none"), CodeStarted(call_id, 1)]


def test_a_line_is_of_the_run_that_wanted_it() -> None:
    asked = [Asked("q1", "input", "a? "), Asked("q2", "approval", "c2")]
    assert typed_for(wants("c1", "a? "), *asked) == [["1"], []]


def test_a_job_that_had_to_wait_with_its_question_is_known_by_its_prompt() -> None:
    assert typed_for(
        wants("c1", "a? "),
        wants("c2", "b? "),
        Asked("q1", "input", "b? "),
        Asked("q2", "input", "[job 1, python] a? "),
    ) == [["2"], ["1"]]


def test_a_question_without_words_is_not_taken_for_that_of_another_run() -> None:
    assert typed_for(
        wants("c1", ""),
        wants("c2", "b? "),
        Asked("q1", "input", "b? "),
        Asked("q2", "input", "[job 1, python] "),
    ) == [["2"], ["1"]]
