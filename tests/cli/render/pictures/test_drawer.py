"""From a bundle to rows."""

import io
import random
import re
from pathlib import Path

import pytest
from PIL import Image
from rich.text import Text

from terp_cli.render.pictures.drawer import Drawer, PictureChoice, Way, drawer_on
from terp_cli.render.pictures.raster import CellSize
from terp_cli.terminal.rows import Graphic
from terp_cli.terminal.terminal_facts import TerminalFacts
from tests.cli.render.pictures.made import bundle, encoded, picture, png
from tests.cli.render.pictures.test_escapes import commands
from tests.cli.screens import Terminal

KITTY = {"TERM": "xterm-kitty"}


def drawer(way: Way, why: str = "", columns: int = 80, rows: int = 24) -> Drawer:
    return Drawer(
        lambda: PictureChoice(way, why), lambda: (columns, rows), lambda: CellSize(10, 20, known=True)
    )


@pytest.mark.parametrize("name", ["rsvg-convert", "resvg"])
def test_an_svg_is_drawn_where_a_program_makes_a_png_of_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "made.png").write_bytes(png(640, 480))
    program = tmp_path / name
    program.write_text(
        f"#!/bin/sh\nread svg; [ \"$svg\" = '<svg></svg>' ] && exec /bin/cat '{tmp_path}/made.png'\n"
    )
    program.chmod(0o755)
    choice = PictureChoice("blocks", "")
    draws = Drawer(lambda: choice, lambda: (40, 24), CellSize, str(tmp_path))
    rows = draws({"image/svg+xml": "<svg></svg>\n"})
    assert rows == drawer("blocks", columns=40)(bundle(png(640, 480)))


def test_an_svg_that_a_program_fails_on_is_not_drawn(tmp_path: Path) -> None:
    program = tmp_path / "rsvg-convert"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    choice = PictureChoice("blocks", "")
    draws = Drawer(lambda: choice, lambda: (40, 24), CellSize, str(tmp_path))
    assert draws({"image/svg+xml": "<svg></svg>"}) == []


@pytest.mark.parametrize("way", ["kitty", "kitty in tmux", "iterm", "sixel"])
@pytest.mark.parametrize("columns", [20, 80, 300])
def test_a_graphic_is_no_wider_than_the_terminal_and_leaves_six_rows(way: Way, columns: int) -> None:
    (graphic,) = drawer(way, columns=columns)(bundle(png(3_000, 2_000)))
    assert isinstance(graphic, Graphic)
    assert graphic.columns <= columns
    assert graphic.rows <= 18


def test_blocks_are_rows_of_text() -> None:
    rows = drawer("blocks", columns=40)(bundle(png(640, 480)))
    assert [isinstance(row, Text) and row.cell_len <= 40 for row in rows] == [True] * 15


def test_off_draws_nothing() -> None:
    assert drawer("off")(bundle(png(4, 4))) == []


def test_a_bundle_without_a_picture_draws_nothing() -> None:
    svg = {"image/svg+xml": "<svg></svg>", "text/plain": "x"}
    assert [drawer("kitty")(one) for one in ({"text/plain": "x"}, svg, {"image/png": "%%%"})][:2] == [[], []]


@pytest.mark.parametrize(
    ("mode", "kind"), [("RGB", "JPEG"), ("P", "GIF"), ("RGBA", "WEBP"), ("CMYK", "JPEG")]
)
def test_kitty_gets_a_png_of_any_other_kind(mode: str, kind: str) -> None:
    data = encoded(picture(40, 40, mode), kind)
    (graphic,) = drawer("kitty")(bundle(data, f"image/{kind.lower()}"))
    assert isinstance(graphic, Graphic)
    assert Image.open(io.BytesIO(commands(graphic.escape)[1])).format == "PNG"


def test_a_large_file_is_sent_with_fewer_pixels() -> None:
    noise = Image.frombytes("L", (2_400, 2_400), random.Random(1).randbytes(2_400 * 2_400))
    (graphic,) = drawer("kitty")(bundle(encoded(noise)))
    assert isinstance(graphic, Graphic)
    sent = Image.open(io.BytesIO(commands(graphic.escape)[1]))
    assert sent.size == (360, 360)


def test_what_stands_in_the_way_is_said_once() -> None:
    draw = drawer("blocks")
    broken = bundle(b"no picture")
    assert [[str(row) for row in draw(broken)] for _ in range(2)] == [["It cannot be read as a picture."], []]


def test_why_it_is_not_drawn_as_wanted_is_said_once() -> None:
    draw = drawer("off", "No sixel here.")
    assert [[str(row) for row in draw(bundle(png(2, 2)))] for _ in range(2)] == [["No sixel here."], []]


@pytest.mark.parametrize(
    ("wanted", "environ"),
    [("off", KITTY), ("auto", {"TERM": "dumb"}), ("auto", {}), ("kitty", {"TERM": "dumb"})],
)
def test_there_are_terminals_without_a_drawer(wanted: str, environ: dict[str, str]) -> None:
    assert drawer_on(Terminal(), wanted, environ) is None


def test_a_pipe_has_no_drawer() -> None:
    assert drawer_on(io.StringIO(), "kitty", KITTY) is None


def test_answers_that_come_late_count_for_the_next_picture() -> None:
    answers = [TerminalFacts()]
    draw = drawer_on(Terminal(), "auto", {"TERM": "xterm"}, lambda: answers[-1])
    assert draw is not None
    before = draw(bundle(png(4, 4)))
    answers.append(TerminalFacts(kitty=True))
    (after,) = draw(bundle(png(4, 4)))
    assert before == []
    assert isinstance(after, Graphic)
    assert re.search(r"\x1b_Ga=T", after.escape)
