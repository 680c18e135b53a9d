"""The painter: rows that stay, live rows below them, and the cursor in the bottom."""

import io
import re

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st

from terp_cli.terminal.painter import Painter
from terp_cli.terminal.rows import Graphic, Row
from tests.cli.screens import Terminal

COLUMNS, ROWS = 30, 12

row = st.text(st.sampled_from("ab 漢é👩"), max_size=40).map(lambda text: ((text.rstrip(), ""),))
short = st.text(st.sampled_from("ab é"), max_size=COLUMNS).map(lambda text: ((text.rstrip(), ""),))
rows = st.lists(row, max_size=5)
fitting = st.lists(short, max_size=5)
bottoms = st.lists(short, min_size=1, max_size=3)


PICTURE = Graphic(1, 11, "(a picture)\r\n")


def plain(painted: Row) -> str:
    return "".join(text for text, _ in painted)


def wrapped(text: str) -> list[str]:
    """As the terminal breaks a row that is too long."""
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(screen).feed(text)
    return "\n".join(line.rstrip() for line in screen.display).rstrip().split("\n")


frames = st.lists(st.tuples(rows, fitting, bottoms), min_size=1, max_size=8)


@settings(max_examples=150)
@given(frames)
def test_the_bottom_stays_below_all_that_was_painted(
    changes: list[tuple[list[Row], list[Row], list[Row]]],
) -> None:
    terminal = Terminal(COLUMNS, ROWS)
    painter = Painter(terminal, terminal.size)
    finished: list[str] = []
    for new, tail, bottom in changes:
        painter.place(bottom, (len(bottom) - 1, 0))
        painter.update(new, tail)
        finished += [line for painted in new for line in wrapped(plain(painted))]
        live = [plain(painted) for painted in [*tail[-painter.tail_rows :], *bottom]]
        assert "\n".join(terminal.shown()) == "\n".join([*finished, *live]).rstrip()


@settings(max_examples=150)
@given(frames, st.data())
def test_the_cursor_is_where_the_bottom_wants_it(
    changes: list[tuple[list[Row], list[Row], list[Row]]], draw: st.DataObject
) -> None:
    terminal = Terminal(COLUMNS, ROWS)
    painter = Painter(terminal, terminal.size)
    for new, tail, bottom in changes:
        at = draw.draw(st.tuples(st.integers(0, len(bottom) - 1), st.integers(0, COLUMNS - 1)))
        painter.update(new, tail)
        numbered = [f"{number}>{plain(line)}"[:COLUMNS] for number, line in enumerate(bottom)]
        painter.place([((line, ""),) for line in numbered], at)
        screen = terminal.pyte()
        assert (screen.cursor.x, screen.display[screen.cursor.y][:2]) == (at[1], f"{at[0]}>")


@settings(max_examples=100)
@given(frames)
def test_what_is_held_back_in_a_pause_is_painted_after_it(
    changes: list[tuple[list[Row], list[Row], list[Row]]],
) -> None:
    terminal = Terminal(COLUMNS, ROWS)
    painter = Painter(terminal, terminal.size)
    painter.place([(("> ", ""),)], (0, 2))
    painter.pause()
    before = terminal.getvalue()
    for new, tail, _ in changes:
        painter.update(new, tail)
    assert terminal.getvalue() == before
    painter.resume()
    finished = [line for new, _, _ in changes for painted in new for line in wrapped(plain(painted))]
    live = [plain(painted) for painted in changes[-1][1][-painter.tail_rows :]]
    assert "\n".join(terminal.shown()) == "\n".join([*finished, *live, ">"])


def test_a_line_above_the_bottom_costs_little_more_than_itself() -> None:
    terminal = Terminal()
    painter = Painter(terminal, terminal.size)
    painter.place([(("", ""),), (("> " + "typed " * 10, ""),), (("toolbar " * 9, ""),)], (1, 4))
    painter.update([], [(("total = ", ""),)])
    before = len(terminal.getvalue())
    painter.update([(("total = 1", ""),)], [(("next", ""),)])
    assert len(terminal.getvalue()) - before < 60


