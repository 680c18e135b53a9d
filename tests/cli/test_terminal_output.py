"""What code puts out, as a person sees it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from terp.events import CodeFinished, CodeStarted, Event, Noticed, Printed, TextDelta, TurnFinished
from terp.events.outputs import (
    Clear,
    Display,
    DisplayUpdate,
    Error,
    Held,
    Omitted,
    Output,
    StoppedAt,
    Text,
    VariableChange,
)
from terp_cli.fronts.terminal import TerminalFront
from terp_cli.render.output.display import Fold
from terp_cli.render.output.output import OutputStream
from tests.cli.drawing import Clock, drawn, printed, proposed
from tests.cli.screens import Terminal, cut


def test_a_flood_shows_its_head_a_count_and_its_tail() -> None:
    lines = "".join(f"{at}\n" for at in range(1_000))
    shown = drawn(
        [*printed(Text("stdout", lines))[:-1], CodeFinished("c1", "ok", 0.5, output_path="/tmp/out.txt")]
    )
    assert shown == [
        *(str(at) for at in range(6)),
        "… 992 more lines · Ctrl-O · /out 1",
        "998",
        "999",
        "✓ ran · 500 ms · out[1]",
    ]


def test_without_a_prompt_the_file_of_the_whole_output_is_named() -> None:
    terminal = Terminal()
    front = TerminalFront(terminal.screen, keyboard=0, clock=Clock())
    lines = "".join(f"{at}\n" for at in range(1_000))
    for event in printed(Text("stdout", lines))[:-1]:
        front.draw(event)
    front.draw(CodeFinished("c1", "ok", 0.5, output_path="/tmp/out.txt"))
    front.draw(TurnFinished("done", ""))
    assert terminal.shown()[7:] == [
        "… 992 more lines",
        "998",
        "999",
        "✓ ran · 500 ms · out[1]",
        "  all output: /tmp/out.txt",
    ]


def test_a_long_line_takes_three_rows() -> None:
    assert drawn(printed(Text("stdout", "x" * 100_000 + "\nnext\n")))[2:5] == [
        "x" * 60 + " … · Ctrl-O · /out 1",
        "next",
        "✓ ran · 500 ms",
    ]


def test_a_flood_of_results_is_counted_and_its_pictures_are_shown() -> None:
    picture = Display({"image/png": "x"}, path="/s/last.png")
    flood: list[Output] = [Display({"text/plain": str(at)}) for at in range(1_000)]
    assert drawn(printed(*flood, picture))[199:] == [
        "199",
        "png /s/last.png",
        "… 800 more results …",
        "✓ ran · 500 ms",
    ]


STOPPED = StoppedAt(7, "fit", "total = sum(xs)", values=(Held("i", "41"),))
CHANGES = (
    VariableChange("df", "new", "DataFrame", (10_000, 12), 9_400_000),
    VariableChange("\x1bx", "removed"),
)


def test_a_run_ends_with_what_it_did_to_the_variables() -> None:
    ended = CodeFinished("c1", "interrupted", 0.5, changes=CHANGES, more_changes=3, stopped_at=STOPPED)
    assert drawn([*printed()[:-1], ended])[-3:] == [
        "✗ interrupted, variables kept · 500 ms",
        "Stopped at line 7 in fit: total = sum(xs)   (i = 41)",
        "  +df DataFrame 10,000×12 9.4 MB · −^[x · and 3 more",
    ]


INTERRUPT = Error("KeyboardInterrupt", "", ("KeyboardInterrupt",))


def test_the_traceback_of_an_interrupt_tells_nothing_that_the_end_of_the_run_does_not() -> None:
    ended = CodeFinished("c1", "interrupted", 0.5)
    events = [*printed(Text("stdout", "a\n"), INTERRUPT)[:-1], ended]
    assert drawn(events) == ["a", "✗ interrupted, variables kept · 500 ms"]


def test_a_keyboard_interrupt_that_the_code_raised_itself_is_shown() -> None:
    events = [*printed(INTERRUPT)[:-1], CodeFinished("c1", "error", 0.5)]
    assert drawn(events) == ["KeyboardInterrupt", "✗ failed · 500 ms"]


def test_what_was_left_out_before_is_counted_too() -> None:
    shown = drawn(printed(Text("stdout", "a\n"), Omitted(900, 90, spooled=True), Text("stdout", "z\n")))
    assert shown == ["a", "… 90 more lines · Ctrl-O · /out 1", "z", "✓ ran · 500 ms"]


def test_a_notice_in_a_growing_block_is_broken_between_words_where_nothing_is_repainted() -> None:
    terminal = Terminal()
    front = TerminalFront(lambda: terminal.screen(terminal.painter(live=False)), clock=Clock())
    events: list[Event] = [TextDelta("An answer"), Noticed("word " * 20), TurnFinished("done", "")]
    for event in events:
        front.draw(event)
    assert "! " + "word " * 14 + "word" in terminal.shown()


def test_a_terminal_that_takes_no_single_keys_is_told_of_none() -> None:
    terminal = Terminal()
    front = TerminalFront(lambda: terminal.screen(terminal.painter(live=False)), clock=Clock())
    for event in [*printed(Text("stdout", "a\n" * 100)), TurnFinished("done", "")]:
        front.draw(event)
    assert "… 92 more lines · /out 1" in terminal.shown()


def test_output_that_is_cleared_shows_what_came_last() -> None:
    steps: list[Output] = []
    for at in range(5):
        steps += [Clear(wait=True), Text("stdout", f"step {at}\n")]
    assert drawn(printed(*steps)) == ["step 4", "✓ ran · 500 ms"]


def test_a_display_that_is_updated_shows_its_last_content() -> None:
    updates = [DisplayUpdate("d", {"text/plain": f"{at} %"}) for at in (10, 50, 100)]
    assert drawn(printed(Display({"text/plain": "0 %"}, display_id="d"), *updates)) == [
        "0 %",
        "100 %",
        "✓ ran · 500 ms",
    ]


FAILED = Error(
    "KeyError",
    "'nope'",
    (
        "\x1b[31m-------\x1b[39m",
        "\x1b[31mKeyError\x1b[39m   Traceback (most recent call last)",
        "Cell \x1b[92mIn[2]\x1b[39m, line 2\n      1 import pandas\n\x1b[32m----> 2 frame['nope']\x1b[39m",
        "File /usr/lib/python3/dist-packages/pandas/frame.py:9\n      8 def get():\n----> 9     raise",
        "File /tmp/mine.py:3, in mine\n----> 3 get()",
        "\x1b[31mKeyError\x1b[39m: 'nope'",
    ),
)


def test_a_traceback_shows_the_own_frames_and_counts_those_of_libraries() -> None:
    path = "/s/c1.txt"
    ended = CodeFinished("c1", "error", 0.5, output_path=path)
    assert drawn([proposed("1"), CodeStarted("c1", 1), Printed("c1", FAILED), ended])[4:] == [
        "KeyError   Traceback (most recent call last)",
        "Cell In[2], line 2",
        "      1 import pandas",
        "----> 2 frame['nope']",
        "  [1 library frame]",
        "File /tmp/mine.py:3, in mine",
        "----> 3 get()",
        "KeyError: 'nope'",
        "✗ failed · 500 ms · out[1]",
    ]


def test_a_traceback_is_whole_when_more_is_asked_for() -> None:
    terminal = Terminal(120, 40)
    front = TerminalFront(terminal.screen, clock=Clock(), verbose=True)
    for event in [*printed(FAILED), TurnFinished("done", "")]:
        front.draw(event)
    assert "File /usr/lib/python3/dist-packages/pandas/frame.py:9" in terminal.shown()


def test_a_long_traceback_keeps_its_last_lines() -> None:
    frames = [f"Cell In[{at}], line 1\n----> 1 f{at}()" for at in range(9)]
    error = Error("E", "bad", ("E  Traceback (most recent call last)", *frames, "E: bad"))
    stream = OutputStream(lambda: 80, fold=Fold(5, "Ctrl-O · /out 6"))
    assert [str(row) for row in stream.add(error)] == [
        "… 15 more lines · Ctrl-O · /out 6",
        *"\n".join([*frames[7:], "E: bad"]).split("\n"),
    ]


def test_markdown_that_code_displays_is_drawn_as_such() -> None:
    assert drawn(printed(Display({"text/markdown": "**so**", "text/plain": "<Markdown>"})))[0] == "so"


@settings(max_examples=40)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(20, 120))
def test_output_looks_the_same_however_it_was_cut(sizes: list[int], columns: int) -> None:
    text = (
        "start\n"
        + "".join(f"\r{at:3}% \x1b[32m{'#' * at}\x1b[0m" for at in range(0, 20, 3))
        + "\nend"
        + "\nx" * 70
    )
    pieces = [Text("stdout", piece) for piece in cut(text, sizes)]
    assert drawn(printed(*pieces), columns=columns) == drawn(printed(Text("stdout", text)), columns=columns)


def test_a_formula_that_code_displays_can_be_read() -> None:
    data = {"text/latex": "$\\displaystyle \\frac{x^{2}}{2}$", "text/plain": "x**2/2"}
    assert drawn(printed(Display(data)))[0] == "x²/2"


def test_a_flood_shows_how_much_is_left_out_while_it_runs() -> None:
    stream = OutputStream(lambda: 80, tail_rows=lambda: 12)
    stream.add(Text("stdout", "".join(f"{at}\n" for at in range(1_000))))
    assert [row.plain for row in stream.tail(4)] == ["… 957 more lines", "997", "998", "999"]


def test_bars_within_bars_are_drawn_again_in_place() -> None:
    stream = OutputStream(lambda: 80, tail_rows=lambda: 12)
    rows = stream.add(Text("stderr", "\router 0/2\n\rinner 1/9\x1b[A"))
    before = [row.plain for row in stream.tail(10)]
    rows += stream.add(Text("stderr", "\n\rinner 9/9\x1b[A\router 1/2"))
    after = [row.plain for row in stream.tail(10)]
    assert (rows, before, after) == (
        [],
        ["┆ outer 0/2", "┆ inner 1/9"],
        ["┆ outer 1/2", "┆ inner 9/9"],
    )


def test_output_that_is_cleared_after_it_was_printed_shows_what_came_last() -> None:
    stream = OutputStream(lambda: 80, tail_rows=lambda: 12)
    steps = [output for at in range(5) for output in (Clear(wait=True), Text("stdout", f"step {at}\n"))]
    rows = [row for output in steps[1:] for row in stream.add(output)]
    assert [str(row) for row in (*rows, *stream.finish())] == ["step 4"]
