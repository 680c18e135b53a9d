import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp_cli.render.math.latex import displayed, formula

FORMULAS = [
    (r"E = mc^2", "E = mc²"),
    (r"\frac{a+b}{c-d}", "(a + b)/(c − d)"),
    (r"\frac12mv^2", "½mv²"),
    (r"\frac{\partial f}{\partial x}", "∂f/∂x"),
    (r"\frac{1}{2a}", "1/(2a)"),
    (r"x_i^2 + \sum_{i=1}^{n} x_i", "xᵢ² + ∑ᵢ₌₁ⁿ xᵢ"),
    (r"\sqrt{x^2+y^2} \le \sqrt[3]{z}", "√(x² + y²) ≤ ∛z"),
    (r"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}", "∫₀^∞ e^(−x²) dx = √π/2"),
    (r"\mathbb{R}^n \to \mathcal{L}, \hat{y}_i", "ℝⁿ → ℒ, ŷᵢ"),
    (r"\left( \frac{\partial f}{\partial x} \right)^{2}", "(∂f/∂x)²"),
    (r"\lim_{x \to 0} \frac{\sin x}{x} = 1", "lim_(x→0) (sin x)/x = 1"),
    (r"x_{i,j}^{(k)}", "x_(i,j)⁽ᵏ⁾"),
    (r"\binom{n}{k}", "(n choose k)"),
    (r"90^\circ, 50\%, f'(x)", "90°, 50%, f′(x)"),
    (r"-x + -y = (-1)(-2)", "−x + −y = (−1)(−2)"),
    (r"\text{accuracy} = \frac{\text{TP} + \text{TN}}{\text{all}}", "accuracy = (TP + TN)/all"),
    (r"|x| \leq \|y\|, x \not\in A", "|x| ≤ ‖y‖, x ∉ A"),
    (r"a \equiv b \pmod{n}", "a ≡ b (mod n)"),
    (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^T", "(a, b; c, d)ᵀ"),
    (r"\unknown{x}", r"\unknown x"),
    (r"\frac{a", "a/()"),
    (r"a } b", "a}b"),
]


@pytest.mark.parametrize(("source", "shown"), FORMULAS)
def test_a_formula_reads_as_a_person_would_type_it(source: str, shown: str) -> None:
    assert formula(source) == shown


def test_matrices_stand_in_the_middle_of_their_line() -> None:
    assert displayed(r"f(x) = \begin{cases} x^2 & x > 0 \\ -x & \text{otherwise} \\ 0 \end{cases}") == [
        "       ⎧x²  x > 0",
        "f(x) = ⎨−x  otherwise",
        "       ⎩0",
    ]


def test_the_lines_of_an_equation_are_aligned() -> None:
    assert displayed(r"\begin{align} a + b &= c \\ &= \frac{1}{n} \end{align}") == [
        "a + b = c",
        "      = 1/n",
    ]


SPELLED = [
    (r"E = mc^2", "E = mc^2"),
    (r"\frac12mv^2", "1/2 mv^2"),
    (r"x_i^2 + \sum_{i=1}^{n} x_i", "x_i^2 + sum_(i=1)^n x_i"),
    (r"\sqrt{x^2+y^2} \le \sqrt[3]{z}", "sqrt(x^2 + y^2) <= cbrt(z)"),
    (r"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}", "integral_0^infinity e^(-x^2) dx = sqrt(pi)/2"),
    (r"\mathbb{R}^n \to \mathcal{L}, \hat{y}_i", "R^n -> L, hat(y)_i"),
    (r"x_{i,j}^{(k)}, \beta^{2k}, 2\pi r", "x_(i,j)^(k), beta^(2k), 2 pi r"),
    (r"90^\circ, f'(x), \Omega\alpha", "90 deg, f'(x), Omega alpha"),
    (r"|x| \leq \|y\|, x \not\in A", "|x| <= ||y||, x not in A"),
    (r"a \oplus b", "a circled plus b"),
    (r"\text{Größe} = 東", "Größe = 東"),
    (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^T", "(a, b; c, d)^T"),
]


@pytest.mark.parametrize(("source", "said"), SPELLED)
def test_a_formula_is_spelled_where_its_signs_are_missing(source: str, said: str) -> None:
    assert formula(source, ascii_only=True) == said
    assert displayed(source, ascii_only=True) == [said]


MARKS = ["{", "}", "^", "_", "&", r"\\", r"\frac", r"\sqrt[", r"\left(", r"\right.", r"\begin{matrix}", "x"]
MARKS += [
    r"\end{matrix}",
    r"\text{",
    r"\hat",
    r"\not",
    "'",
    r"\substack{",
    "12",
    " ",
    "\\",
    r"\alpha",
    "漢",
    "\x1b[",
]


@given(st.lists(st.sampled_from(MARKS), max_size=40).map("".join))
def test_nothing_that_is_no_formula_fails(source: str) -> None:
    assert "\n" not in formula(source)
    assert all("\n" not in row for row in displayed(source))


@given(st.lists(st.sampled_from([mark for mark in MARKS if mark.isascii()]), max_size=40).map("".join))
def test_ascii_is_spelled_in_ascii(source: str) -> None:
    assert formula(source, ascii_only=True).isascii()


@pytest.mark.parametrize("piece", ["{", r"\sqrt{", r"\left(", r"\begin{matrix}", "_{", r"\substack{", "}"])
def test_what_is_nested_without_end_is_read_all_the_same(piece: str) -> None:
    assert isinstance(formula(piece * 3_000), str)
