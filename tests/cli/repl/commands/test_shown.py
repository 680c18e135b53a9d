from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.events.outputs import Display
from terp_cli.repl.commands.table import Misused
from tests.cli.repl.commands.talking import Noted
from tests.core.store.export.scripted import ran, turn


def shown(tmp_path: Path) -> Noted:
    """Two runs: a picture, then a page and one that is gone; programs that note what they are given."""
    for name in ("1-1.png", "2-1.html"):
        (tmp_path / name).write_text("x")
    first = ran("c1", "plot()", Display({}, path=f"{tmp_path}/1-1.png"))
    pages = [Display({}, path=f"{tmp_path}/{name}") for name in ("2-1.html", "2-2.html")]
    second = ran("c2", "page()", *pages, count=2)
    for name in ("browser", "xdg-open"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $1" > {tmp_path}/opened\n')
        (tmp_path / name).chmod(0o755)
    talk = Noted(tmp_path, *turn("go", *first, *second))
    talk.environ = {"PATH": str(tmp_path), "DISPLAY": ":0", "BROWSER": f"{tmp_path}/browser"}
    return talk


@pytest.mark.parametrize(
    ("line", "program", "name"),
    [
        ("/open", "browser file://", "2-1.html"),
        ("/open 2", "browser file://", "2-1.html"),
        ("/open 1", "xdg-open ", "1-1.png"),
        ("/open 1-1.png", "xdg-open ", "1-1.png"),
    ],
)
async def test_what_was_shown_is_opened(tmp_path: Path, line: str, program: str, name: str) -> None:
    assert await shown(tmp_path).does(line) == [f"Opened {tmp_path}/{name}."]
    assert (tmp_path / "opened").read_text() == f"{program}{tmp_path}/{name}\n"


async def test_without_a_display_the_path_and_the_reason_are_said(tmp_path: Path) -> None:
    talk = shown(tmp_path)
    talk.environ = {"PATH": str(tmp_path)}
    with pytest.raises(TerpError) as caught:
        await talk.does("/open 1")
    why = "This terminal has no display: DISPLAY and WAYLAND_DISPLAY are not set."
    assert caught.value.message == f"{tmp_path}/1-1.png is not opened. {why}"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/open 7", "/open: run '7' has shown no page and no picture that is still there."),
        ("/open gone.png", "/open: there is no file 'gone.png'."),
    ],
)
async def test_what_cannot_be_opened_is_named(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(Misused) as caught:
        await shown(tmp_path).does(line)
    assert caught.value.message == told


async def test_before_anything_was_shown_it_is_said_so(tmp_path: Path) -> None:
    said = ["No run has shown a page or a picture yet. /open PATH opens a file."]
    assert await Noted(tmp_path).does("/open") == said
