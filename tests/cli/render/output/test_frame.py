"""Data frames at the width of the terminal."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from terp_cli.render.output.display import Fold, display_rows

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

CITIES = ["Berlin", "São Paulo", "東京", "New York City"]


def frame(rows: int = 10_000, columns: int = 6) -> Any:
    numbers = np.arange(rows)
    measured = {f"m{at}": (numbers % 97 - 48) * 10.0**at / 7 for at in range(columns)}
    cities = [CITIES[at % 4] for at in range(rows)]
    when = pd.date_range("2024", periods=rows, freq="h")
    return pd.DataFrame({"when": when, "city": cities, **measured, "ok": numbers % 3 == 0})


def bundle(value: Any) -> dict[str, str]:
    return {"text/plain": repr(value), "text/html": value._repr_html_()}


def drawn(value: Any, width: int = 80) -> list[str]:
    data = bundle(value) if isinstance(value, pd.DataFrame) else value
    rows = display_rows(data, "", lambda: width)
    return [str(row).rstrip() for row in rows]


def test_a_long_frame_at_80_columns() -> None:
    assert (
        "\n".join(drawn(frame(), 80))
        == """\
      when                 city           … 5 …              m5  ok
──────────────────────────────────────────────────────────────────────
   0  2024-01-01 00:00:00  Berlin           …    -685714.285714  True
   1  2024-01-01 01:00:00  São Paulo        …    -671428.571429  False
   2  2024-01-01 02:00:00  東京             …    -657142.857143  False
   3  2024-01-01 03:00:00  New York City    …    -642857.142857  True
   4  2024-01-01 04:00:00  Berlin           …    -628571.428571  False
… 9,990 rows …
9995  2025-02-20 11:00:00  New York City    …    -628571.428571  False
9996  2025-02-20 12:00:00  Berlin           …    -614285.714286  True
9997  2025-02-20 13:00:00  São Paulo        …    -600000.000000  False
9998  2025-02-20 14:00:00  東京             …    -585714.285714  False
9999  2025-02-20 15:00:00  New York City    …    -571428.571429  True
10,000 rows × 9 columns"""
    )


def test_a_long_frame_at_40_columns() -> None:
    assert (
        "\n".join(drawn(frame(), 40))
        == """\
      when                 … 7 …  ok
───────────────────────────────────────
   0  2024-01-01 00:00:00    …    True
   1  2024-01-01 01:00:00    …    False
   2  2024-01-01 02:00:00    …    False
   3  2024-01-01 03:00:00    …    True
   4  2024-01-01 04:00:00    …    False
… 9,990 rows …
9995  2025-02-20 11:00:00    …    False
9996  2025-02-20 12:00:00    …    True
9997  2025-02-20 13:00:00    …    False
9998  2025-02-20 14:00:00    …    False
9999  2025-02-20 15:00:00    …    True
10,000 rows × 9 columns"""
    )


def test_a_long_frame_at_20_columns() -> None:
    assert (
        "\n".join(drawn(frame(), 20))
        == """\
      when     … 8 …
────────────────────
   0  2024-0…    …
   1  2024-0…    …
   2  2024-0…    …
   3  2024-0…    …
   4  2024-0…    …
… 9,990 rows …
9995  2025-0…    …
9996  2025-0…    …
9997  2025-0…    …
9998  2025-0…    …
9999  2025-0…    …
10,000 rows × 9
columns"""
    )


def test_levels_of_columns_are_said_once() -> None:
    assert (
        "\n".join(drawn(frame(8).pivot_table(index="city", columns="ok", values=["m1", "m2"]), 80))
        == """\
                       m1                       m2
ok                  False        True        False         True
city
───────────────────────────────────────────────────────────────
Berlin         -62.857143  -68.571429  -628.571429  -685.714286
New York City  -58.571429  -64.285714  -585.714286  -642.857143
São Paulo      -64.285714         NaN  -642.857143          NaN
東京           -65.714286  -60.000000  -657.142857  -600.000000
4 rows × 4 columns"""
    )


def test_levels_of_rows_are_said_once() -> None:
    assert (
        "\n".join(drawn(frame(8).set_index(["ok", "city"]).sort_index()[["m1"]], 80))
        == """\
ok     city                   m1
────────────────────────────────
False  Berlin         -62.857143
       New York City  -58.571429
       São Paulo      -67.142857
       São Paulo      -61.428571
       東京           -65.714286
True   Berlin         -68.571429
       New York City  -64.285714
       東京           -60.000000
8 rows × 1 column"""
    )


def test_a_series_says_how_many_values_are_not_shown() -> None:
    assert (
        "\n".join(drawn({"text/plain": repr(frame()["m1"])}, 80))
        == """\
0      -68.571429
1      -67.142857
2      -65.714286
3      -64.285714
4      -62.857143
… 9,990 rows …
9995   -62.857143
9996   -61.428571
9997   -60.000000
9998   -58.571429
9999   -57.142857
Name: m1, Length: 10000, dtype: float64"""
    )


def test_a_frame_without_rows_has_its_header() -> None:
    assert (
        "\n".join(drawn(frame(0)[["city", "ok"]], 80))
        == """\
  city  ok
