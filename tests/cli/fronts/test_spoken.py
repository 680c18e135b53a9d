"""What a person hears of a turn."""

import asyncio
import io
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from terp import events as on
from terp.events import outputs as out
from terp.person import Option
from terp_cli.fronts.spoken import SpokenFront
from terp_cli.prompt.interface import letter_of, numbered
from tests.cli.drawing import Clock, printed, proposed
from tests.cli.screens import Terminal

HTML = (
    "<style>td {color: red}</style><table><thead><tr><th></th><th>mean</th><th>max</th></tr>"
    "<tr><th>species</th><th></th><th></th></tr></thead><tbody>"
    "<tr><th>setosa</th><td>5.01</td><td></td></tr></tbody></table><p>1 row</p>"
)


def heard(events: Sequence[on.Event], *, verbose: bool = False) -> list[str]:
    stream = io.StringIO()
    front = SpokenFront(stream, clock=Clock(), verbose=verbose)
    for event in events:
        front.draw(event)
    front.draw(on.TurnFinished("done", ""))
    return stream.getvalue().splitlines()


def test_formulas_are_spelled_and_footnotes_are_named() -> None:
    text = "So $x_1^2 \\le \\pi$, for $5.\n\n$$\n\\frac{a}{b}\n$$\n\nSee[^1].\n\n[^1]: a *note*\n"
    assert heard([on.TextDelta(text)])[:4] == [
        "terp: So x_1^2 <= pi, for $5.",
        "a/b",
        "See[1].",
        "Footnote 1: a note",
    ]


def test_a_turn_sounds_like_this() -> None:
    events: list[on.Event] = [
        on.TurnStarted("count them\nand be\nquick", ("iris.csv",)),
        on.ModelCalled("openai/gpt-4o", 1),
        on.ReasoningDelta("Look at\n the data."),
        on.TextDelta("I shall **count** the rows:\n\n| kind | rows |\n|---|--:|\n| all | 150 |\n| new | |\n"),
        on.CodeDelta("c1", "python", 'df = read("iris.csv")\n'),
        proposed('df = read("iris.csv")\nlen(df)'),
        on.Asked("q1", "approval", "c1"),
        on.Answered("q1", "run", "person"),
        on.KernelChanged("python", "starting"),
        *printed(
            out.Text("stderr", "10%\r100%\n"),
            out.Display({"text/plain": "150"}, is_result=True),
            out.Display({"text/plain": "<Figure>", "image/png": "x"}, path="/tmp/s/plot.png"),
        )[:-1],
        on.CodeFinished("c1", "ok", 3.24, (out.FileChange("/tmp/out.csv", "created", 1_234),)),
        on.TextDelta("There are *150*."),
        on.UsageReported(1_200, 34, 0, 0.0123),
    ]
    assert heard(events) == [
        "You: count them",
        "And 2 more lines.",
        "Attached: iris.csv.",
        "Reasoning: Look at the data.",
        "terp: I shall count the rows:",
        "Table, 2 columns, 2 rows:",
        "Row 1: kind is all, rows is 150.",
        "Row 2: kind is new, rows is empty.",
        "Code, Python, 2 lines:",
        'df = read("iris.csv")',
        "len(df)",
        "Expected: computes only.",
        "Output, 2 lines:",
        "100%",
        "150",
        "Picture: /tmp/s/plot.png",
        "Done in 3.2 s.",
        "created /tmp/out.csv (1.2 kB)",
        "terp: There are 150.",
        "1200 tokens read, 34 written, $0.0123",
    ]


@pytest.mark.parametrize(
    ("markdown", "lines"),
    [
        ("# Plan\n\none\ntwo", ["Heading: Plan", "one two"]),
        ("- a\n- b\n  - c", ["Item: a", "Item: b", "Item of level 2: c"]),
        ("2. a\n3. b", ["2: a", "3: b"]),
        ("> so\n> it goes\n\n> one\n>\n> two", ["Quote: so it goes", "Quote: one", "two", "End of quote."]),
        ("```py\na = 1\n\nb\n```\nthen", ["Code, Py, 3 lines:", "a = 1", "", "b", "End of code.", "then"]),
        ("see [it](http://x/y)\n\n---", ["see it (http://x/y)"]),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_every_block_says_what_it_is(markdown: str, lines: list[str], size: int) -> None:
    deltas = [on.TextDelta(markdown[at : at + size]) for at in range(0, len(markdown), size)]
    assert heard(deltas) == [f"terp: {lines[0]}", *lines[1:]]


def test_a_block_is_heard_as_soon_as_the_next_begins() -> None:
    stream = io.StringIO()
    front = SpokenFront(stream, clock=Clock())
    front.draw(on.TextDelta("One.\n\nTw"))
    first = stream.getvalue()
    front.draw(on.TextDelta("o.\n\nThree"))
    assert (first, stream.getvalue()) == ("terp: One.\n", "terp: One.\nTwo.\n")


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (
            on.ModelRetrying(1, "Overloaded.", 2.0),
            ["Overloaded. The request is sent again (attempt 1).", "In 2 s."],
        ),
        (on.CodeDeclined("c1", "too slow"), ["Not run: too slow"]),
        (on.CodeRejected("c1", "no such language"), ["Cannot run: no such language"]),
        (on.Answered("q1", "run", "the server"), ["the server: run"]),
        (on.Answered("q1", "run", "auto_run"), ["runs without asking (auto_run)"]),
        (on.Answered("q1", "run", "rule effects: none"), ["runs by rule effects: none"]),
        (on.Noticed("No sandbox.", "Install bubblewrap."), ["Note: No sandbox.", "Install bubblewrap."]),
        (on.KernelChanged("python", "died", "Killed."), ["The python kernel died. Killed."]),
        (on.LateOutput("c0", out.Text("stdout", "late")), ["Output of an earlier run:", "Output: late"]),
        (on.TurnFinished("auth", "", "Wrong key.", "Set KEY."), ["Wrong key.", "Set KEY."]),
    ],
)
def test_every_fact_is_said_in_words(event: on.Event, said: list[str]) -> None:
    assert heard([event]) == said


