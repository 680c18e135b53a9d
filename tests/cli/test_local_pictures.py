"""Pictures in files: those that code saved, and those that an answer names."""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import rich.text

from terp.events import CodeFinished, CodeStarted, Event, Printed, TextDelta, TurnFinished
from terp.events.outputs import Display, FileChange
from terp_cli.fronts.terminal import TerminalFront
from terp_cli.render.output.display import picture_rows
from tests.cli.drawing import Clock, drawn
from tests.cli.screens import Terminal

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Pictures:
    """Draws every picture as one row, on a terminal of its own."""

    def __init__(self) -> None:
        self.terminal = Terminal()
        self.front = TerminalFront(self.terminal.screen, clock=Clock(), drawer=lambda: self.draw)

    def draw(self, data: Mapping[str, Any]) -> Sequence[rich.text.Text]:
        return [rich.text.Text("(a picture)")] if "image/png" in data else []

    def shown(self, *events: Event) -> list[str]:
        for event in (*events, TurnFinished("done", "")):
            self.front.draw(event)
        return self.terminal.shown()[1:]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "plot.png"
    path.write_bytes(b64decode(DOT))
    return path


def finished(path: Path) -> CodeFinished:
    return CodeFinished("c1", "ok", 0.5, (FileChange(str(path), "created", 70),))


def test_a_figure_that_was_saved_and_closed_is_drawn(saved: Path) -> None:
    assert "(a picture)" in Pictures().shown(CodeStarted("c1", 1), finished(saved))


def test_a_picture_that_was_shown_and_saved_is_drawn_once(saved: Path) -> None:
    metadata = {"terp": {"saved": str(saved)}}
    display = Printed("c1", Display({"image/png": DOT}, metadata, path="/tmp/s/1-1.png"))
    assert Pictures().shown(CodeStarted("c1", 1), display, finished(saved)).count("(a picture)") == 1


def test_an_answer_that_shows_a_drawn_picture_does_not_draw_it_again(saved: Path) -> None:
    answer = TextDelta(f"Here:\n\n![plot]({saved})")
    shown = Pictures().shown(CodeStarted("c1", 1), finished(saved), answer)
    assert (shown.count("(a picture)"), shown[-1]) == (1, "Here:")


def test_a_picture_that_only_the_answer_names_is_drawn_below_it(saved: Path) -> None:
    assert Pictures().shown(TextDelta(f"Here: ![plot]({saved})"))[-1] == "(a picture)"


def test_a_relative_path_is_found_before_any_code_has_run(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(saved.parent)
    assert Pictures().shown(TextDelta("Here: ![plot](plot.png)"))[-1] == "(a picture)"


def test_an_image_of_a_file_that_was_not_drawn_stays_in_the_answer(saved: Path) -> None:
    answer = TextDelta(f"![plot]({saved})")
    shown = drawn([CodeStarted("c1", 1), finished(saved), answer], columns=200)
    assert shown[-1] == f"[image: plot] ({saved})"


def test_an_svg_that_code_wrote_is_given_to_the_drawer_as_text(tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    path.write_text("<svg></svg>")
    given: list[Mapping[str, Any]] = []

    def draw(data: Mapping[str, Any]) -> Sequence[rich.text.Text]:
        given.append(data)
        return []

    picture_rows(str(path), draw)
    assert given == [{"image/svg+xml": "<svg></svg>"}]


def test_a_file_that_is_no_picture_is_not_drawn(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_text("no picture")
    assert "(a picture)" not in Pictures().shown(CodeStarted("c1", 1), finished(tmp_path / "x.png"))
