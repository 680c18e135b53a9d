"""Pictures that are taken apart into pixels."""

import re
import sys

import pytest
from PIL import Image
from rich.style import Style
from rich.text import Text

from terp.settings.installation import install_extra
from terp_cli.render.pictures.escapes import blocks, sixel
from terp_cli.render.pictures.raster import CellSize, NotDrawable, extent, opened, shrunk, thickened
from tests.cli.render.pictures.made import BLUE, RED, encoded, picture, png

Pixels = dict[tuple[int, int], tuple[int, int, int]]


def decoded(escape: str) -> Pixels:
    """The pixels of a sixel picture, as a terminal draws them."""
    found = re.search(r'\x1bP0;1;0q"1;1;\d+;\d+([^\x1b]*)\x1b\\', escape)
    assert found is not None
    colours: dict[int, tuple[int, int, int]] = {}
    pixels: Pixels = {}
    x, y, colour = 0, 0, 0
    for token in re.finditer(r"#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)([?-~])|([?-~])|(\$)|(-)", found[1]):
        if token[1]:
            colour = int(token[1])
            if token[2]:
                red, green, blue = (round(int(part) * 255 / 100) for part in token.group(2, 3, 4))
                colours[colour] = red, green, blue
        elif token[8]:
            x = 0
        elif token[9]:
            x, y = 0, y + 6
        else:
            bits, count = ord(token[6] or token[7]) - 63, int(token[5] or 1)
            run = [(column, y + at) for column in range(x, x + count) for at in range(6) if bits >> at & 1]
            pixels |= dict.fromkeys(run, colours[colour])
            x += count
    return pixels


def test_sixels_are_the_pixels_of_the_picture() -> None:
    at = extent((20, 14), CellSize(10, 20, True), 80, 30)
    graphic = sixel(picture(20, 14), at)
    assert (graphic.columns, graphic.rows) == (2, 1)
    assert decoded(graphic.escape) == {(x, y): RED if y < 7 else BLUE for x in range(20) for y in range(14)}


def test_sixels_of_many_colours_come_near() -> None:
    image = Image.linear_gradient("L").convert("RGB")
    pixels = decoded(sixel(image, extent(image.size, CellSize(10, 20, True), 80, 30)).escape)
    assert max(abs(pixels[x, y][0] - y) for x in range(256) for y in range(256)) <= 8


QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"


def seen(rows: list[Text]) -> list[list[tuple[int, ...]]]:
    """The pixels of a picture of characters, as a terminal draws them: four in each cell."""
    pixels: list[list[tuple[int, ...]]] = []
    for row in rows:
        upper: list[tuple[int, ...]] = []
        lower: list[tuple[int, ...]] = []
        for span in row.spans:
            style = Style.parse(str(span.style))
            front, ground = (
                tuple(colour.get_truecolor()) if colour else () for colour in (style.color, style.bgcolor)
            )
            for character in row.plain[span.start : span.end]:
                bits = QUADRANTS.index(character)
                shown = [front if bits >> at & 1 else ground for at in range(4)]
                upper += shown[:2]
                lower += shown[2:]
        pixels += [upper, lower]
    return pixels


def test_a_cell_shows_four_pixels_in_two_colours() -> None:
    image = Image.new("RGB", (2, 2), RED)
    image.putpixel((1, 0), BLUE)
    assert seen(blocks(image, 1, 1)) == [[RED, BLUE], [RED, RED]]


def test_cells_of_one_colour_are_ground_alone() -> None:
    rows = blocks(picture(4, 8), 80, 24)
    assert [(row.plain, [str(span.style) for span in row.spans]) for row in rows] == [
        ("    ", ["on #ff0000"]),
        ("    ", ["on #ff0000"]),
        ("    ", ["on #0000ff"]),
        ("    ", ["on #0000ff"]),
    ]


def test_a_thin_line_of_a_figure_can_be_seen() -> None:
    image = Image.new("RGB", (800, 400), "white")
    image.paste(BLUE, (0, 200, 800, 201))
    # Its mean with the white around it would be (229, 229, 255).
    assert min(row[40] for row in seen(blocks(image, 80, 24))) <= (180, 180, 255)


def test_a_photograph_is_not_thickened() -> None:
    image = Image.linear_gradient("L").convert("RGB")
    assert thickened(image, 8) is image


@pytest.mark.parametrize("size", [(640, 480), (10, 4000), (4000, 10), (1, 1)])
def test_cells_fit_the_room(size: tuple[int, int]) -> None:
    rows = blocks(picture(*size), 30, 9)
    assert len(rows) <= 9
    assert {row.cell_len for row in rows} == {rows[0].cell_len}
    assert rows[0].cell_len <= 30


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGB", "RGBA", "I;16"])
def test_a_png_of_any_mode_can_be_drawn(mode: str) -> None:
    assert opened(encoded(picture(4, 4, mode))).mode in ("RGB", "L")


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("CMYK", "JPEG"), ("L", "JPEG"), ("RGB", "JPEG"), ("P", "GIF"), ("RGBA", "WEBP")],
)
def test_other_kinds_of_any_mode_can_be_drawn(mode: str, kind: str) -> None:
    assert opened(encoded(picture(4, 4, mode), kind)).mode in ("RGB", "L")


def test_what_is_transparent_is_white() -> None:
    image = Image.new("RGBA", (1, 1), (0, 0, 0, 0))
    assert opened(encoded(image)).getpixel((0, 0)) == (255, 255, 255)


def test_shades_beyond_256_go_from_black_to_white() -> None:
    image = Image.new("I;16", (2, 1), 1_000)
    image.putpixel((1, 0), 60_000)
    flat = opened(encoded(image))
    assert [flat.getpixel((x, 0)) for x in (0, 1)] == [0, 255]


@pytest.mark.parametrize("data", [b"", b"no picture", png(40, 40)[:60], b"GIF89a", b"\xff\xd8\xff"])
def test_what_cannot_be_read_says_so(data: bytes) -> None:
    with pytest.raises(NotDrawable, match=r"It cannot be read as a picture\."):
        opened(data)


def test_a_picture_of_too_many_pixels_is_not_opened() -> None:
    with pytest.raises(NotDrawable, match="too many"):
        opened(encoded(Image.new("1", (9_000, 9_000))))


def test_without_pillow_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    data = png(2, 2)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(NotDrawable, match=re.escape(f"install Pillow: {install_extra('images')}")):
        opened(data)


def test_a_shrunk_picture_has_no_more_pixels_than_are_drawn() -> None:
    at = extent((1_000, 1_000), CellSize(10, 20, True), 10, 10)
    assert opened(shrunk(picture(1_000, 1_000), at)).size == (100, 100)