def test_a_table_of_a_data_frame_is_read_row_by_row() -> None:
    frame = out.Display({"text/plain": "…", "text/html": HTML}, is_result=True)
    assert heard(printed(frame))[:2] == [
        "Table, 3 columns, 1 row:",
        "Row 1: species is setosa, mean is 5.01, max is empty.",
    ]


def test_an_error_says_what_it_is_and_where_it_stands() -> None:
    traceback = (
        "-" * 75,
        "ZeroDivisionError                         Traceback (most recent call last)",
        "Cell In[1], line 3\n      1 a = 0\n      2 b = 1\n----> 3 b / a\n      4 c = 2",
        "File /usr/lib/python3.11/site-packages/x.py:1\n----> 1 raise",
        "ZeroDivisionError: division by zero",
    )
    error = out.Error("ZeroDivisionError", "division by zero", traceback)
    assert heard(printed(out.Text("stdout", "before\n"), error)) == [
        "Output: before",
        "Error: ZeroDivisionError: division by zero",
        "At Cell In[1], line 3: b / a",
        "1 library frame left out.",
        "Done in 500 ms.",
    ]


def test_a_flood_is_cut_and_says_by_how_much() -> None:
    flood = "".join(f"{number}\n" for number in range(1_000))
    lines = heard(printed(out.Text("stdout", flood)))
    assert (lines[0], lines[40:43], lines[-2:]) == (
        "Output, 1,000 lines:",
        ["39", "948 lines left out.", "988"],
        ["999", "Done in 500 ms."],
    )


def test_of_what_is_updated_only_the_last_is_heard() -> None:
    updates = [out.DisplayUpdate("bar", {"text/plain": f"{number} %"}) for number in range(100)]
    assert heard(printed(*updates)) == ["Output: 99 %", "Done in 500 ms."]


def test_what_was_cleared_is_not_heard() -> None:
    cleared: list[out.Output] = [out.Text("stdout", "1"), out.Clear(), out.Text("stdout", "2\n")]
    assert heard(printed(*cleared)) == ["Output: 2", "Done in 500 ms."]


def test_long_reasoning_is_one_short_line_unless_more_is_wanted() -> None:
    long = on.ReasoningDelta("why " * 500)
    (short,), (whole,) = heard([long]), heard([long], verbose=True)
    assert (len(short) < 330, len(whole)) == (True, len("Reasoning: ") + 4 * 500 - 1)


def test_waiting_is_told_after_two_seconds_and_then_every_ten() -> None:
    stream, clock = io.StringIO(), Clock()
    front = SpokenFront(stream, clock=clock)
    front.draw(on.ModelCalled("openai/gpt-4o", 1))
    for second in range(26):
        clock.now = float(second)
        front.tick()
    assert stream.getvalue().splitlines() == [
        "Waiting for openai/gpt-4o, 2.0 s.",
        "Waiting for openai/gpt-4o, 12 s.",
        "Waiting for openai/gpt-4o, 22 s.",
    ]


def test_a_long_run_says_its_output_so_far() -> None:
    stream, clock = io.StringIO(), Clock()
    front = SpokenFront(stream, clock=clock)
    for event in (on.CodeStarted("c1", 1), on.Printed("c1", out.Text("stdout", "1\n2\n"))):
        front.draw(event)
    clock.now = 3.0
    front.tick()
    assert stream.getvalue().splitlines() == ["Output, 2 lines:", "1", "2", "Running, 3.0 s."]


def test_nothing_is_said_while_a_question_is_open() -> None:
    stream = io.StringIO()
    front = SpokenFront(stream, clock=Clock())
    with front.asking():
        front.draw(on.Noticed("meanwhile"))
        during = stream.getvalue()
    assert (during, stream.getvalue()) == ("", "Note: meanwhile\n")


def test_the_last_words_are_said_when_the_events_end() -> None:
    async def events() -> AsyncGenerator[on.Event, None]:
        yield on.TextDelta("no end")

    stream = io.StringIO()
    asyncio.run(SpokenFront(stream).show(events()))
    assert stream.getvalue() == "terp: no end\n"


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066\x7f\x00\r[red]x[/red]\n"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


