import os
from pathlib import Path

import pytest

from terp_cli.terminal.desktop import copied, copied_picture, osc52


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory of clipboards, of which wl-copy works and xclip does not."""
    for name, script in (("wl-copy", f"cat > {tmp_path}/kept"), ("xclip", "exit 1")):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
    return tmp_path


async def test_a_program_of_this_machine_is_preferred(programs: Path) -> None:
    wrote: list[str] = []
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "WAYLAND_DISPLAY": "wayland-0"}
    assert await copied("a 東", environ, wrote.append) == "(by wl-copy)"
    assert ((programs / "kept").read_text(encoding="utf-8"), wrote) == ("a 東", [])


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"DISPLAY": ":0"},
        {"WAYLAND_DISPLAY": "wayland-0", "SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"},
    ],
)
async def test_else_the_terminal_is_asked(programs: Path, given: dict[str, str]) -> None:
    wrote: list[str] = []
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", **given}
    how = await copied("hi", environ, wrote.append)
    assert (how, wrote) == (
        "(sent to the terminal: if it is not there, allow OSC 52 in its settings)",
        ["\x1b]52;c;aGk=\x07"],
    )


async def test_a_text_that_may_be_too_long_is_told(tmp_path: Path) -> None:
    how = await copied("x" * 80_000, {"PATH": str(tmp_path)}, lambda _: None)
    assert how == "(sent to the terminal, which may cut such a long text)"


def test_tmux_is_asked_to_pass_it_on() -> None:
    assert osc52("hi", tmux=True) == "\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"


@pytest.mark.parametrize(
    ("shown", "read"), [("\\211PNG\\r\\n\\032\\n1", b"\x89PNG\r\n\x1a\n1"), ("a text", b"")]
)
async def test_a_picture_on_the_clipboard_is_read(tmp_path: Path, shown: str, read: bytes) -> None:
    program = tmp_path / "wl-paste"
    program.write_text(f"#!/bin/sh\n[ \"$2\" = image/png ] && printf '{shown}'\n", encoding="utf-8")
    program.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "WAYLAND_DISPLAY": "wayland-0"}
    assert await copied_picture(environ) == read