def test_the_spinner_alone_is_written_when_it_alone_changes() -> None:
    terminal = Terminal()
    painter = Painter(terminal, terminal.size)
    painter.place([(("> typed", ""),)], (0, 4))
    painter.update([], [(("- waiting", ""),)])
    before = len(terminal.getvalue())
    painter.update([], [(("| waiting", ""),)])
    assert re.fullmatch(r"\x1b\[1A\r(\x1b\[K)?\| waiting\x1b\[1B\r\x1b\[4C", terminal.getvalue()[before:])


def test_a_picture_stands_between_the_rows_around_it() -> None:
    terminal = Terminal()
    painter = Painter(terminal, terminal.size)
    painter.place([(("> ", ""),)], (0, 2))
    painter.update([(("before", ""),), PICTURE, (("after", ""),)], [])
    painter.update([PICTURE], [(("tail", ""),)])
    assert terminal.shown() == ["before", "(a picture)", "after", "(a picture)", "tail", ">"]


def test_one_blank_row_is_enough_above_the_bottom() -> None:
    terminal = Terminal()
    painter = Painter(terminal, terminal.size)
    painter.place([(), (("> ", ""),)], (1, 2))
    painter.update([(("said", ""),), ()], [])
    assert (terminal.shown(), terminal.pyte().cursor.y) == (["said", "", ">"], 2)
    painter.update([(("more", ""),)], [])
    assert (terminal.shown(), terminal.pyte().cursor.y) == (["said", "", "more", "", ">"], 4)


def test_a_bottom_that_grows_pushes_no_tail_off_the_screen() -> None:
    terminal = Terminal(COLUMNS, ROWS)
    painter = Painter(terminal, terminal.size)
    painter.update([], [((f"growing {number}", ""),) for number in range(8)])
    painter.place([((f"typed {number}", ""),) for number in range(9)], (8, 0))
    painter.place([(("> ", ""),)], (0, 2))
    painter.update([((f"final {number}", ""),) for number in range(8)], [])
    assert terminal.shown() == [*(f"final {number}" for number in range(8)), ">"]


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_row_of_a_wider_window_leaves_no_torn_copy() -> None:
    terminal, clock = Terminal(60, 20), Clock()
    painter = Painter(terminal, terminal.size, clock=clock)
    long = "the quick brown fox jumps over the lazy dog and on"
    painter.update([], [((long, ""),)], grows=True)
    painter.place([(), (("> ", ""),)], (1, 2))
    narrow = Terminal(30, 20)
    narrow.write("".join([*(f"{part}\r\n" for part in (long[:30], long[30:])), "\r\n> "]))
    terminal.columns, painter.out = 30, narrow
    painter.place([(), (("> ", ""),)], (1, 2))
    clock.now += 1.0
    painter.update([], [((long[:25], ""),), ((long[26:], ""),)], grows=True)
    assert narrow.shown() == [long[:25], long[26:], "", ">"]


def test_live_rows_in_the_top_left_corner_leave_no_copy_in_the_scrollback_when_erased() -> None:
    terminal = Terminal()
    painter = Painter(terminal, terminal.size)
    painter.place([(("> typed", ""),), (("toolbar", ""),)], (0, 2))
    painter.pause()
    painter.resume()
    painter.place([(("> ", ""),)], (0, 2))
    assert terminal.shown() == [">"]


def test_what_is_said_while_something_grows_stands_below_it_and_follows_it() -> None:
    terminal = Terminal()
    painter = Painter(terminal, terminal.size)
    painter.place([(), (("> ", ""),)], (1, 2))
    painter.update([(("tick 1", ""),)], [(("tick", ""),)], grows=True)
    painter.aside([(("a notice", ""),)])
    painter.update([(("tick 2", ""),)], [(("tick", ""),)], grows=True)
    meanwhile = terminal.shown()
    painter.update([(("tick 3", ""),)], [])
    painter.update([(), (("next", ""),)], [])
    assert (meanwhile, terminal.shown()) == (
        ["tick 1", "tick 2", "tick", "", "a notice", "", ">"],
        ["tick 1", "tick 2", "tick 3", "", "a notice", "", "next", "", ">"],
    )


