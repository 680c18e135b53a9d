import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style
from rich.text import Text

from terp_cli.render.markdown.markdown import MarkdownStream
from tests.cli.screens import Terminal, cut, stream

rows = st.lists(
    st.text(st.sampled_from("ab 漢é"), max_size=20).map(Text)
    | st.just(Text.assemble("x", ("red", "red"), "y")),
    max_size=6,
)
updates = st.lists(st.tuples(rows, rows), min_size=1, max_size=8)


@settings(max_examples=80)
@given(updates)
def test_what_was_finished_is_never_touched_again(changes: list[tuple[list[Text], list[Text]]]) -> None:
    terminal = Terminal(40, 12)
    screen = terminal.screen()
    finished: list[str] = []
    for new, tail in changes:
        screen.update(new, tail)
        finished += [row.plain.rstrip() for row in new]
        expected = [*finished, *(row.plain.rstrip() for row in tail[-screen.tail_rows :])]
        assert "\n".join(terminal.shown()) == "\n".join(expected).rstrip()


@settings(max_examples=80)
@given(updates)
def test_the_cursor_never_leaves_the_tail_upwards(changes: list[tuple[list[Text], list[Text]]]) -> None:
    terminal = Terminal(40, 12)
    screen = terminal.screen()
    height = 0
    for new, tail in changes:
        before = len(terminal.getvalue())
        screen.update(new, tail)
        written = terminal.getvalue()[before:]
        row = max(0, height - 1)
        for rows_moved, direction, ends in re.findall(r"\x1b\[(\d+)([AB])|(\r\n)", written):
            row += 1 if ends else int(rows_moved) * (1 if direction == "B" else -1)
            assert row >= 0
        assert "2J" not in written and "3J" not in written
        height = min(len(tail), screen.tail_rows)


def test_a_tail_that_becomes_final_as_it_is_costs_one_line_end() -> None:
    terminal = Terminal()
    screen = terminal.screen()
    screen.update([], [Text("one"), Text("two")])
    before = terminal.getvalue()
    screen.update([Text("one"), Text("two")], [])
    assert terminal.getvalue() == before + "\r\n"


def test_a_growing_line_writes_only_what_is_new() -> None:
    terminal = Terminal()
    screen = terminal.screen()
    screen.update([], [Text("one")])
    screen.update([], [Text("one two")])
    assert terminal.getvalue() == "one two"


def test_nothing_is_written_when_nothing_changed() -> None:
    terminal = Terminal()
    screen = terminal.screen()
    screen.update([], [Text("one")])
    screen.update([], [Text("one")])
    assert terminal.getvalue() == "one"


def test_a_narrower_terminal_repaints_the_tail_where_it_began() -> None:
    terminal = Terminal(40, 12)
    screen = terminal.screen()
    screen.update([Text("said before")], [Text("a" * 30)])
    terminal.columns = 20
    screen.update([], [Text("b" * 10)])
    assert terminal.getvalue().endswith("\x1b[1A\r\x1b[K\x1b[C\x1b[J\r" + "b" * 10)


def test_a_row_of_uncertain_width_cannot_wrap_while_it_is_in_the_tail() -> None:
    terminal = Terminal()
    screen = terminal.screen()
    screen.update([], [Text("👩")])
    screen.update([Text("👩")], [])
    assert terminal.getvalue() == "\x1b[?7l👩\x1b[?7h\r\x1b[K\x1b[C\x1b[J\r👩\r\n"


def test_a_terminal_that_cannot_move_its_cursor_gets_finished_rows_only() -> None:
    terminal = Terminal()
    screen = terminal.screen(terminal.painter(live=False), None)
    screen.update([Text("done", Style(bold=True))], [Text("growing")])
    assert terminal.getvalue() == "done\r\n"


PROSE = "Some **bold** words, a `name` and [a link](http://example.org/x), again.\n\n- item\n- item\n\n"
CODE = '```python\ndef f(x: int) -> str:\n    """Say it."""\n    return f"{x}" + str(1.5)  # done\n```\n'


@pytest.mark.parametrize("text", [PROSE * 40, CODE * 40, (PROSE + CODE) * 20])
def test_at_most_eight_bytes_are_written_for_a_character(text: str) -> None:
    terminal = Terminal(120, 40)
    # Twenty frames a second, at 200 tokens of four characters a second.
    stream(terminal, cut(text, [4]), [False] * 9 + [True])
    assert len(terminal.getvalue().encode()) <= 8 * len(text)


def test_rows_of_markdown_never_hold_markup_of_their_own() -> None:
    markdown = MarkdownStream(lambda: 80, lambda: 12)
    shown = markdown.feed("list[int] and a[/b] and [bold]x[/bold]\n\n") + markdown.finish()
    assert [row.plain for row in shown] == ["list[int] and a[/b] and [bold]x[/bold]"]
