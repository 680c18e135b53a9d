"""Lists of commands on screens of any width."""

from terp_cli.repl.commands.rows import columns

LINES = [("/vars", "list the variables of the kernel, with their types and sizes"), ("/quit", "leave terp")]


def plain(width: int) -> list[str]:
    return [row.plain for row in columns(LINES, width, ("bold", ""))]


def test_the_last_column_is_cut_where_it_does_not_fit() -> None:
    assert plain(50) == ["/vars  list the variables of the kernel, with the…", "/quit  leave terp"]


def test_on_a_narrow_screen_cells_stand_below_each_other() -> None:
    assert plain(40) == [
        "/vars",
        "  list the variables of the kernel, with",
        "  their types and sizes",
        "/quit",
        "  leave terp",
    ]


def test_on_a_narrow_screen_columns_stay_where_all_fit() -> None:
    assert [row.plain for row in columns(LINES[1:], 40)] == ["/quit  leave terp"]
