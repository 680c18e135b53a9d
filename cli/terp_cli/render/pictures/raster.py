"""Pictures as pixels, through Pillow."""

import io
import math
import warnings
from typing import TYPE_CHECKING

from terp.settings.installation import install_extra
from terp.text.dataclasses import dataclass

if TYPE_CHECKING:
    from PIL.Image import Image

# What a picture's pixel was made for; on a screen with twice as many it takes four of them.
_USUAL_HEIGHT = 20


@dataclass(frozen=True, slots=True)
class CellSize:
    """The size of a character's cell in pixels; `known` if the terminal has reported it."""

    width: int = 10
    height: int = 20
    known: bool = False


@dataclass(frozen=True, slots=True)
class Extent:
    """A picture's place in cells, and its size within them in pixels."""

    columns: int
    rows: int
    width: int
    height: int
    keeps: str
    """The one of "columns" and "rows" that the picture fills; its proportions give the other."""


def extent(size: tuple[int, int], cell: CellSize, columns: int, rows: int) -> Extent:
    """Return the extent of a picture of this size: shrunk if it exceeds so many cells."""
    density = max(1, round(cell.height / _USUAL_HEIGHT)) if cell.known else 1
    width, height = max(1, size[0]) * density, max(1, size[1]) * density
    scale = min(1.0, columns * cell.width / width, rows * cell.height / height)
    wide = min(columns, max(1, round(width * scale / cell.width)))
    high = math.ceil(wide * cell.width * height / width / cell.height)
    if high <= rows:
        tall = max(1, round(wide * cell.width * height / width))
        return Extent(wide, high, wide * cell.width, tall, "columns")
    slim = max(1, round(rows * cell.height * width / height))
    return Extent(max(1, math.ceil(slim / cell.width)), rows, slim, rows * cell.height, "rows")


_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
# These read an SVG from stdin, which has no folder from which it could load other files.
_SVG_PROGRAMS = (("rsvg-convert",), ("resvg", "-", "-c"))
_SVG_PATIENCE_S = 5.0
_MOST_PIXELS = 64_000_000
_WIDE_MODES = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")


class NotDrawable(Exception):
    """A picture cannot be drawn; the message is a sentence with the reason and the remedy."""


def opened(data: bytes) -> "Image":
    """The picture in `data`, without transparency: in colours ("RGB") or grey ("L").

    Raises:
        NotDrawable: there is no Pillow, or it cannot read this.
    """
    try:
        from PIL import Image  # noqa: PLC0415  (most sessions draw no picture)
    except ImportError as error:
        raise NotDrawable(f"To draw it here, install Pillow: {install_extra('images')}") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
            if image.width * image.height > _MOST_PIXELS:
                raise NotDrawable(f"{image.width}×{image.height} pixels are too many to draw here.")
            return _flat(image)
    except (OSError, ValueError, SyntaxError, Warning, Image.DecompressionBombError) as error:
        raise NotDrawable("It cannot be read as a picture.") from error


def of_svg(svg: str, search: str) -> bytes | None:
    """Convert an SVG to PNG with a program on the path `search`; None if there is no program, or it fails."""
    import shutil  # noqa: PLC0415  (see `opened`)
    import subprocess  # noqa: PLC0415  (see `opened`)

    for name, *options in _SVG_PROGRAMS:
        if (program := shutil.which(name, path=search)) is None:
            continue
        try:
            ran = subprocess.run(
                [program, *options],
                input=svg.encode(errors="replace"),
                capture_output=True,
                timeout=_SVG_PATIENCE_S,
                check=True,
                env={"PATH": search},
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return ran.stdout
    return None


# A figure has a ground of one colour; a photograph has none.
_GROUND_SHARE = 0.4
_THICKEST = 9


def thickened(image: "Image", factor: float) -> "Image":
    """A figure with lines as thick as `factor` pixels, which survive that it is reduced so many times.

    A picture without a ground of one light or dark colour is returned as it is.
    """
    from PIL import ImageFilter  # noqa: PLC0415  (see `opened`)

    size = min(_THICKEST, round(factor * 0.75) // 2 * 2 + 1)
    shades = image.convert("L").histogram()
    ground = max(range(256), key=shades.__getitem__)
    if size < 3 or shades[ground] < _GROUND_SHARE * image.width * image.height:
        return image
    return image.filter(ImageFilter.MinFilter(size) if ground > 127 else ImageFilter.MaxFilter(size))


def shrunk(image: "Image", at: Extent) -> bytes:
    """The picture as a PNG, reduced to the number of pixels that will be drawn."""
    image = image.copy()
    image.thumbnail((at.width, at.height))
    return as_png(image)


def as_png(image: "Image") -> bytes:
    """The picture as a PNG."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _flat(image: "Image") -> "Image":
    """The first frame in RGB or L; transparent parts become white, the background that plots expect."""
    from PIL import Image  # noqa: PLC0415  (see `opened`)

    image.load()
    if image.mode in _WIDE_MODES:
        image = _eight_bits(image)
    if image.mode in ("RGB", "L") and "transparency" not in image.info:
        return image
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image.convert("RGBA"))
        image = paper
    return image.convert("RGB")


def _eight_bits(image: "Image") -> "Image":
    """A picture of more than 256 shades, scaled to 256: its darkest is black, its lightest white."""
    exact = image.convert("F")
    low, high = exact.getextrema()
    assert isinstance(low, float), "one channel has one pair of extremes"
    assert isinstance(high, float), "see above"
    factor = 255 / (high - low) if high > low else 0.0
    return exact.point(lambda shade: shade * factor + -low * factor).convert("L")
