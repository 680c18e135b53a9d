"""Signs that terp writes, in ASCII: for streams and terminals whose encoding lacks them.

stream.reconfigure(errors=stand_ins())      a stream that never fails to encode
"""

import codecs
from collections.abc import Mapping

STAND_INS: Mapping[str, str] = {
    # These are as wide as the signs they replace: they appear in rows that are measured.
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
    "↑": "^",
    "↓": "v",
    # Frequent in a model's text.
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


def writes_formulas(encoding: str) -> bool:
    """Return True if `encoding` has the signs of formulas."""
    try:
        "αᵢ²√∑ℝ≤".encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def stand_ins() -> str:
    """Register an encoding error handler that writes stand-ins for lacking characters; return its name."""
    codecs.register_error(_HANDLER, _replaced)
    return _HANDLER


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(STAND_INS.get(sign) or _escaped(sign) for sign in lacking), error.end


def _escaped(character: str) -> str:
    return character.encode("ascii", "backslashreplace").decode("ascii")
