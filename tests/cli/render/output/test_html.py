"""Pages as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp_cli.render.output.display import display_rows
from terp_cli.render.output.html import Grid, HtmlCell, blocks
from terp_cli.render.spoken.output import read_table

NOTHING = "<IPython.core.display.HTML object>"


def shown(page: str, plain: str | None = NOTHING, width: int = 40, path: str = "") -> list[str]:
    data = {"text/html": page} | ({"text/plain": plain} if plain is not None else {})
    return [str(row) for row in display_rows(data, path, lambda: width)]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<h1>Title</h1><p>One <b>two</b>\n three.</p>", ["Title", "One two three."]),
        ("<ul><li>a<li>b</ul>after", ["- a", "- b", "after"]),
        ("a<br>b &lt;c&gt; &amp; &eacute;", ["a", "b <c> & é"]),
        ("<pre>a\n  b\n\nc</pre>", ["a", "  b", "", "c"]),
        ('<a href="https://x.org/">here</a> <a href="#top">up</a>', ["here (https://x.org/) up"]),
        ('<img src="data:image/png;base64,AAAA" alt="a plot">', ["[image: a plot]"]),
        ("<style>p {}</style><script>alert('<p>')</script><p>text", ["text"]),
        ("<svg><text>no</text></svg><select><option>no</select>yes", ["yes"]),
        ("<!-- no --><![CDATA[no]]><?no?>yes", ["yes"]),
        ("</div></td></table>closed", ["closed"]),
        ("", []),
    ],
)
def test_a_page_is_read_as_text(page: str, text: list[str]) -> None:
    assert blocks(page) == text


def test_spans_fill_the_places_they_cover() -> None:
    page = """<table class="c"><tr><th>a<th colspan=2>b</tr>
    <tr><td rowspan=2>1</td><td>2<td>3<tr><td>4<td><i>5</i></table>"""
    assert blocks(page) == [
        Grid(
            [
                [HtmlCell("a", True), HtmlCell("b", True), HtmlCell("b", True, "left")],
                [HtmlCell("1"), HtmlCell("2"), HtmlCell("3")],
                [HtmlCell("1", spans="above"), HtmlCell("4"), HtmlCell("5")],
            ],
            1,
            "c",
        )
    ]


def test_a_table_within_a_table_is_told_as_words() -> None:
    page = "<table><tr><td>a<table><tr><td>b<td>c</table>d<td>e</table>"
    assert blocks(page) == [Grid([[HtmlCell("a b c d"), HtmlCell("e")]], 0, "")]


@pytest.mark.parametrize("span", ["999999999999", "-1", "0", "x", "²"])
def test_an_absurd_span_is_bounded(span: str) -> None:
    (grid,) = blocks(f"<table><tr><td colspan='{span}' rowspan='{span}'>a</table>")
    assert isinstance(grid, Grid)
    assert len(grid.rows[0]) in (1, 500)


def test_a_page_without_words_of_its_own_is_shown_as_text() -> None:
    page = "<h2>Sales</h2><p>Up by <b>3 %</b> since the last quarter, as hoped.</p>"
    assert shown(page) == ["Sales", "Up by 3 % since the last quarter, as", "hoped."]
    assert shown(page, None) == shown(page)


def test_the_file_of_a_page_is_named_after_its_text() -> None:
    assert shown("<p>text", None, path="/out/c1-1.html") == ["text", "html /out/c1-1.html"]


def test_a_page_that_is_a_program_is_its_file_alone() -> None:
    page = "<div>Loading…</div><script>draw()</script>"
    assert shown(page, path="/out/c1-1.html") == ["html /out/c1-1.html"]


def test_words_that_an_object_has_of_itself_come_before_its_page() -> None:
    assert shown("<style>.sk {}</style><div>…</div>", "LinearRegression()") == ["LinearRegression()"]


def test_a_table_of_any_other_page_keeps_its_columns() -> None:
    page = "<table><tr><th>name<th>age<tr><td>Ada<td>36<tr><td>Grace<td>85</table>"
    assert shown(page) == ["name   age", "─" * 10, "Ada     36", "Grace   85"]


def test_no_tag_and_no_escape_comes_through() -> None:
    (row,) = shown("<p onclick='x'>a\x1b[31m\x1b]0;t\x07\u202e")
    assert row == "a^[[31m^[]0;t^G<U+202E>"


@given(st.text("<>/&;#\"'= abtrdhplescript\x1b\n", max_size=200))
def test_any_page_can_be_read(page: str) -> None:
    data = {"text/html": f"<table class=dataframe><tr><td>{page}"}
    assert all("\x1b" not in str(row) for row in display_rows(data, "", lambda: 30))


def test_one_table_is_read_with_a_header_of_two_rows_and_without_spans() -> None:
    frame = "<table><thead><tr><th></th><th>mean</th></tr><tr><th>kind</th><th></th></tr></thead>"
    rows = "<tbody><tr><th>setosa<script>x</script></th><td>5.01</td></tr></tbody></table>"
    assert read_table(f"<p>before</p>{frame}{rows}<table><tr><td>2</td></tr></table>") == (
        ["kind", "mean"],
        [["setosa", "5.01"]],
    )
    assert read_table(f"{frame}<tr><td colspan=2>both</td></tr></table>") is None
    assert read_table(f"{frame}</table>") is None
    assert read_table("<p>no table</p>") is None
