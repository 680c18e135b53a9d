"""The parts of a formula, set on one line, or on several around matrices."""

from collections.abc import Iterable, Sequence
from typing import Literal

from rich.cells import cell_len

from terp.text.dataclasses import dataclass

Kind = Literal["ord", "op", "bin", "rel", "open", "close", "punct", "inner", "space"]
"""TeX's classes of atoms: they decide where there is a space (The TeXbook, chapter 18)."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a formula: `text` on one line, or `rows` on several."""

    text: str
    kind: Kind = "ord"
    rows: tuple[str, ...] = ()


RAISED = dict(
    zip(
        "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθφχ′*∗∘⊤†",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵡ′**°ᵀ†",
        strict=True,
    )
)
LOWERED = dict(
    zip("0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True)
)
_TALL = {
    "(": ("⎛", "⎜", "⎜", "⎝"),
    ")": ("⎞", "⎟", "⎟", "⎠"),
    "[": ("⎡", "⎢", "⎢", "⎣"),
    "]": ("⎤", "⎥", "⎥", "⎦"),
    "{": ("⎧", "⎪", "⎨", "⎩"),
    "}": ("⎫", "⎪", "⎬", "⎭"),
    "|": ("│", "│", "│", "│"),
    "‖": ("║", "║", "║", "║"),
}


def flat(atoms: Iterable[Atom]) -> str:
    """Atoms on one line."""
    return "".join(" " * gap + atom.text for atom, _, gap in _spaced(atoms))


def stacked(atoms: Sequence[Atom]) -> list[str]:
    """Atoms on as many lines as the tallest of them has; all are in line with the middle of each."""
    if not any(atom.rows for atom in atoms):
        return [flat(atoms)]
    above = max(_above(atom) for atom in atoms)
    height = above + max(len(atom.rows or " ") - _above(atom) for atom in atoms)
    lines = [""] * height
    for atom, _, gap in _spaced(atoms):
        rows = atom.rows or (atom.text,)
        width = max(cell_len(row) for row in rows)
        start = above - _above(atom)
        for at in range(height):
            row = rows[at - start] if 0 <= at - start < len(rows) else ""
            lines[at] += " " * gap + padded(row, width)
    return [line.rstrip() for line in lines]


def raised(text: str) -> str:
    """An exponent."""
    return _script(text, RAISED, "^")


def lowered(text: str) -> str:
    """An index."""
    return _script(text, LOWERED, "_")


def fenced(rows: Sequence[str], left: str, right: str) -> tuple[str, ...]:
    """Rows of one width between brackets of their height; "" for none on that side."""
    width = max(cell_len(row) for row in rows)
    sides = zip(_tall(left, len(rows)), rows, _tall(right, len(rows)), strict=True)
    return tuple(f"{before}{padded(row, width)}{after}" for before, row, after in sides)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """`text` made so many cells wide."""
    space = " " * max(0, width - cell_len(text))
    return space + text if right else text + space


def _tall(bracket: str, height: int) -> list[str]:
    if not bracket or height == 1:
        return [bracket] * height
    first, between, middle, last = _TALL.get(bracket, (bracket, bracket, bracket, bracket))
    inside = [between] * (height - 2)
    if inside:
        inside[len(inside) // 2] = middle
    return [first, *inside, last]


def _above(atom: Atom) -> int:
    return (len(atom.rows) - 1) // 2 if atom.rows else 0


def _spaced(atoms: Iterable[Atom]) -> Iterable[tuple[Atom, Kind, bool]]:
    before: Kind = "open"
    for atom in atoms:
        kind = atom.kind
        if kind == "bin" and before in ("open", "rel", "bin", "punct", "op"):
            # A sign, not a sum: it stands close to what follows.
            yield atom, "open", before in ("rel", "bin", "punct", "op")
            before = "open"
            continue
        yield atom, kind, _gap(before, kind)
        before = kind


def _gap(before: Kind, kind: Kind) -> bool:
    if "space" in (before, kind) or before == "open" or kind in ("close", "punct"):
        return False
    if before in ("bin", "rel", "punct") or kind in ("bin", "rel", "inner"):
        return True
    if before == "op":
        return kind != "open"
    return before == "inner" or kind == "op"


def _script(text: str, known: dict[str, str], mark: str) -> str:
    text = text.strip()
    if all(character in known for character in text):
        return "".join(known[character] for character in text)
    return f"{mark}{text}" if (text.isalnum() and text.isascii()) or len(text) == 1 else f"{mark}({text})"
