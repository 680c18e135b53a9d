r"""LaTeX formulas as plain text: fractions on one line, indices raised and lowered.

    formula(r"\frac{a+b}{2} \le \sqrt{x_i^2}")     "(a + b)/2 ≤ √(xᵢ²)"
    displayed(r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}")     ["⎛a  b⎞", "⎝c  d⎠"]

With `ascii_only` each line is spelled out, "(a + b)/2 <= sqrt(x_i^2)", and nothing is drawn. Neither function
fails, and an unknown command stays as it was written.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from terp_cli.render.math.atoms import Atom, Kind, fenced, flat, lowered, padded, raised, stacked
from terp_cli.render.math.latex_reader import Cell, Command, LatexReader, character, letter, plain
from terp_cli.render.math.spelling import spelled

_TOGETHER = {("1", "2"): "½", ("1", "3"): "⅓", ("2", "3"): "⅔", ("1", "4"): "¼", ("3", "4"): "¾"}
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_ACCENTS = {
    "hat": "\u0302",
    "widehat": "\u0302",
    "tilde": "\u0303",
    "widetilde": "\u0303",
    "bar": "\u0304",
    "overline": "\u0305",
    "underline": "\u0332",
    "vec": "\u20d7",
    "dot": "\u0307",
    "ddot": "\u0308",
    "acute": "\u0301",
    "grave": "\u0300",
    "check": "\u030c",
    "breve": "\u0306",
    "mathring": "\u030a",
}
_BRACKETS = {
    "pmatrix": "()",
    "bmatrix": "[]",
    "Bmatrix": "{}",
    "vmatrix": "||",
    "Vmatrix": "‖‖",
    "cases": "{ ",
    "dcases": "{ ",
    "rcases": " }",
}
# f(x), n! or (a + b)², which need no brackets around them.
_ONE = re.compile(r"\w[\u2070-\u209c]*(\([^()]*\)|!)|\([^()]*\)[²³¹\u2070-\u207f]*")
_MATRICES = frozenset({"matrix", "smallmatrix", "array", *_BRACKETS})


def fraction(reader: LatexReader, _: str) -> list[Atom]:
    """Numerator and denominator, as (a)/(b)."""
    over, under = reader.argument(), reader.argument()
    if whole := _TOGETHER.get((flat(over), flat(under))):
        return [Atom(whole)]
    return [Atom(f"{_closed(over)}/{_closed(under, product=False)}", "inner")]


def root(reader: LatexReader, _: str) -> list[Atom]:
    """A root sign and the radicand, in brackets if that is more than one letter."""
    degree = reader.bracketed()
    sign = _ROOTS.get(degree) or f"{raised(degree)}√"
    inside = reader.argument()
    text = flat(inside)
    return [Atom(sign + (text if len(inside) == 1 and not _is_compound(inside[0]) else f"({text})"))]


def binomial(reader: LatexReader, _: str) -> list[Atom]:
    """A binomial coefficient as it is read aloud: (n choose k)."""
    return [Atom(f"({flat(reader.argument())} choose {flat(reader.argument())})")]


def words(reader: LatexReader, _: str) -> list[Atom]:
    """Plain words within a formula, unchanged."""
    return [Atom(re.sub(r"\\([#$%&_{} ])", r"\1", reader.raw()).replace("~", " "))]


def operator(reader: LatexReader, _: str) -> list[Atom]:
    """A function that the formula names itself (operatorname)."""
    return [Atom(plain(reader.raw()), "op")]


def letters(reader: LatexReader, name: str) -> list[Atom]:
    """Letters of another alphabet, where Unicode has it."""
    atoms = reader.argument()
    return [Atom("".join(letter(name, c) for c in atom.text), atom.kind) for atom in atoms]


def same(reader: LatexReader, _: str) -> list[Atom]:
    """Return the argument unchanged: the command changes only its look."""
    return reader.argument()


def without_first(reader: LatexReader, _: str) -> list[Atom]:
    """Return the second argument; the first only describes its look."""
    reader.raw()
    return reader.argument()


def nothing(reader: LatexReader, _: str) -> list[Atom]:
    """Skip an invisible argument."""
    reader.raw()
    return []


def accent(reader: LatexReader, name: str) -> list[Atom]:
    """A mark over or under each letter; with more than a few letters, the name of the mark."""
    text = flat(reader.argument())
    if len(text) <= 3 and text.isalnum():
        return [Atom(unicodedata.normalize("NFC", "".join(c + _ACCENTS[name] for c in text)))]
    return [Atom(f"{name}({text})")]


def negated(reader: LatexReader, _: str) -> list[Atom]:
    """The symbol that follows, struck through."""
    return [
        Atom(unicodedata.normalize("NFC", atom.text[:1] + "\u0338" + atom.text[1:]), atom.kind)
        for atom in reader.argument()
    ]


def over_or_under(reader: LatexReader, name: str) -> list[Atom]:
    """Something over or under something else."""
    script, base = flat(reader.argument()), reader.argument()
    kind: Kind = base[0].kind if base else "ord"
    return [Atom(flat(base) + (lowered if name == "underset" else raised)(script), kind)]


def braced(reader: LatexReader, _: str) -> list[Atom]:
    """A brace over or under a part, which then has an index."""
    return [Atom(_closed(reader.argument()))]


def arrow(reader: LatexReader, name: str) -> list[Atom]:
    """An arrow with words on it."""
    below, above = reader.bracketed(), flat(reader.argument())
    words = ", ".join(filter(None, (above, below)))
    return [Atom(f"←{words}—" if "left" in name else f"—{words}→", "rel")]


def remainder(reader: LatexReader, _: str) -> list[Atom]:
    """The modulus, in brackets."""
    return [Atom(" ", "space"), Atom(f"(mod {flat(reader.argument())})")]


def tag(reader: LatexReader, _: str) -> list[Atom]:
    """The number of an equation."""
    return [Atom("  ", "space"), Atom(f"({reader.raw()})")]


def stack(reader: LatexReader, _: str) -> list[Atom]:
    """Short lines above each other, as under a sum."""
    lines = re.split(r"\\\\", reader.raw())
    return [Atom(", ".join(flat(LatexReader(line, {}).sequence()) for line in lines))]


def delimited(reader: LatexReader, _: str) -> list[Atom]:
    """Brackets as high as their content."""
    left = reader.bracket()
    inside = reader.sequence()
    while reader.peek() not in ("\\right", "\\end", ""):
        inside += [Atom(plain(reader.next()), "punct"), *reader.sequence()]
    right = ""
    if reader.peek() == "\\right":
        reader._at += 1
        right = reader.bracket()
    text = f"{left}{flat(inside)}{right}"
    if not any(atom.rows for atom in inside):
        return [Atom(text, "ord")]
    return [Atom(text, "ord", fenced(stacked(inside), left, right))]


def bracket(reader: LatexReader, _: str) -> list[Atom]:
    """One bracket whose size was set by hand."""
    return [character(reader.bracket() or ".")]


def environment(reader: LatexReader, _: str) -> list[Atom]:
    """A matrix, cases or lines that are aligned."""
    name = reader.raw().rstrip("*")
    if name in ("array", "alignat", "alignedat", "tabular"):
        reader.bracketed()
        reader.raw()
    rows = reader.rows(end=name)
    left, right = (mark.strip() for mark in _BRACKETS.get(name, "  "))
    if name not in _MATRICES:
        text = "; ".join(flat(_joined(cells)) for cells in rows)
        return [Atom(text, "ord", tuple(aligned(rows)) if len(rows) > 1 else ())]
    commas = [", ".join(flat(cell) for cell in cells) for cells in rows]
    text = f"{left or '['}{'; '.join(commas)}{right or ('' if left == '{' else ']')}"
    if not rows:
        return [Atom(text)]
    return [Atom(text, "ord", fenced(_columns(rows, left=left == "{"), left, right))]


def _closed(atoms: Sequence[Atom], *, product: bool = True) -> str:
    """One side of a fraction: in brackets, unless it is one atom, or a `product` of several."""
    text = flat(atoms)
    one = (len(atoms) == 1 and not _is_compound(atoms[0])) or _ONE.fullmatch(text)
    letters = all(atom.kind == "ord" and not _is_compound(atom) for atom in atoms)
    is_derivative = len(atoms) == 2 and atoms[0].text[:1] in ("d", "∂")
    return text if one or (letters and (product or is_derivative)) else f"({text})"


def _is_compound(atom: Atom) -> bool:
    return any(character in atom.text for character in " /;,") or atom.text == ""


def _joined(cells: Sequence[Cell]) -> list[Atom]:
    return [atom for cell in cells for atom in cell]


def _columns(rows: Sequence[Sequence[Cell]], *, left: bool) -> list[str]:
    """Cells below each other, in the middle of their column or at its left."""
    texts = [[flat(cell) for cell in cells] for cells in rows]
    widths = _widths(texts)
    return [
        "  ".join(
            padded(text, width) if left else padded(" " * ((width - cell_len(text)) // 2) + text, width)
            for text, width in zip(cells, widths, strict=False)
        )
        for cells in texts
    ]


def aligned(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Lines whose `&` stand below each other."""
    lines: list[str] = []
    plain = [[flat(cell) for cell in cells] for cells in rows]
    widths = _widths(plain)
    for cells, texts in zip(rows, plain, strict=True):
        if any(atom.rows for atom in _joined(cells)):
            lines += stacked(_joined(cells))
            continue
        columns = enumerate(zip(texts, widths, strict=False))
        sides = (padded(text, width, right=not at % 2) for at, (text, width) in columns)
        lines.append(" ".join(sides) if len(texts) > 1 else texts[0])
    return lines


