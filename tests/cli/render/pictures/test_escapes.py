"""The sequences, taken apart again."""

import base64
import re

import pytest

from terp_cli.render.pictures.escapes import iterm, kitty, kitty_in_tmux
from terp_cli.render.pictures.raster import CellSize, Extent, extent
from terp_cli.terminal.rows import Graphic, placed
from tests.cli.render.pictures.made import png
from tests.cli.screens import Terminal

AT = Extent(4, 2, 40, 40, "columns")
# Random bytes in size, so that there are several chunks; nobody decodes it here.
LARGE = png(300, 300) + bytes(range(256)) * 40
APC = re.compile(r"\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\")


def commands(escape: str) -> tuple[list[dict[str, str]], bytes]:
    """The keys of each of kitty's commands, and the file that all of them carry."""
    found = APC.findall(escape)
    keys = [dict(key.split("=") for key in control.split(",")) for control, _ in found]
    return keys, base64.b64decode("".join(payload for _, payload in found))


def untmuxed(escape: str) -> str:
    return re.sub(
        r"\x1bPtmux;((?:[^\x1b]|\x1b\x1b)*)\x1b\\", lambda found: found[1].replace("\x1b\x1b", "\x1b"), escape
    )


def test_kitty_gets_the_file_as_it_is_in_chunks() -> None:
    keys, data = commands(kitty(LARGE, AT, proportional=True).escape)
    assert data == LARGE
    assert keys[0] == {"a": "T", "f": "100", "q": "2", "C": "1", "c": "4", "m": "1"}
    assert keys[1:] == [{"q": "2", "m": "1"}] * (len(keys) - 2) + [{"q": "2", "m": "0"}]
    assert max(len(payload) for _, payload in APC.findall(kitty(LARGE, AT, proportional=True).escape)) == 4096


def test_a_small_file_is_one_chunk() -> None:
    keys, data = commands(kitty(png(2, 2), AT, proportional=False).escape)
    assert (keys, data) == (
        [{"a": "T", "f": "100", "q": "2", "C": "1", "c": "4", "r": "2", "m": "0"}],
        png(2, 2),
    )


def test_iterm_gets_the_file_as_it_is() -> None:
    escape = iterm(LARGE, AT).escape
    found = re.search(r"\x1b\]1337;File=([^:]*):([A-Za-z0-9+/=]*)\x07", escape)
    assert found is not None
    assert base64.b64decode(found[2]) == LARGE
    assert found[1] == f"inline=1;size={len(LARGE)};width=4;height=2;preserveAspectRatio=1"


def test_tmux_passes_the_file_on_and_keeps_placeholders() -> None:
    graphic = kitty_in_tmux(LARGE, AT)
    keys, data = commands(untmuxed(graphic.escape))
    assert data == LARGE
    assert keys[0] | {"i": ""} == {
        "a": "T", "f": "100", "q": "2", "U": "1", "i": "", "c": "4", "r": "2", "m": "1"
    }  # fmt: skip
    cells = re.findall(r"\x1b\[38;5;(\d+)m(\U0010eeee)(.)(.)(.)(\U0010eeee*)\x1b\[m\r\n", graphic.escape)
    assert [row[2] + row[3] for row in cells] == ["\u0305\u0305", "\u030d\u0305"]
    assert {row[5] for row in cells} == {"\U0010eeee" * 3}
    assert {row[0] for row in cells} == {str(int(keys[0]["i"]) & 0xFF)}
    assert int(keys[0]["i"]) & 0x00FFFF00 == 0


def test_no_sequence_within_tmux_reaches_the_pane() -> None:
    outside = re.sub(r"\x1bPtmux;(?:[^\x1b]|\x1b\x1b)*\x1b\\", "", kitty_in_tmux(LARGE, AT).escape)
    assert "\x1b_" not in outside


@pytest.mark.parametrize("rows_before", [0, 3, 7, 30])
def test_a_graphic_leaves_the_cursor_below_it(rows_before: int) -> None:
    terminal = Terminal(20, 8)
    terminal.write(
        "before\r\n" * rows_before + Graphic(3, 5, placed("@@@\r\n@", 5, 3).escape).escape + "after"
    )
    shown = terminal.shown()
    assert shown[-4:] == ["@@@", "@", "", "after"]
    assert shown[:-4] == ["before"] * rows_before


@pytest.mark.parametrize(
    ("size", "cell", "room", "expected"),
    [
        ((640, 480), CellSize(10, 20, True), (80, 30), Extent(64, 24, 640, 480, "columns")),
        ((640, 480), CellSize(10, 20, True), (32, 30), Extent(32, 12, 320, 240, "columns")),
        ((640, 480), CellSize(10, 20, True), (80, 18), Extent(48, 18, 480, 360, "columns")),
        ((640, 480), CellSize(20, 40, True), (80, 30), Extent(64, 24, 1280, 960, "columns")),
        ((640, 480), CellSize(), (80, 30), Extent(64, 24, 640, 480, "columns")),
        ((1, 1), CellSize(10, 20, True), (80, 30), Extent(1, 1, 10, 10, "columns")),
        ((10, 4000), CellSize(10, 20, True), (80, 10), Extent(1, 10, 1, 200, "rows")),
        ((9000, 3), CellSize(10, 20, True), (80, 10), Extent(80, 1, 800, 1, "columns")),
        ((100_000, 100_000), CellSize(7, 15, True), (20, 3), Extent(6, 3, 42, 42, "columns")),
    ],
)
def test_a_picture_keeps_its_size_or_fits_the_room(
    size: tuple[int, int], cell: CellSize, room: tuple[int, int], expected: Extent
) -> None:
    assert extent(size, cell, *room) == expected
