"""The colours a program may use: SGR parameters, read into plain data.

Only the styles listed here are drawn; blinking, hiding and fonts are dropped.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

Colour = int | tuple[int, int, int] | None
"""An index of the 256 colours, red-green-blue, or None: the terminal's own."""


@dataclass(frozen=True, slots=True)
class Ink:
    """The colours and the style of a run of characters."""

    colour: Colour = None
    background: Colour = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    reverse: bool = False

    def after(self, parameters: str) -> "Ink":
        """Return the ink after the SGR sequence with these parameters ("" resets, as "0" does)."""
        ink = self
        # "4:3" (curly underline) and "38:2::1:2:3" are sub-parameters: one code with its arguments.
        codes = iter(parameters.split(";"))
        for code in codes:
            ink = ink._with(code, codes)
        # Text in the colour of its background is invisible, and would still be copied.
        if ink.colour is not None and ink.colour == ink.background:
            return replace(ink, background=None)
        return ink

    def _with(self, code: str, following: Iterator[str]) -> "Ink":
        head, _, sub = code.partition(":")
        if head in ("38", "48"):
            colour = _extended(iter(sub.replace("::", ":").split(":")) if sub else following)
            return self if colour is None else self._coloured(colour, ground=head == "48")
        if (head, sub) == ("4", "0"):
            return replace(self, underline=False)
        known = head.isascii() and (head.isdigit() or head == "") and len(head) <= 3
        return self._with_simple(int(head or "0")) if known else self

    def _with_simple(self, number: int) -> "Ink":
        tens, ones = divmod(number, 10)
        if number == 0:
            return Ink()
        if names := _SWITCHES.get(number):
            return replace(self, **dict.fromkeys(names, number < 20 or number == 21))
        if tens in (3, 4, 9, 10) and (ones < 8 or (ones == 9 and tens < 5)):
            colour = None if ones == 9 else ones + (8 if tens >= 9 else 0)
            return self._coloured(colour, ground=tens in (4, 10))
        return self

    def _coloured(self, colour: Colour, *, ground: bool) -> "Ink":
        return replace(self, background=colour) if ground else replace(self, colour=colour)


_SWITCHES = {
    1: ("bold",),
    2: ("dim",),
    3: ("italic",),
    4: ("underline",),
    7: ("reverse",),
    9: ("strike",),
    21: ("underline",),
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    27: ("reverse",),
    29: ("strike",),
}


def _extended(arguments: Iterator[str]) -> Colour:
    kind = next(arguments, "")
    if kind == "5":
        (index,) = _bytes(arguments, 1) or (None,)
        return index
    if kind == "2":
        rgb = _bytes(arguments, 3)
        return (rgb[0], rgb[1], rgb[2]) if rgb else None
    return None


def _bytes(arguments: Iterator[str], count: int) -> list[int] | None:
    texts = [next(arguments, "") for _ in range(count)]
    if not all(text.isascii() and text.isdigit() and len(text) <= 3 for text in texts):
        return None
    numbers = [int(text) for text in texts]
    return numbers if all(number < 256 for number in numbers) else None
