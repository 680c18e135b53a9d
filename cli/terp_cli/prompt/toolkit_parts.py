"""Imports of prompt_toolkit that a prompt does not need: tables of characters, XML, and progress bars.

They are a quarter of the time of importing it, and 2 MB.
"""

import sys
import xml.dom  # noqa: F401  (the parent of a delayed module has to be there)
from typing import Any

from terp_cli.line.delayed import DelayedModule, delay

_WIDTHS, _BARS = "wcwidth", "prompt_toolkit.shortcuts.progress_bar"
NARROW = frozenset(map(chr, range(0x20, 0x7F))) | frozenset("›·…")
"""Characters of one column: those of ASCII, and terp's own at an empty prompt."""


def delay_toolkit_parts() -> None:
    """Have the next import of prompt_toolkit load none of them, unless they are loaded."""
    delay("xml.dom.minidom")
    sys.modules.setdefault(_WIDTHS, _Widths(_WIDTHS))
    sys.modules.setdefault(_BARS, _ProgressBars(_BARS))


class _Widths(DelayedModule):
    def wcwidth(self, char: str, *options: Any, **more: Any) -> int:
        """Return the columns of a character, as the library does."""
        if char in NARROW and not (options or more):
            return 1
        return int(self.__getattr__("wcwidth")(char, *options, **more))


class _ProgressBars(DelayedModule):
    # prompt_toolkit offers these names; terp has no progress bar, and the import of their module parses XML.
    ProgressBar = ProgressBarCounter = None
