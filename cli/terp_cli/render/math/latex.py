r"""LaTeX formulas as a person would type them: fractions on one line, indices raised and lowered.

    formula(r"\frac{a+b}{2} \le \sqrt{x_i^2}")     "(a + b)/2 ≤ √(xᵢ²)"
    displayed(r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}")     ["⎛a  b⎞", "⎝c  d⎠"]

With `ascii_only` each line is spelled out, "(a + b)/2 <= sqrt(x_i^2)", and nothing is drawn. Neither fails
nor drops what it does not know: an unknown command stays as it was written.
"""

from terp_cli.render.math.atoms import flat, stacked
from terp_cli.render.math.latex_commands import COMMANDS, aligned
from terp_cli.render.math.latex_reader import Reader
from terp_cli.render.math.spelling import spelled

_LONGEST = 8_000


def formula(source: str, *, ascii_only: bool = False) -> str:
    """A formula on one line."""
    if len(source) > _LONGEST:
        return source
    return "; ".join(_lines(source, ascii_only=ascii_only))


def displayed(source: str, *, ascii_only: bool = False) -> list[str]:
    """A formula that stands alone, on as many lines as it needs."""
    if len(source) > _LONGEST:
        return source.strip("\n").split("\n")
    if ascii_only:
        # What is drawn around a matrix, and the places below each other, need signs of one cell.
        return _lines(source, ascii_only=True)
    rows = Reader(source, COMMANDS).rows()
    whole = aligned(rows) if len(rows) > 1 else stacked(rows[0][0]) if rows and rows[0] else []
    return [line.rstrip() for line in whole]


def _lines(source: str, *, ascii_only: bool) -> list[str]:
    rows = Reader(source, COMMANDS).rows()
    lines = (flat(atom for cell in cells for atom in cell).strip() for cells in rows)
    return [spelled(line) if ascii_only else line for line in lines if line]
