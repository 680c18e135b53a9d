"""The library `wcwidth`, whose tables of characters are loaded for the first one that needs them.

prompt_toolkit imports it for each prompt: 16 of the 150 ms until keys are taken.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_NAME = "wcwidth"
NARROW = frozenset(map(chr, range(0x20, 0x7F))) | frozenset("›·…")
"""Characters of one column: those of ASCII, and terp's own at an empty prompt."""


def delay_width_tables() -> None:
    """Have the next import of `wcwidth` load no tables, unless they are loaded."""
    sys.modules.setdefault(_NAME, _Widths(_NAME))


class _Widths(ModuleType):
    """Stands for the library until it is needed; what imported this keeps it."""

    def wcwidth(self, char: str, *options: Any, **more: Any) -> int:
        """Return the columns of a character, as the library does."""
        if char in NARROW and not (options or more):
            return 1
        return int(self.__getattr__("wcwidth")(char, *options, **more))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # The import system looks for these.
            raise AttributeError(name)
        if sys.modules.get(_NAME) is self:
            del sys.modules[_NAME]
        return getattr(import_module(_NAME), name)
