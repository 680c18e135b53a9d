from terp_cli.render.fold import hanging


def test_what_follows_a_first_column_goes_on_below_itself() -> None:
    rows = hanging("  /undo  forget the last turn and more", 24)
    assert [row.plain for row in rows] == ["  /undo  forget the last", "         turn and more"]


def test_a_sentence_goes_on_at_the_margin() -> None:
    assert [row.plain for row in hanging("one two three four", 9)] == ["one two", "three", "four"]
