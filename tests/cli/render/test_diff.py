from rich.console import Console
from rich.text import Text

from terp_cli.render import look
from terp_cli.render.diff import diff_rows, spoken_diff

DIFF = "@@ -4,3 +4,3 @@\n def f(a, b):\n-    return a - b\n+    return a + b\n \n@@ -20 +20,2 @@\n x\n+y"


def rows(width: int = 40) -> list[Text]:
    return diff_rows("app.py", "+2 −1", DIFF, width)


def test_a_diff_has_the_numbers_of_lines_and_signs() -> None:
    assert [row.plain.rstrip() for row in rows()] == [
        "── app.py +2 −1",
        "  4   def f(a, b):",
        "  5 −     return a - b",
        "  5 +     return a + b",
        "  6",
        "    ⋮",
        " 20   x",
        " 21 + y",
    ]


def test_a_diff_in_words_names_what_happens_to_each_line() -> None:
    assert list(spoken_diff("app.py", "+2 −1", DIFF)) == [
        "Change of app.py, +2 −1:",
        "Line 4: def f(a, b):",
        "Line 5 removed:     return a - b",
        "Line 5 added:     return a + b",
        "Line 20: x",
        "Line 21 added: y",
    ]


def test_removed_lines_are_red_added_ones_green_and_code_is_highlighted() -> None:
    console = Console()
    removed, added = rows()[2:4]
    assert (removed.get_style_at_offset(console, 4), added.get_style_at_offset(console, 4)) == (
        look.BAD,
        look.GOOD,
    )
    assert added.get_style_at_offset(console, 11).color is not None


def test_a_long_line_keeps_its_sign_on_every_row() -> None:
    assert [row.plain for row in rows(width=18)[2:4]] == ["  5 −     return a", "    −  - b"]
