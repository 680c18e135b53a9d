"""The names of LaTeX's symbols."""

from html.entities import html5

# HTML took most of its names from LaTeX; these are missing there, or mean something else.
_OWN = {
    "neq": "≠",
    "land": "∧",
    "lor": "∨",
    "to": "→",
    "gets": "←",
    "implies": "⟹",
    "impliedby": "⟸",
    "leadsto": "⇝",
    "infty": "∞",
    "partial": "∂",
    "exists": "∃",
    "neg": "¬",
    "lnot": "¬",
    "Box": "□",
    "degree": "°",
    "surd": "√",
    "QED": "∎",
    "iint": "∬",
    "oiint": "∯",
    "ldots": "…",
    "dots": "…",
    "dotsc": "…",
    "dotsb": "⋯",
    "cdots": "⋯",
    "vdots": "⋮",
    "ddots": "⋱",
    "coloneqq": "≔",
    "eqqcolon": "≕",
    "lll": "⋘",
    "copyright": "©",
    "S": "§",
    "P": "¶",
    "dashrightarrow": "⇢",
    "varepsilon": "ε",
    "varphi": "φ",
    "preceq": "≼",
    "succeq": "≽",
    "asymp": "≍",
    "cdot": "·",
    "star": "⋆",
    "circ": "∘",
    "oslash": "⊘",
    "triangle": "△",
    "Diamond": "◇",
    "lVert": "‖",
    "rVert": "‖",
    "lvert": "|",
    "rvert": "|",
    "vert": "|",
    "lbrace": "{",
    "rbrace": "}",
    "lbrack": "[",
    "rbrack": "]",
    "backslash": "∖",
    "colon": ":",
    "And": "&",
    "i": "ı",
    "j": "ȷ",
    **{mark: mark for mark in "{}%$&#_"},
    "|": "‖",
    "-": "",
}

_ALPHABETS = {"mathbb": "opf", "mathcal": "scr", "mathscr": "scr", "mathfrak": "fr"}

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
    return html5.get(f"{name};", "") if own is None else own


def letter(alphabet: str, plain: str) -> str:
    """A letter in another alphabet, such as mathbb; itself where there is none."""
    return html5.get(f"{plain}{_ALPHABETS[alphabet]};", plain)
