"""What holds for every answer, however it comes in and on every terminal."""

from collections.abc import Iterator

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from terp.events import CodeFinished, CodeStarted, Event, Printed, ReasoningDelta, TextDelta, TurnFinished
from terp.events.outputs import Text as Output
from terp_cli.render.fold import fold
from terp_cli.render.transcript import DrawnTranscript
from tests.cli.drawing import Clock
from tests.cli.markdown_texts import documents
from tests.cli.screens import Terminal, cut, stream

sizes = st.lists(st.integers(1, 60), min_size=1, max_size=6)
frames = st.lists(st.booleans(), min_size=1, max_size=5)


@settings(max_examples=30)
@given(documents, sizes, frames, st.integers(20, 200), st.integers(6, 40))
def test_an_answer_looks_the_same_in_one_piece_and_in_many(
    text: str, sizes: list[int], paint: list[bool], columns: int, rows: int
) -> None:
    whole, pieces = Terminal(columns, rows), Terminal(columns, rows)
    stream(whole, [text])
    stream(pieces, cut(text, sizes), paint)
    assert pieces.shown(10_000) == whole.shown(10_000)


class Recorder(pyte.HistoryScreen):
    """A screen that knows how far up it was written since it was last asked."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(columns, rows, history=100_000, ratio=1.0)
        self.highest = 0

    @property
    def line(self) -> int:
        """The line of the cursor, counted from the first that was ever written."""
        return len(self.history.top) + self.cursor.y

    def touched(self) -> int:
        """The uppermost line that was changed since the last call."""
        highest, self.highest = self.highest, self.line
        return highest

    def _note(self) -> None:
        self.highest = min(self.highest, self.line)

    def draw(self, data: str) -> None:
        self._note()
        super().draw(data)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        self._note()
        super().erase_in_line(how, private)

    def erase_in_display(self, how: int = 0, *args: object, **kwargs: object) -> None:
        assert how == 0
        self._note()
        super().erase_in_display(how)

    def insert_lines(self, count: int | None = None) -> None:
        self._note()
        super().insert_lines(count)

    def delete_lines(self, count: int | None = None) -> None:
        self._note()
        super().delete_lines(count)


def events_of(text: str, output: str, sizes: list[int]) -> Iterator[Event]:
    yield from (ReasoningDelta(piece) for piece in cut(text[:300], sizes))
    yield from (TextDelta(piece) for piece in cut(text, sizes))
    yield CodeStarted("c1", 1)
    yield from (Printed("c1", Output("stdout", piece)) for piece in cut(output, sizes))
    yield CodeFinished("c1", "ok", 0.5)
    yield TurnFinished("done", "")


outputs = st.lists(
    st.sampled_from(
        ["line\n", "\r 10%", "\rinner\x1b[A", "\n", "x" * 50, "漢字\n", "\x1b[31mred\x1b[0m\n", "\t"]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=10)
@given(documents, outputs, sizes, st.integers(20, 120), st.integers(8, 40))
def test_nothing_above_the_tail_is_ever_written_again(
    text: str, output: str, sizes: list[int], columns: int, rows: int
) -> None:
    terminal, clock = Terminal(columns, rows), Clock()
    screen = terminal.screen()
    transcript = DrawnTranscript(lambda: screen.width, lambda: screen.tail_rows, clock)
    recorder = Recorder(columns, rows)
    feed = pyte.Stream(recorder)
    top = 0
    for event in events_of(text, output, sizes):
        clock.now += 0.3
        tail = transcript.tail(screen.tail_rows)
        before = len(terminal.getvalue())
        finished = transcript.show(event)
        tail = transcript.tail(screen.tail_rows)
        screen.update(finished, tail)
        feed.feed(terminal.getvalue()[before:].translate({0x200D: None, 0xFE0F: None}))
        assert recorder.touched() >= top
        height = min(screen.tail_rows, sum(len(fold(row, screen.width)) for row in tail))
        top = recorder.line - max(0, height - 1)


PROSE = "Some **bold** words, a `name` and [a link](http://example.org/x), $x_i^2$, again.\n\n- item\n\n"


@settings(max_examples=15)
@given(
    st.lists(
        st.sampled_from([PROSE, "plain words and more of them, " * 12 + "\n\n"]), min_size=8, max_size=20
    )
)
def test_prose_costs_at_most_eight_bytes_a_character(parts: list[str]) -> None:
    text = "".join(parts)
    terminal = Terminal(120, 40)
    # Twenty frames a second, at 200 tokens of four characters a second.
    stream(terminal, cut(text, [4]), [False] * 9 + [True])
    assert len(terminal.getvalue().encode()) <= 8 * len(text)


def test_a_tail_never_has_more_rows_than_it_may() -> None:
    transcript = DrawnTranscript(lambda: 40, lambda: 12, Clock())
    transcript.show(TextDelta("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20 + "words " * 200))
    assert [len(transcript.tail(limit)) <= limit for limit in range(13)] == [True] * 13


def test_a_finished_row_is_no_tail_any_more() -> None:
    transcript = DrawnTranscript(lambda: 40, lambda: 12, Clock())
    rows = transcript.show(TextDelta("One.\n\nTwo"))
    assert ([str(row) for row in rows], transcript.tail(5)[-1]) == (["", "One."], Text("Two"))
