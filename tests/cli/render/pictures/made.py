"""Pictures to draw."""

import base64
import io
from typing import Any

from PIL import Image

RED, BLUE = (255, 0, 0), (0, 0, 255)


def picture(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """Red above, blue below, as far as the mode has colours."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(BLUE, (0, height // 2, width, height))
    return image.convert("L").convert(mode) if mode in ("I", "F", "I;16", "LA") else image.convert(mode)


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def png(width: int, height: int) -> bytes:
    return encoded(picture(width, height))


def bundle(data: bytes, mime: str = "image/png") -> dict[str, Any]:
    return {mime: base64.b64encode(data).decode(), "text/plain": "<Figure>"}
