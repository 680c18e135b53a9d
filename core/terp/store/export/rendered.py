"""What a format makes of a story."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text of the file, and the files that lie beside it, by their names in its folder."""

    text: str
    beside: Mapping[str, bytes] = field(default_factory=dict)
