"""What is known of the terminal beyond its environment."""

from dataclasses import dataclass, field
from typing import Literal

Background = Literal["dark", "light", "unknown"]


@dataclass(frozen=True, slots=True)
class TerminalFacts:
    """What a terminal can do and how it looks. Sizes of a cell are in pixels, 0 where not known.

    `complete` tells that the terminal has answered all there was to ask.
    """

    kitty: bool = False
    sixel: bool = False
    synchronised: bool = False
    background: Background = "unknown"
    cell_width: int = 0
    cell_height: int = 0
    complete: bool = field(default=False, compare=False)
