"""The list of variables, at any width."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from terp.events.kernel import Variable
from terp_cli.repl.commands.code import variables_table

SOME = [
    Variable("df", "DataFrame", (10_000, 12), 960_132, "columns: sepal_length, sepal_width, petal_length"),
    Variable("model", "Pipeline", (), None, "Pipeline(steps=[('scale', StandardScaler())])"),
    Variable("x", "int", (), 28, "1"),
]


def drawn(variables: list[Variable], width: int) -> list[str]:
    return [row.plain for row in variables_table(variables, width)]


def test_numbers_stand_at_the_right_of_their_columns() -> None:
    assert drawn(SOME, 80) == [
        "name   type           shape      size  head",
        "df     DataFrame  10,000×12    960 kB  columns: sepal_length, sepal_width, petal_length"[:79] + "…",
        "model  Pipeline                        Pipeline(steps=[('scale', StandardScaler())])"[:79] + "…",
        "x      int                   28 bytes  1",
    ]


def test_columns_go_from_the_right_where_it_is_narrow() -> None:
    assert drawn(SOME, 40)[1] == "df     DataFrame  10,000×12    960 kB"
    assert drawn(SOME, 30)[1] == "df     DataFrame  10,000×12"
    assert drawn(SOME, 20)[1] == "df     DataFrame"
    assert drawn(SOME, 4)[2] == "mod…"


def test_without_variables_it_says_so() -> None:
    assert drawn([], 80) == ["There are no variables."]


def test_what_a_kernel_says_is_no_command_to_the_terminal() -> None:
    hostile = Variable("a\x1b]0;t\x07", "\u202eint", (), None, "1\n2")
    assert drawn([hostile], 80)[1] == "a^[]0;t^G  <U+202E>int               1^J2"


variables = st.builds(
    Variable,
    name=st.text(max_size=50),
    type=st.text(max_size=30),
    shape=st.lists(st.integers(0, 10**9), max_size=4).map(tuple),
    size=st.none() | st.integers(0, 10**13),
    head=st.text(max_size=120),
)


@given(st.lists(variables, min_size=1, max_size=5), st.integers(1, 300))
def test_no_row_is_wider_than_the_terminal(some: list[Variable], width: int) -> None:
    assert all(cell_len(row.plain) <= width for row in variables_table(some, width))
