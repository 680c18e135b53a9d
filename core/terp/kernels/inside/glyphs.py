"""Characters that the font of a figure lacks: drawn from other fonts of the machine, else named once."""

from __future__ import annotations

import copy
import functools
import sys
import unicodedata
from typing import Any

# Fonts with the scripts that matplotlib's own lacks, those with the most characters first.
FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Hiragino Sans",
    "Yu Gothic",
    "IPAexGothic",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "NanumGothic",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Unifont",
)
EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "IDEOGRAPHIC")
MOST_SHOWN = 12


class Glyphs:
    """Lets figures use all fonts there are, and gathers what none of them has."""

    def __init__(self) -> None:
        self.missing: dict[str, None] = {}

    def watch_fonts(self, module: Any) -> None:
        """Have installed fonts stand in for what a sans-serif one lacks, whatever style is set later."""
        find = getattr(module.FontManager, "_find_fonts_by_props", None)
        if find is None:
            return

        @functools.wraps(find)
        def with_fallbacks(manager: Any, prop: Any, *args: Any, **kwargs: Any) -> Any:
            prop = module.FontProperties._from_any(prop)
            family = prop.get_family()
            if family[-1:] == ["sans-serif"]:
                there = {entry.name for entry in manager.ttflist}
                prop = copy.copy(prop)
                prop.set_family([*family, *(name for name in FALLBACKS if name in there)])
            return find(manager, prop, *args, **kwargs)

        module.FontManager._find_fonts_by_props = with_fallbacks

    def watch_helpers(self, module: Any) -> None:
        """Gather missing characters in place of a warning for each."""
        if hasattr(module, "warn_on_missing_glyph"):
            module.warn_on_missing_glyph = lambda code, *_: self.missing.setdefault(chr(code))

    def tell(self) -> None:
        """Say which characters of the cell's figures were drawn as boxes."""
        if not self.missing:
            return
        shown = "".join(self.missing)[:MOST_SHOWN] + ("…" if len(self.missing) > MOST_SHOWN else "")
        fonts = " and ".join(sorted({font_for(char) for char in self.missing}))
        self.missing.clear()
        sys.stderr.write(f"No installed font has {shown}: drawn as boxes. A font that has them: {fonts}.\n")


def font_for(char: str) -> str:
    """A free font with a character."""
    script = unicodedata.name(char, "").partition(" ")[0].partition("-")[0]
    if script in EAST_ASIAN:
        return "Noto Sans CJK"
    own = f"Noto Sans {script.capitalize()}"
    return own if own in FALLBACKS else "Noto Emoji" if ord(char) > 0x1F000 else "Noto Sans Symbols"
