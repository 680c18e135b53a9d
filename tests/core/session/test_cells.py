from dataclasses import replace
from pathlib import Path

from terp.events import Answered, Asked, CodeFinished, CodeStarted, Event, KernelChanged, Printed
from terp.events.outputs import Display, InputRequest, Text
from terp.session.cells import Cell, cells
from terp.session.proposals import digest_of
from tests.core.store.export.scripted import proposed, ran


def test_lines_that_were_typed_are_part_of_a_cell() -> None:
    events: list[Event] = [
        proposed("c1", "name = input()"),
        CodeStarted("c1", 1),
        Printed("c1", InputRequest("Name? ")),
        Asked("q1", "input", "Name? "),
        Answered("q1", "Ada", "the person"),
        CodeFinished("c1", "ok", 1.0),
    ]
    (cell,) = cells(events)
    assert (cell.outputs, cell.answers) == ((Text("stdout", "Name? Ada\n"),), ("Ada",))


def test_a_cell_is_whole_when_its_digest_is_that_of_what_was_shown() -> None:
    _, *rest = ran("c1", "1")
    asked: list[Event] = [proposed("c1", "1")]
    asked += rest
    assert not cells(asked)[0].whole
    shown = replace(proposed("c1", "1"), digest=digest_of("1"))
    assert cells([shown, *rest]) == [Cell("python", "1", (), True, "ok")]


def test_calls_that_are_counted_anew_are_cells_of_their_own() -> None:
    assert [cell.code for cell in cells([*ran("c1", "1"), *ran("c1", "2")])] == ["1", "2"]


def test_what_was_run_again_is_not_told_twice() -> None:
    assert cells(ran("rerun-7-1", "1")) == []


def test_a_picture_is_read_from_beside_the_log(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "1-1.png").write_bytes(b"picture")
    (cell,) = cells(ran("c1", "plot()", Display({}, path="/elsewhere/1-1.png")), tmp_path)
    assert cell.outputs == (Display({"image/png": "cGljdHVyZQ=="}, path="/elsewhere/1-1.png"),)


def test_a_kernel_that_was_started_anew_is_told_at_the_next_cell_of_its_language() -> None:
    events = [
        *ran("c1", "1"),
        KernelChanged("python", "restarted", "asked"),
        *ran("c2", "ls", language="shell"),
        *ran("c3", "2"),
        *ran("c4", "3"),
    ]
    assert [cell.anew for cell in cells(events)] == [False, False, True, False]


def test_what_was_run_again_after_a_new_start_counts_as_never_left() -> None:
    events = [
        *ran("c1", "1"),
        KernelChanged("python", "stopped", ""),
        *ran("rerun-9-1", "1"),
        *ran("c2", "2"),
    ]
    assert [cell.anew for cell in cells(events)] == [False, False]
