from dataclasses import replace
from pathlib import Path

from terp.events import Answered, Asked, CodeFinished, CodeStarted, Event, KernelChanged, Printed
from terp.events.outputs import Display, InputRequest, Text
from terp.session.proposals import digest_of
from terp.session.replay.source import is_whole, session_runs
from tests.core.store.export.scripted import proposed, ran


def test_lines_that_were_typed_are_part_of_a_run() -> None:
    events: list[Event] = [
        proposed("c1", "name = input()"),
        CodeStarted("c1", 1),
        Printed("c1", InputRequest("Name? ")),
        Asked("q1", "input", "Name? "),
        Answered("q1", "Ada", "the person"),
        CodeFinished("c1", "ok", 1.0),
    ]
    (run,) = session_runs(events)
    assert (run.outputs, run.answers) == ((Text("stdout", "Name? Ada\n"),), ["Ada"])


def test_code_is_whole_when_its_digest_is_that_of_what_was_shown() -> None:
    _, *rest = ran("c1", "1")
    asked: list[Event] = [proposed("c1", "1")]
    asked += rest
    assert not is_whole(session_runs(asked)[0])
    shown = replace(proposed("c1", "1"), digest=digest_of("1"))
    [run] = session_runs([shown, *rest])
    assert (run.language, run.code, is_whole(run), run.fate) == ("python", "1", True, "ok")


def test_calls_with_the_same_id_are_different_runs() -> None:
    assert [run.code for run in session_runs([*ran("c1", "1"), *ran("c1", "2")])] == ["1", "2"]


def test_a_rerun_is_no_run_of_the_session() -> None:
    assert session_runs(ran("rerun-7-1", "1")) == []


def test_a_picture_is_read_from_beside_the_log(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "1-1.png").write_bytes(b"picture")
    (run,) = session_runs(ran("c1", "plot()", Display({}, path="/elsewhere/1-1.png")), tmp_path)
    assert run.outputs == (Display({"image/png": "cGljdHVyZQ=="}, path="/elsewhere/1-1.png"),)


def test_a_restart_is_known_from_the_next_run_of_its_language() -> None:
    events = [
        *ran("c1", "1"),
        KernelChanged("python", "restarted", "asked"),
        *ran("c2", "ls", language="shell"),
        *ran("c3", "2"),
        *ran("c4", "3"),
    ]
    assert [run.after_restart for run in session_runs(events)] == [False, False, True, False]


def test_a_rerun_after_a_restart_undoes_it() -> None:
    events = [
        *ran("c1", "1"),
        KernelChanged("python", "stopped", ""),
        *ran("rerun-9-1", "1"),
        *ran("c2", "2"),
    ]
    assert [run.after_restart for run in session_runs(events)] == [False, False]