def test_more_than_has_room_below_what_grows_is_not_taken() -> None:
    terminal = Terminal(COLUMNS, ROWS)
    painter = Painter(terminal, terminal.size)
    painter.update([], [(("grows", ""),)], grows=True)
    assert not painter.aside([(("line", ""),)] * 5)


def rows_of(words: list[str], each: int) -> list[Row]:
    return [((" ".join(words[at : at + each]), ""),) for at in range(0, len(words), each)]


WORDS = [f"word{number:03}" for number in range(1, 97)]


class Resized:
    """A painter whose terminal changes its size in the middle of a paragraph of 8 rows."""

    def __init__(self, *, to: tuple[int, int] = (30, 24), passing: tuple[Row, ...] = ()) -> None:
        self.out, self.clock, self.size = io.StringIO(), Clock(), (100, 24)
        self.painter = Painter(self.out, lambda: self.size, clock=self.clock)
        self.painter.place([(), (("> ", ""),), (("model", ""),)], (1, 2))
        self.painter.update((), rows_of(WORDS, 12), passing, grows=True)
        self.resize(*to)

    def resize(self, columns: int, height: int) -> None:
        self.size = columns, height
        self.begin = self.out.tell()
        self.painter.place([(), (("> ", ""),), (("model", ""),)], (1, 2))

    @property
    def written(self) -> str:
        """What was written since the size has changed."""
        return self.out.getvalue()[self.begin :]

    @property
    def words(self) -> list[str]:
        return re.findall(r"word\d\d\d", self.written)


def test_full_rows_of_a_block_are_not_written_again_in_another_size() -> None:
    resized = Resized()
    resized.clock.now += 1.0
    narrow = rows_of(WORDS, 3)
    resized.painter.update((), narrow, grows=True)
    resized.painter.update(narrow[:30], narrow[30:], grows=True)
    resized.painter.update(narrow[30:], ())
    assert resized.words == WORDS[84:]


def test_a_second_change_of_size_leaves_the_rows_written_between() -> None:
    resized = Resized()
    resized.clock.now += 1.0
    resized.painter.update((), rows_of(WORDS, 3), grows=True)
    resized.resize(100, 24)
    resized.clock.now += 1.0
    resized.painter.update(rows_of(WORDS, 12), ())
    assert resized.words == WORDS[93:]


def test_a_lower_window_leaves_the_full_rows_too() -> None:
    resized = Resized(to=(100, 8))
    resized.clock.now += 1.0
    resized.painter.update(rows_of(WORDS, 12), ())
    assert resized.words == WORDS[84:]


def test_passing_rows_are_erased_with_the_last_row() -> None:
    resized = Resized(passing=((("waiting", ""),),))
    resized.clock.now += 1.0
    resized.painter.update((), rows_of(WORDS, 3), ((("waiting", ""),),), grows=True)
    # The last row of 95 cells takes four rows of 30, the waiting and the blank one are above the prompt's.
    assert resized.written.startswith("\x1b[6A\r\x1b[K")
    assert "waiting" in resized.written


def test_nothing_is_painted_until_the_size_stays() -> None:
    resized = Resized()
    resized.painter.update((), rows_of(WORDS, 3), grows=True)
    resized.clock.now += 0.2
    resized.resize(60, 24)
    resized.clock.now += 0.2
    resized.painter.update((), rows_of(WORDS, 6), grows=True)
    early, waits = resized.written, resized.painter.waits_s
    resized.clock.now += 0.2
    resized.painter.update((), rows_of(WORDS, 6), grows=True)
    assert (early, round(waits, 3), resized.words) == ("", 0.1, WORDS[84:])


def test_rows_that_were_finished_while_the_size_changed_are_painted_after_it() -> None:
    resized = Resized()
    resized.painter.update([*rows_of(WORDS, 3), (("the end", ""),)], (), grows=False)
    early = resized.written
    resized.clock.now += 1.0
    resized.painter.place([(), (("> ", ""),), (("model", ""),)], (1, 2))
    assert (early, resized.words, "the end" in resized.written) == ("", WORDS[84:], True)


def test_without_a_prompt_the_end_of_a_block_is_painted_at_once() -> None:
    resized = Resized()
    resized.painter.place((), None)
    resized.painter.update([*rows_of(WORDS, 3)], ())
    assert resized.words == WORDS[84:]