def _widths(texts: Sequence[Sequence[str]]) -> list[int]:
    columns = max((len(cells) for cells in texts), default=0)
    return [max(cell_len(cells[at]) if at < len(cells) else 0 for cells in texts) for at in range(columns)]


COMMANDS: Mapping[str, Command] = {
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), fraction),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), binomial),
    **dict.fromkeys(
        ("text", "textrm", "textbf", "textit", "texttt", "textsf", "mbox", "ce", "unit", "textnormal"),
        words,
    ),
    **dict.fromkeys(("mathbb", "mathcal", "mathfrak", "mathscr"), letters),
    **dict.fromkeys(
        ("mathbf", "mathrm", "mathit", "mathsf", "mathtt", "boldsymbol", "bm", "boxed", "mathop", "pmb"),
        same,
    ),
    **dict.fromkeys(("textcolor", "colorbox"), without_first),
    **dict.fromkeys(("label", "hspace", "vspace", "phantom", "vphantom", "hphantom", "color"), nothing),
    **dict.fromkeys(_ACCENTS, accent),
    **dict.fromkeys(("overset", "stackrel", "underset"), over_or_under),
    **dict.fromkeys(("underbrace", "overbrace"), braced),
    **dict.fromkeys(("xrightarrow", "xleftarrow"), arrow),
    **dict.fromkeys(("big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr"), bracket),
    **dict.fromkeys(("biggl", "biggr", "Biggl", "Biggr", "bigm", "middle"), bracket),
    "sqrt": root,
    "operatorname": operator,
    "not": negated,
    "pmod": remainder,
    "tag": tag,
    "substack": stack,
    "left": delimited,
    "begin": environment,
}


_LONGEST = 8_000


def formula(source: str, *, ascii_only: bool = False) -> str:
    """Return a formula on one line."""
    if len(source) > _LONGEST:
        return source
    return "; ".join(_lines(source, ascii_only=ascii_only))


def displayed(source: str, *, ascii_only: bool = False) -> list[str]:
    """Return a display formula, on as many lines as it needs."""
    if len(source) > _LONGEST:
        return source.strip("\n").split("\n")
    if ascii_only:
        # What is drawn around a matrix, and the places below each other, need signs of one cell.
        return _lines(source, ascii_only=True)
    rows = LatexReader(source, COMMANDS).rows()
    whole = aligned(rows) if len(rows) > 1 else stacked(rows[0][0]) if rows and rows[0] else []
    return [line.rstrip() for line in whole]


def _lines(source: str, *, ascii_only: bool) -> list[str]:
    rows = LatexReader(source, COMMANDS).rows()
    lines = (flat(atom for cell in cells for atom in cell).strip() for cells in rows)
    return [spelled(line) if ascii_only else line for line in lines if line]
