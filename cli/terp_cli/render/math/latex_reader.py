"""A formula's tokens, read once from the first to the last, as atoms."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from html.entities import html5

from terp_cli.render.math.atoms import Atom, Kind, flat, lowered, raised

_TOKEN = re.compile(r"\\(?:[A-Za-z]+\*?|.|\Z)|[0-9]+(?:[.,][0-9]+)*|\s+|.", re.DOTALL)
_DEEPEST = 24
_SIGNS = frozenset("+−-±∓×÷·⋅∗∘∙∪∩⊕⊗⊙∧∨∖⋆⊎⊔⊓")
_ORDINARY = frozenset("|‖∞∂∇∀∃∄∅√¬⊤⊥∠∴∵°ℓ∎′△□◻◯")
_LARGE = frozenset("∑∏∐∫∬∭∮⋃⋂⨁⨂⨆⋁⋀")
_ENDS = ("}", "&", "\\\\", "\\cr", "\\newline", "\\end", "\\right")

Cell = list[Atom]
Command = Callable[["LatexReader", str], list[Atom]]


class LatexReader:
    """Reads a formula with the commands it is given; too deeply nested parts stay as they were written."""

    def __init__(self, source: str, commands: Mapping[str, Command]) -> None:
        self._tokens = _TOKEN.findall(source.strip())
        self._commands = commands
        self._at = 0
        self._depth = 0

    def rows(self, end: str = "") -> list[list[Cell]]:
        """Rows of cells, up to the end of the environment `end`, or to the end of all."""
        rows = [[self.sequence()]]
        while mark := self.next():
            if mark == "&":
                rows[-1].append(self.sequence())
            elif mark in ("\\\\", "\\cr", "\\newline"):
                self.bracketed()
                rows.append([self.sequence()])
            elif mark == "\\end" and end:
                self.raw()
                break
            else:
                # A closing mark that nothing opened.
                shown = mark if mark != "\\end" else f"\\end{{{self.raw()}}}"
                rows[-1][-1] += [Atom(shown, "close"), *self.sequence()]
        return [cells for cells in rows if any(cell for cell in cells)]

    def sequence(self) -> list[Atom]:
        """Atoms up to a mark that ends a group, a cell or an environment; the mark stays unread."""
        atoms: list[Atom] = []
        while self._at < len(self._tokens):
            mark = self._tokens[self._at]
            if mark in _ENDS:
                break
            self._at += 1
            if mark in ("^", "_", "'"):
                self._attach(atoms, mark)
            else:
                atoms += self._atoms(mark)
        return atoms

    def _attach(self, atoms: list[Atom], mark: str) -> None:
        base = atoms.pop() if atoms and atoms[-1].kind != "space" else Atom("")
        if mark == "'":
            text = "′"
        else:
            script = flat(Atom(atom.text, "ord") for atom in self.argument())
            text = raised(script) if mark == "^" else lowered(script)
        rows = base.rows
        if rows and mark == "_":
            rows = (*rows[:-1], rows[-1] + text)
        elif rows:
            rows = (rows[0] + text, *rows[1:])
        atoms.append(Atom(base.text + text, base.kind, rows))

    def _atoms(self, mark: str) -> list[Atom]:
        if mark == "{":
            return self._group()
        if mark.startswith("\\") and len(mark) > 1:
            return self._command(mark[1:].rstrip("*"))
        if mark.isspace():
            return []
        if mark == "~":
            return [Atom(" ", "space")]
        return [character(mark)]

    def _group(self) -> list[Atom]:
        if self._depth >= _DEEPEST:
            self._at -= 1
            return [Atom(f"{{{self.raw()}}}")]
        self._depth += 1
        atoms = self.sequence()
        while self.peek() not in ("}", "") and self.peek() != "\\end":
            # A group does not end at a cell or a line.
            atoms += [Atom(plain(self.next()), "punct"), *self.sequence()]
        if self.peek() == "}":
            self._at += 1
        self._depth -= 1
        return atoms

    def _command(self, name: str) -> list[Atom]:
        if (command := self._commands.get(name)) and self._depth < _DEEPEST:
            self._depth += 1
            atoms = command(self, name)
            self._depth -= 1
            return atoms
        if name in FUNCTIONS:
            return [Atom(FUNCTIONS[name], "op")]
        if name in SPACES:
            return [Atom(SPACES[name], "space")]
        if name in UNSEEN:
            return []
        known = symbol(name)
        return [character(known) if known else Atom(f"\\{name}", "op")]

    def argument(self) -> list[Atom]:
        """The group or the one symbol that follows."""
        self._skip_space()
        mark = self.peek()
        if mark in ("", "}", "&", "\\\\", "\\end", "\\right", "^", "_"):
            return []
        self._at += 1
        if mark.isdigit() and len(mark) > 1:
            # `\frac12` and `x^10` take one digit.
            self._at -= 1
            self._tokens[self._at] = mark[1:]
            return [Atom(mark[0])]
        return self._atoms(mark)

    def raw(self) -> str:
        """The source of an argument."""
        self._skip_space()
        if self.peek() != "{":
            return self.next()
        self._at += 1
        begun, open_groups = self._at, 1
        while self._at < len(self._tokens):
            mark = self._tokens[self._at]
            self._at += 1
            open_groups += (mark == "{") - (mark == "}")
            if not open_groups:
                return "".join(self._tokens[begun : self._at - 1])
        return "".join(self._tokens[begun:])

    def bracketed(self) -> str:
        """The source of an optional argument; "" where there is none."""
        if self.peek() != "[" or "]" not in self._tokens[self._at : self._at + 40]:
            return ""
        end = self._tokens.index("]", self._at)
        found = "".join(self._tokens[self._at + 1 : end])
        self._at = end + 1
        return found

    def _skip_space(self) -> None:
        while self.peek().isspace():
            self._at += 1

    def peek(self) -> str:
        """Return the next token, which stays unread; "" at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def next(self) -> str:
        """Read and return the next token."""
        mark = self.peek()
        self._at += 1
        return mark

    def bracket(self) -> str:
        """Read the next bracket; "" for none."""
        self._skip_space()
        mark = self.next()
        if mark == ".":
            return ""
        return (symbol(mark[1:]) or mark) if mark.startswith("\\") else mark


def character(text: str) -> Atom:
    """A symbol and its class."""
    if len(text) != 1:
        return Atom(text)
    if text in "-−":
        return Atom("−", "bin")
    if text in "([{⟨⌊⌈":
        return Atom(text, "open")
    if text in ")]}⟩⌋⌉!":
        return Atom(text, "close")
    if text in ",;":
        return Atom(text, "punct")
    return Atom("∗" if text == "*" else text, _kind(text))


def _kind(text: str) -> Kind:
    if text in _SIGNS or text == "*":
        return "bin"
    if text in _LARGE:
        return "op"
    is_relation = text in "=<>:∣∥∈∉≔" or (unicodedata.category(text) == "Sm" and text not in _ORDINARY)
    return "rel" if is_relation or "←" <= text <= "⇿" or "⟰" <= text <= "⟿" else "ord"


def plain(source: str) -> str:
    """The text of a few tokens, without markup."""
    return re.sub(r"\\[,;:!> ]", " ", source).replace("\\\\", ";").replace("&", "").strip("{}")


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
    """A letter in another alphabet, such as mathbb; the letter itself if that alphabet lacks it."""
    return html5.get(f"{plain}{_ALPHABETS[alphabet]};", plain)
