"""The names of LaTeX's symbols. Most of them are unicodeit's, which is imported with the first formula."""

from functools import lru_cache

# Where unicodeit has none, or one that terminals draw wide or wrong.
_OWN = {
    "langle": "⟨",
    "rangle": "⟩",
    "star": "⋆",
    "square": "□",
    "Box": "□",
    "dots": "…",
    "dotsc": "…",
    "dotsb": "⋯",
    "lVert": "‖",
    "rVert": "‖",
    "lvert": "|",
    "rvert": "|",
    "vert": "|",
    "lbrace": "{",
    "rbrace": "}",
    "lbrack": "[",
    "rbrack": "]",
    "cdot": "·",
    "colon": ":",
    "lt": "<",
    "gt": ">",
    "And": "&",
    "degree": "°",
    "epsilon": "ε",
    "phi": "φ",
    "mathbb{1}": "𝟙",
    "i": "ı",
    "bigcup": "⋃",
    "bigcap": "⋂",
    "bigoplus": "⨁",
    "bigotimes": "⨂",
    "bigvee": "⋁",
    "bigwedge": "⋀",
    "{": "{",
    "}": "}",
    "|": "‖",
    "%": "%",
    "$": "$",
    "&": "&",
    "#": "#",
    "_": "_",
    "-": "",
}

FUNCTIONS = {
    **{
        name: name for name in ("arccos", "arcsin", "arctan", "arg", "argmax", "argmin", "cos", "cosh", "cot")
    },
    **{name: name for name in ("coth", "csc", "deg", "det", "dim", "exp", "gcd", "hom", "inf", "ker", "lg")},
    **{name: name for name in ("lim", "ln", "log", "max", "min", "mod", "Pr", "sec", "sin", "sinh", "sup")},
    **{name: name for name in ("tan", "tanh")},
    "bmod": "mod",
    "limsup": "lim sup",
    "liminf": "lim inf",
}

SPACES = {
    "quad": "  ",
    "qquad": "    ",
    ",": " ",
    ";": " ",
    ":": " ",
    ">": " ",
    " ": " ",
    "\n": " ",
    "enspace": " ",
    "thinspace": " ",
    "space": " ",
}

UNSEEN = frozenset(
    {"!", "/", "displaystyle", "textstyle", "scriptstyle", "scriptscriptstyle", "limits", "nolimits", "notag"}
    | {"nonumber", "hline", "mathstrut", "strut", "bf", "rm", "it", "cal", "noindent", "right"}
)


def symbol(name: str) -> str:
    """The character that a command without its backslash stands for; "" when there is none."""
    own = _OWN.get(name)
    return _known().get("\\" + name, "") if own is None else own


@lru_cache(maxsize=1)
def _known() -> dict[str, str]:
    from unicodeit.data import REPLACEMENTS  # type: ignore[import-untyped]  # noqa: PLC0415  (see above)

    return {name: text for name, text in REPLACEMENTS if name.startswith("\\")}
