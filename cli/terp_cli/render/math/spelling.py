"""Formulas in ASCII: for encodings and terminals without their signs, and for being read aloud.

    spelled("xᵢ² + √π ≤ ∞")     "x_i^2 + sqrt(pi) <= infinity"

A sign without a short form is replaced by its Unicode name; letters of other scripts stay.
"""

import re
import unicodedata

from terp_cli.render.math.atoms import LOWERED, RAISED

_SIGNS = {
    "−": "-",
    "±": "+-",
    "∓": "-+",
    "×": "*",
    "·": "*",
    "⋅": "*",
    "∗": "*",
    "∙": "*",
    "÷": "/",
    "∖": "\\",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~=",
    "≔": ":=",
    "≪": "<<",
    "≫": ">>",
    "∼": "~",
    "∣": "|",
    "→": "->",
    "←": "<-",
    "↔": "<->",
    "⇒": "=>",
    "⇐": "<==",
    "⇔": "<=>",
    "⟹": "==>",
    "⟸": "<==",
    "⟶": "-->",
    "⟵": "<--",
    "⟺": "<==>",
    "↦": "|->",
    "—": "--",
    "′": "'",
    "‖": "||",
    "∥": "||",
    "⟨": "<",
    "⟩": ">",
    "…": "...",
    "⋯": "...",
    "ı": "i",
    "ȷ": "j",
}
_WORDS = {
    "∑": "sum",
    "∏": "product",
    "∫": "integral",
    "∂": "partial",
    "∇": "nabla",
    "∞": "infinity",
    "∈": "in",
    "∉": "not in",
    "∪": "union",
    "∩": "intersection",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "⊂": "subset of",
    "⊆": "subset of or equal to",
    "∅": "empty set",
    "∀": "for all",
    "∃": "there is",
    "≡": "is identical to",
    "∝": "is proportional to",
    "∘": "o",
    "°": "deg",
    "⊤": "T",
    "⊥": "perpendicular to",
}
_ROOTS = {"√": "sqrt", "∛": "cbrt", "∜": "root4"}
_ACCENTS = {"\u0302": "hat", "\u0304": "bar", "\u0305": "bar", "\u0303": "tilde", "\u20d7": "vec"}
_ACCENTS |= {"\u0307": "dot", "\u0308": "ddot", "\u0338": "not", "\u0332": "underline"}
_ACCENTS |= {"\u0301": "acute", "\u0300": "grave", "\u030c": "check", "\u0306": "breve", "\u030a": "ring"}
_SCRIPTS = {
    mark: {sign: plain for plain, sign in reversed(signs.items()) if sign not in "*°′†"}
    for mark, signs in (("^", RAISED), ("_", LOWERED))
}
_RAISED, _LOWERED = ("".join(map(re.escape, signs)) for signs in _SCRIPTS.values())
_PIECE = re.compile(
    rf"(?P<raised>[{_RAISED}]+)|(?P<lowered>[{_LOWERED}]+)"
    rf"|(?P<root>[√∛∜])(?P<of>[0-9.]*[0-9]|[^\W\d_{_RAISED}{_LOWERED}][{_RAISED}{_LOWERED}]*)?"
    r"|(?P<marked>.[\u0300-\u036f\u20d7])|.",
    re.DOTALL,
)


def spelled(formula: str) -> str:
    """Return a formula on one line, in ASCII; a character without a name stays."""
    if formula.isascii():
        return formula
    said = ""
    after_word = False
    for found in _PIECE.finditer(unicodedata.normalize("NFC", formula)):
        piece, is_word = _said(found)
        if said[-1:].isalnum() and piece[:1].isalnum() and (is_word or after_word):
            said += " "
        said += piece
        after_word = is_word or found.lastgroup in ("raised", "lowered")
    return said


def _said(found: re.Match[str]) -> tuple[str, bool]:
    """Return a piece in ASCII, and True if it is a separate word."""
    if script := found["raised"] or found["lowered"]:
        mark = "^" if found["raised"] else "_"
        inside = spelled("".join(_SCRIPTS[mark][sign] for sign in script))
        is_one = inside.isdecimal() or inside.isalpha() or (inside[:1], inside[-1:]) == ("(", ")")
        return (f"{mark}{inside}" if is_one else f"{mark}({inside})"), False
    if root := found["root"]:
        return _ROOTS[root] + (f"({spelled(found['of'])})" if found["of"] else ""), True
    if marked := found["marked"]:
        return _accented(marked), True
    return _sign(found[0])


def _sign(sign: str) -> tuple[str, bool]:
    if sign.isascii() or sign in _SIGNS:
        return _SIGNS.get(sign, sign), False
    if sign in _WORDS or sign in _ACCENTS:
        # An accent over nothing.
        return _WORDS.get(sign) or _ACCENTS[sign], True
    plain = unicodedata.normalize("NFKD", sign).replace("\u2044", "/")
    if plain.isascii():
        # Letters of other alphabets, and fractions.
        return plain, len(plain) > 1
    # What is a letter of Latin-1 is more often one of a word.
    if len(plain) == 2 and plain[1] in _ACCENTS and sign > "\xff":
        return _accented(plain), True
    return _named(sign, plain)


def _accented(letter: str) -> str:
    name = _ACCENTS.get(letter[1])
    inside = spelled(letter[0])
    return f"{name} {inside}" if name == "not" else f"{name}({inside})" if name else letter


def _named(sign: str, plain: str) -> tuple[str, bool]:
    name = unicodedata.name(plain[0], "")
    if name.startswith("GREEK") and len(plain) == 1:
        letter = name.partition("LETTER ")[2].removeprefix("FINAL ").lower()
        return (letter.capitalize() if "CAPITAL" in name else letter) or sign, True
    if unicodedata.category(sign) not in ("Sm", "So"):
        return sign, False
    return unicodedata.name(sign, sign).lower().removeprefix("n-ary "), True