CELLS = f"<table><thead><tr><th>{HOSTILE}</th></tr></thead><tr><td>{HOSTILE}&#27;&#x202e;</td></tr></table>"
OUTPUTS: list[out.Output] = [
    out.Text("stdout", HOSTILE),
    out.Display({"text/plain": HOSTILE, "image/" + HOSTILE: ""}, path=HOSTILE),
    out.Display({"text/markdown": HOSTILE + "&#27;\n```" + HOSTILE + "\n" + HOSTILE}),
    out.Display({"text/html": CELLS}),
    out.DisplayUpdate("d", {"text/plain": HOSTILE}),
    out.Error(HOSTILE, HOSTILE, (HOSTILE, f"Cell In[1]{HOSTILE}\n----> 1 {HOSTILE}")),
    out.InputRequest(HOSTILE),
]
EVENTS: list[on.Event] = [
    on.TurnStarted(HOSTILE, (HOSTILE,)),
    on.ModelRetrying(1, HOSTILE, 1.0),
    on.ReasoningDelta(HOSTILE),
    on.TextDelta(
        f"`{HOSTILE}`\n\n# {HOSTILE}\n\n[a](http://x/{HOSTILE})\n\n<b>{HOSTILE}\n\n|a|\n|-|\n|&#27;|\n"
    ),
    on.CodeProposed("c1", HOSTILE, HOSTILE, "d", HOSTILE, 0, HOSTILE),
    on.Answered("q", HOSTILE, HOSTILE),
    on.CodeDeclined("c1", HOSTILE),
    on.CodeRejected("c1", HOSTILE),
    *(on.Printed("c1", output) for output in OUTPUTS),
    on.LateOutput("c1", out.Text("stderr", HOSTILE)),
    on.CodeFinished("c1", "ok", 0.1, (out.FileChange(HOSTILE, "created", 1),), HOSTILE, HOSTILE),
    on.KernelChanged("python", "died", HOSTILE),
    on.HistoryCompacted(1, 2, HOSTILE),
    on.Noticed(HOSTILE, HOSTILE),
    on.TurnFinished("error", "", HOSTILE, HOSTILE),
]
WAITED: list[on.Event] = [on.ModelCalled(HOSTILE, 1), on.Progress(HOSTILE, 1, 2, 9.0)]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("verbose", [False, True])
def test_nothing_hostile_reaches_the_terminal(event: on.Event, verbose: bool) -> None:
    said = "\n".join(heard([event], verbose=verbose))
    assert (UNSAFE.findall(said), said != "") == ([], True)


@pytest.mark.parametrize("event", WAITED, ids=lambda event: type(event).__name__)
def test_nothing_hostile_is_waited_for(event: on.Event) -> None:
    stream, clock = io.StringIO(), Clock()
    front = SpokenFront(stream, clock=clock)
    front.draw(event)
    clock.now = 5.0
    front.tick()
    assert (UNSAFE.findall(stream.getvalue()[:-1]), stream.getvalue() != "") == ([], True)


def test_what_stands_there_as_it_was_typed_is_not_said_again() -> None:
    stream = io.StringIO()
    front = SpokenFront(stream, clock=Clock(), repeats=False)
    front.draw(on.TurnStarted("calc", ("iris.csv",)))
    assert stream.getvalue() == "Attached: iris.csv.\n"


def test_lines_are_broken_between_words_where_the_terminal_would_break_them() -> None:
    terminal = Terminal()
    SpokenFront(terminal, clock=Clock()).say("spoken " * 20 + "x" * 100)
    assert terminal.getvalue().splitlines()[:2] == [" ".join(["spoken"] * 11), " ".join(["spoken"] * 9)]


def test_an_edit_is_spelled_out_before_the_question_about_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    asked = replace(proposed("edit_file('a.py', '1', '2')"), cwd=str(tmp_path))
    assert heard([asked])[2:5] == [
        "Change of a.py, +1 −1:",
        "Line 1 removed: x = 1",
        "Line 1 added: x = 2",
    ]


CHOICES = (Option("y", "run it"), Option("n", "do not run it"), Option("e", "edit it"))


def test_choices_are_numbered() -> None:
    assert numbered(CHOICES, free="anything longer is told to the model.") == (
        "1 or y: run it, 2 or n: do not run it, 3 or e: edit it. Anything longer is told to the model. "
        "Type the number or the letter and press Enter: "
    )


@pytest.mark.parametrize(
    ("answer", "letter"),
    [("1", "y"), (" 3 ", "e"), ("4", "4"), ("0", "0"), ("n", "n"), ("1. no", "1. no"), ("²", "²")],
)
def test_a_number_stands_for_its_letter(answer: str, letter: str) -> None:
    assert letter_of(answer, CHOICES) == letter


def test_a_value_that_was_put_in_is_said_to_be_computed() -> None:
    events = [on.TextDelta("There are "), on.TextDelta("42", "{{n}}"), on.TextDelta(" rows.")]
    assert heard(events)[0] == "terp: There are 42 (computed) rows."
