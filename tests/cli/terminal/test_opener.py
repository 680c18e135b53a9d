"""Which program shows a page or a picture, and what is said where none can."""

import sys
import time
from pathlib import Path

import pytest

from terp.errors import TerpError
from terp_cli.terminal.desktop import open_file, program_for

PAGE, PICTURE = Path("/s/two words.html"), Path("/s/1-1.png")


@pytest.fixture
def desktop(tmp_path: Path) -> dict[str, str]:
    """The environment of a desktop with an xdg-open that notes what it is given."""
    program = tmp_path / "xdg-open"
    program.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\ntest "$1" != /s/bad.png || exit 4\n')
    program.chmod(0o755)
    return {"PATH": str(tmp_path), "DISPLAY": ":0"}


@pytest.mark.parametrize(
    ("browser", "command"),
    [
        ("firefox", ["firefox", "file:///s/two%20words.html"]),
        ("firefox --new-window:links", ["firefox", "--new-window", "file:///s/two%20words.html"]),
        ("show %s now", ["show", "file:///s/two%20words.html", "now"]),
    ],
)
def test_a_page_goes_to_the_browser_of_the_environment(browser: str, command: list[str]) -> None:
    assert program_for(PAGE, {"BROWSER": browser}) == command


def test_all_else_goes_to_the_desktop(desktop: dict[str, str]) -> None:
    opener = f"{desktop['PATH']}/xdg-open"
    assert program_for(PAGE, desktop) == [opener, str(PAGE)]
    assert program_for(PICTURE, {**desktop, "BROWSER": "firefox"}) == [opener, str(PICTURE)]
    assert program_for(PICTURE, {"PATH": ""}, "darwin") == ["open", str(PICTURE)]


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({"PATH": ""}, "This terminal has no display: DISPLAY and WAYLAND_DISPLAY are not set."),
        ({"PATH": "", "DISPLAY": ":0"}, "There is no xdg-open here, and BROWSER is not set."),
        ({"PATH": "", "WAYLAND_DISPLAY": "w"}, "There is no xdg-open here, and BROWSER is not set."),
    ],
)
def test_why_nothing_can_show_it_is_said(environ: dict[str, str], why: str) -> None:
    with pytest.raises(TerpError) as caught:
        program_for(PICTURE, environ, "linux")
    assert caught.value.message == why


def test_the_program_gets_the_file(desktop: dict[str, str]) -> None:
    open_file(PICTURE, desktop)
    assert Path(desktop["PATH"], "opened").read_text() == "/s/1-1.png\n"


def test_a_program_that_fails_is_told(desktop: dict[str, str]) -> None:
    with pytest.raises(TerpError, match="xdg-open ended with exit status 4"):
        open_file(Path("/s/bad.png"), desktop)


def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(TerpError, match="no-such-browser cannot be started: No such file"):
        open_file(PAGE, {"BROWSER": "no-such-browser"})


def test_a_program_that_stays_is_not_waited_for() -> None:
    began = time.monotonic()
    open_file(PAGE, {"BROWSER": f"{sys.executable} -c __import__('time').sleep(20)"})
    assert time.monotonic() - began < 10