──────────
0 rows × 2 columns"""
    )


def test_a_frame_without_columns_has_its_size() -> None:
    assert drawn(pd.DataFrame()) == ["0 rows × 0 columns"]


def test_a_frame_takes_as_many_rows_as_other_output() -> None:
    def lengths(rows: int) -> tuple[int, str]:
        shown = display_rows(bundle(frame(rows, 0)), "", lambda: 80, fold=Fold(8, "Ctrl-O · /out 6"))
        return len(shown), next((str(row) for row in shown if "…" in str(row)), "")

    assert [lengths(rows) for rows in (5, 6, 31, 10_000)] == [
        (8, ""),
        (9, ""),
        (9, "… 26 more rows · Ctrl-O · /out 6"),
        (9, "… 9,995 rows …"),
    ]


def test_one_row_of_one_column_is_said_so() -> None:
    assert drawn(frame(1)[["city"]])[-1] == "1 row × 1 column"


def test_columns_that_pandas_left_out_are_counted() -> None:
    wide = pd.DataFrame([range(40)])
    with pd.option_context("display.max_columns", 4):
        data = bundle(wide)
    assert drawn(data) == [
        "   0  1  … 36 …  38  39",
        "─" * 23,
        "0  0  1    …     38  39",
        "1 row × 40 columns",
    ]


def test_a_number_is_shown_whole_or_not_at_all() -> None:
    value = pd.DataFrame({"n": [123456789012345678], "t": ["text"]})
    assert drawn(value, 20)[2] == "0            …  text"


def test_a_long_text_gives_way_to_numbers() -> None:
    value = pd.DataFrame({"text": ["word " * 20], "n": [1.5]})
    assert drawn(value, 40)[2] == "0  word word word word word word w…  1.5"


def test_numbers_are_on_the_right_and_all_else_on_the_left() -> None:
    value = pd.DataFrame(
        {
            "number": [1.5, None],
            "word": ["a", float("nan")],
            "date": pd.to_datetime(["2024-01-02", None]),
            "ok": [True, False],
        }
    )
    assert drawn(value) == [
        "   number  word  date        ok",
        "─" * 34,
        "0     1.5  a     2024-01-02  True",
        "1     NaN  NaN   NaT         False",
        "2 rows × 4 columns",
    ]


def test_the_index_is_dim_and_the_header_bold() -> None:
    rows = display_rows(bundle(pd.DataFrame({"a": [1]})), "", lambda: 80)
    assert [[str(span.style) for span in row.spans] for row in rows if isinstance(row, Text)] == [
        ["bold"],
        [],
        ["dim"],
        [],
    ]


def test_hostile_cells_are_spelled_out() -> None:
    value = pd.DataFrame({"\x1b[2J": ["\x1b]52;c;eA==\x07", "<b>&amp;\u202e", "a\x9bb"]})
    assert drawn(value) == [
        "   ^[[2J",
        "─" * 19,
        "0  ^[]52;c;eA==^G",
        "1  <b>&amp;<U+202E>",
        "2  a<U+009B>b",
        "3 rows × 1 column",
    ]


def test_polars_says_its_size_and_its_types() -> None:
    page = """<div><style>.dataframe td {}</style><small>shape: (10_000, 2)</small>
<table border="1" class="dataframe"><thead><tr><th>n</th><th>s</th></tr>
<tr><td>i64</td><td>str</td></tr></thead>
<tbody><tr><td>0</td><td>&quot;a&quot;</td></tr><tr><td>&hellip;</td><td>&hellip;</td></tr>
<tr><td>9999</td><td>&quot;b&quot;</td></tr></tbody></table></div>"""
    assert drawn({"text/plain": "shape: …", "text/html": page}) == [
        "   n  s",
        " i64  str",
        "─" * 9,
        '   0  "a"',
        "… 9,998 rows …",
        '9999  "b"',
        "10,000 rows × 2 columns",
    ]


def test_a_data_resource_is_a_table() -> None:
    resource = {
        "schema": {"fields": [{"name": "index"}, {"name": "a"}], "primaryKey": ["index"]},
        "data": [{"index": 0, "a": 1.5}, {"index": 1, "a": None}],
    }
    assert drawn({"application/vnd.dataresource+json": resource, "text/plain": "x"}) == [
        "      a", "─" * 7, "0   1.5", "1  None", "2 rows × 1 column"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [
        "<p>shape: (_, 2)</p>",
        f"<p>{'9' * 5_000} rows × 2 columns</p>",
        f"<table><tr><td colspan={'9' * 5_000}>1</td></tr></table>",
    ],
)
def test_a_number_that_is_none_or_too_long_does_no_harm(page: str) -> None:
    page = page.replace("<table>", '<table class="dataframe">')
    table = "" if "<table" in page else '<table class="dataframe"><tr><td>1</td></tr></table>'
    assert drawn({"text/html": table + page, "text/plain": "x"})[0].startswith("1")


@pytest.mark.parametrize("resource", [{}, {"schema": 1}, {"schema": {"fields": [{}]}, "data": []}])
def test_a_data_resource_that_is_none_falls_back(resource: dict[str, Any]) -> None:
    assert drawn({"application/vnd.dataresource+json": resource, "text/plain": "x"}) == ["x"]


WIDE = bundle(frame(40, 12))
LEVELS = bundle(frame(8).pivot_table(index=["city", "when"], columns="ok", values=["m1", "m2"]))


@given(st.sampled_from([WIDE, LEVELS]), st.integers(1, 300))
@settings(max_examples=60)
def test_no_row_is_wider_than_the_terminal(data: dict[str, str], width: int) -> None:
    rows = display_rows(data, "", lambda: width)
    assert max(row.cell_len for row in rows if isinstance(row, Text)) <= width
