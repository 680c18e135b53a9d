"""The sanitiser of all foreign text before it reaches a terminal.

    visible(text)     code, file names, commands: deceptive characters are spelled out
    readable(text)    prose and output: the same, but joiners and selectors of scripts stay
    lookalikes(code)  names that mix letters of two alphabets

Both are pure functions of a whole piece of text (a line, a paragraph). Escape sequences of program
output are taken apart in `terp_cli.terminal.program_text`, which ends here too.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_NO_CHARACTERS = "\ufdd0-\ufdef\ufffe\uffff"
# Lone surrogates cannot even be encoded.
_SUSPECT = re.compile(f"[{_CONTROLS}{_BIDI}{_INVISIBLE}{_NO_CHARACTERS}\ud800-\udfff]")
# Spaces that are none to an interpreter. The wide one of East Asian writing looks like what it is.
_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f]")
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0730-\u074a"
    "\u07eb-\u07f3\u0816-\u082d\u0898-\u089f\u08ca-\u0902\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc"
    "\u0ec8-\u0ecd\u0f71-\u0f87\u135d-\u135f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u302a-\u302f\u3099"
    "\u309a\ua66f-\ua67d\ufe20-\ufe2f"
)
# No script puts more marks on a letter; a pile of them covers the rows above and below.
_STACKED = re.compile(f"(?<=[{_MARKS}]{{8}})[{_MARKS}]+")

_ZWNJ, _ZWJ, _TEXT_STYLE, _EMOJI_STYLE, _KEYCAP = "\u200c", "\u200d", "\ufe0e", "\ufe0f", "\u20e3"

_JOINING_SCRIPTS = (
    "ARABIC",
    "SYRIAC",
    "MONGOLIAN",
    "NKO",
    "DEVANAGARI",
    "BENGALI",
    "GURMUKHI",
    "GUJARATI",
    "ORIYA",
    "TAMIL",
    "TELUGU",
    "KANNADA",
    "MALAYALAM",
    "SINHALA",
    "KHMER",
    "MYANMAR",
    "TIBETAN",
)


def visible(text: str) -> str:
    """`text` with every control, bidi and invisible character spelled out; line ends and tabs stay.

    Of more than eight marks on one letter the rest is counted.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _SPACES.sub(lambda found: _spelled(found.group()), _unstacked(text))
    return _SUSPECT.sub(lambda found: _spelled(found.group()), text)


def readable(text: str) -> str:
    """As `visible`, but selectors and joiners stay where emoji and scripts need them."""
    if text.isascii() and text.isprintable():
        return text
    return _SUSPECT.sub(_needed_or_spelled, _unstacked(text))


def one_line(text: str) -> str:
    """`visible`, with line ends and tabs spelled out too: for names that are shown within a sentence."""
    return visible(text).replace("\n", "^J").replace("\t", "^I")


def _unstacked(text: str) -> str:
    if text.isascii():
        return text
    return _STACKED.sub(lambda found: f"<{found.end() - found.start()} marks>", text)


def _spelled(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return "^" + chr(code + 0x40)
    if code == 0x7F:
        return "^?"
    return f"<U+{code:04X}>"


def _needed_or_spelled(found: re.Match[str]) -> str:
    character, text, at = found.group(), found.string, found.start()
    before = text[at - 1] if at else ""
    after = text[at + 1 : at + 2]
    if character in (_EMOJI_STYLE, _TEXT_STYLE):
        needed = _is_pictographic(before) or (before in "0123456789#*" and before != "" and after == _KEYCAP)
    elif character == _ZWJ:
        if before == _EMOJI_STYLE or _is_skin_tone(before):
            before = text[at - 2 : at - 1]
        needed = (_is_pictographic(before) and _is_pictographic(after)) or _both_join(before, after)
    elif character == _ZWNJ:
        needed = _both_join(before, after)
    elif "\ufe00" <= character <= "\ufe02" or "\U000e0100" <= character <= "\U000e01ef":
        needed = _is_ideograph(before)
    else:
        needed = "\u180b" <= character <= "\u180d" and _script(before) == "MONGOLIAN"
    return character if needed else _spelled(character)


def _both_join(before: str, after: str) -> bool:
    script = _script(before)
    return script in _JOINING_SCRIPTS and _script(after) == script


@lru_cache(maxsize=512)
def _script(character: str) -> str:
    if character == "" or unicodedata.category(character)[0] not in "LM":
        return ""
    return unicodedata.name(character, "").partition(" ")[0]


def _is_ideograph(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" or "𠀀" <= character <= "𳑿"


def _is_skin_tone(character: str) -> bool:
    return "\U0001f3fb" <= character <= "\U0001f3ff"


def _is_pictographic(character: str) -> bool:
    # Emoji are symbols (So), but for the six punctuation marks and arrows Unicode lists beside them;
    # skin tones are modifiers (Sk).
    if character == "" or character < "\u00a9":
        return False
    return unicodedata.category(character) == "So" or character in "‼⁉↔〰〽▪▫◾◽" or _is_skin_tone(character)


_WORD = re.compile(r"[^\W\d_]\w*")
# Scripts with letters that look alike. Greek is common in formulas (Δt, μ_x): only its letters that
# look like Latin ones count.
_CONFUSED = {"LATIN", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "MATHEMATICAL", "FULLWIDTH"}
_GREEK_AS_LATIN = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧον")


def lookalikes(code: str) -> list[str]:
    """Return one line for each name that mixes the letters of two scripts, in order of appearance."""
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
