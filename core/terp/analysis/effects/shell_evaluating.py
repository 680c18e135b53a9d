"""Words that the shell reads twice: in the place of a name or a number, `a[$(rm x)]` runs a command."""

import re
from collections.abc import Sequence
from itertools import pairwise

from terp.analysis.effects.shell_telling import operands
from terp.analysis.effects.shell_words import Word

# For each builtin that sets or looks at variables: its options whose value is any text, and those that
# take a name, or make the shell read the value as well.
_NAMING = {
    "read": ("dinNptu", ""),
    "unset": ("", ""),
    "local": ("", "in"),
    "declare": ("", "in"),
    "typeset": ("", "in"),
    "readonly": ("", ""),
    "export": ("", ""),
    "getopts": ("", ""),
    "mapfile": ("dnOstuCc", "C"),
    "readarray": ("dnOstuCc", "C"),
    "wait": ("", "p"),
    "let": ("", ""),
}
_NAME = re.compile(r"[A-Za-z_]\w*(?:\+?=.*)?", re.DOTALL)
_NUMBERS = frozenset({"$?", "$#", "$$", "$!"})
# zsh reads how long, how much and from where as arithmetic.
_COUNTED = re.compile(r"-\w*?[tnNuk](?P<value>.*)", re.DOTALL)
_COUNT = re.compile(r"[\d.]+")


def evaluates(words: Sequence[Word]) -> str:
    """Why a command may run what one of its words holds, as part of a sentence; "" when none can."""
    name = words[0].text if words else ""
    if name in ("test", "["):
        return _by_a_test(words)
    if name not in _NAMING:
        return ""
    if name == "read" and (count := _not_a_number(words)):
        return f"`read` may run what is in `{count}`"
    values, reading = _NAMING[name]
    named, options = operands(words[1:], values)
    if name == "getopts":
        # The letters come first.
        named = named[1:]
    for option in options:
        if not option.startswith("--") and set(option[1:]) & set(reading):
            return f"`{name} {option}` reads its words as code"
    if name == "wait" or (odd := next((one for one in named if not _is_name(one)), None)) is None:
        return ""
    return f"`{name}` may run what is in `{odd.text}`"


def _is_name(word: Word) -> bool:
    """Whether it names a variable in plain sight; what it is set to may be anything."""
    return bool(_NAME.fullmatch(word.text)) and (word.plain or "=" in word.text) and not word.pattern


def _not_a_number(words: Sequence[Word]) -> str:
    """What stands where `read` wants a number and is none; "" for nothing."""
    for option, after in pairwise([*words, Word("0")]):
        found = _COUNTED.fullmatch(option.text)
        if found is None or option.text.startswith("--"):
            continue
        value = found["value"] or after.text
        if not _COUNT.fullmatch(value) or not (after.plain or found["value"]):
            return value
    return ""


def _by_a_test(words: Sequence[Word]) -> str:
    name, *given = words
    for at, word in enumerate(given):
        if word.text in ("-v", "-R") and not all(map(_is_name, given[at + 1 : at + 2])):
            return f"`{name.text} {word.text}` may run what is in `{given[at + 1].text}`"
        # One word may become several, of which one asks whether a variable is set.
        if word.splits and word.text not in _NUMBERS:
            return f"`{name.text}` may take `{word.text}` for several words"
    pair = [word for word in given if word.text != "]"]
    if len(pair) == 2 and not pair[0].plain:
        return f"`{name.text}` may take `{pair[0].text}` for `-v`"
    return ""
