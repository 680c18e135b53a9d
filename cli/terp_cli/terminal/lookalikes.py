"""Names in code that are not what they look like: letters of two alphabets in one word."""

import re
import unicodedata
from collections.abc import Iterator

_WORD = re.compile(r"[^\W\d_]\w*")
# Scripts whose letters pass for each other. Greek is common in formulas (Δt, μ_x): of it only the
# letters that pass for Latin ones count.
_CONFUSED = {"LATIN", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "MATHEMATICAL", "FULLWIDTH"}
_GREEK_AS_LATIN = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧον")


def lookalikes(code: str) -> list[str]:
    """One line for each such name, in order of appearance."""
    if code.isascii():
        return []
    found = dict.fromkeys(_WORD.findall(code))
    return [
        f"'{name}' mixes {' and '.join(script.capitalize() for script in scripts)} letters"
        for name in found
        if not name.isascii() and len(scripts := sorted(set(_scripts(name)))) > 1
    ]


def _scripts(name: str) -> Iterator[str]:
    for letter in name:
        script = unicodedata.name(letter, "").partition(" ")[0]
        if script in _CONFUSED or letter in _GREEK_AS_LATIN:
            yield script
