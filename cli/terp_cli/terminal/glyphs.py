"""Signs that terp writes, in ASCII: for streams and terminals whose encoding lacks them.

stream.reconfigure(errors=stand_ins())      a stream that never fails to encode
carried("you › ", "ascii")                  "you > ", where something else encodes
"""

import codecs
from collections.abc import Mapping

STAND_INS: Mapping[str, str] = {
    # These are as wide as what they stand for: they are drawn where rows are measured.
    "‹": "<",
    "›": ">",
    "·": "-",
    "•": "*",
    "☐": "o",
    "☑": "x",
    "▸": ">",
    "┆": "|",
    "╌": ".",
    "⋮": ":",
    "⋯": "~",
    "─": "-",
    "━": "=",
    "│": "|",
    "┃": "|",
    "┼": "+",
    "✓": "+",
    "✗": "x",
    "×": "x",
    "−": "-",
    "▌": "|",
    "█": "#",
    "\ufffd": "?",
    **dict(zip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\|/-\\|/", strict=True)),
    "…": "...",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    # What a model writes most often beside letters.
    "–": "-",
    "—": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "\u00a0": " ",
    "\u202f": " ",
}

_HANDLER = "terp.stand_ins"


def carried(text: str, encoding: str) -> str:
    """`text` with what `encoding` lacks replaced."""
    if text.isascii():
        return text
    return text.encode(encoding, stand_ins()).decode(encoding)


def writes_formulas(encoding: str) -> bool:
    """Whether `encoding` has the signs of formulas."""
    try:
        "αᵢ²√∑ℝ≤".encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def stand_ins() -> str:
    """The name of an error handler for encoders that does what `carried` does."""
    codecs.register_error(_HANDLER, _replaced)
    return _HANDLER


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(STAND_INS.get(sign) or _escaped(sign) for sign in lacking), error.end


def _escaped(character: str) -> str:
    return character.encode("ascii", "backslashreplace").decode("ascii")
