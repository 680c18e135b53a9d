import re
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from terp.events import (
    Answered,
    Asked,
    CodeDeclined,
    CodeDelta,
    CodeFinished,
    CodeProposed,
    CodeRejected,
    CodeStarted,
    Event,
    HistoryCompacted,
    KernelChanged,
    LateOutput,
    ModelCalled,
    ModelRetrying,
    Noticed,
    Printed,
    Progress,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from terp.events.effects import Effect, Effects
from terp.events.outputs import Display, DisplayUpdate, Error, FileChange, InputRequest, Text, VariableChange
from tests.cli.drawing import Clock, drawn, front_on, printed, proposed
from tests.cli.screens import Terminal

TURN: list[Event] = [
    TurnStarted("count them", ("iris.csv",)),
    ModelCalled("openai/gpt-4o", 1),
    ReasoningDelta("Look at the data."),
    TextDelta("I shall **count** the rows:\n\n| kind | rows |\n|---|--:|\n| all | 150 |\n"),
    CodeDelta("c1", "python", 'df = read("iris.csv")\n'),
    CodeDelta("c1", "python", "len(df)"),
    proposed('df = read("iris.csv")\nlen(df)'),
    Asked("q1", "approval", "c1"),
    Answered("q1", "run", "person"),
    KernelChanged("python", "starting"),
    KernelChanged("python", "ready"),
    *printed(
        Text("stderr", "10%\r100%\n"),
        Display({"text/plain": "150"}, is_result=True),
        Display({"text/plain": "<Figure>", "image/png": "x"}, path="/tmp/s/plot.png"),
    )[:-1],
    CodeFinished("c1", "ok", 1.25, (FileChange("/tmp/out.csv", "created", 1_234),)),
    TextDelta("There are *150*."),
    UsageReported(1_200, 34, 0, 0.0123),
    TurnFinished("done", "There are *150*."),
]


def test_a_turn_reads_like_this() -> None:
    terminal = Terminal(80, 50)
    front = front_on(terminal)
    for event in TURN:
        front.draw(event)
    assert terminal.shown() == [
        "",
        "attached: iris.csv",
        "",
        "▸ thought for a moment · 17 characters",
        "",
        "I shall count the rows:",
        "",
        "kind   rows",
        "───────────",
        "all     150",
        "",
        "── python",
        '  1 │ df = read("iris.csv")',
        "  2 │ len(df)",
        "expected: computes only",
        "",
        "┆ 100%",
        "150",
        "png /tmp/s/plot.png",
        "✓ ran · 1.2 s",
        "  created /tmp/out.csv (1.2 kB)",
        "",
        "There are 150.",
        "",
        "1,200 tokens read · 34 written · $0.0123",
    ]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (ModelRetrying(1, "Overloaded.", 2.0), ["Overloaded. The request is sent again (attempt 1)."]),
        (ModelRetrying(2, "no answer (x)", 2.0), ["no answer (x). The request is sent again (attempt 2)."]),
        (CodeDeclined("c1", "too slow"), ["✗ declined: too slow"]),
        (CodeRejected("c1", "no such language"), ["Cannot run: no such language"]),
        (Answered("q1", "run", "the server"), ["the server: run"]),
        (Noticed("No sandbox.", "Install bubblewrap."), ["! No sandbox.", "Install bubblewrap."]),
        (
            HistoryCompacted(172_000, 21_000, "summed up", "full", 200_000),
            ["Context window nearly full: summed up, 172,000 → 21,000 of 200,000 tokens."],
        ),
        (
            HistoryCompacted(172_000, 21_000, "outputs cut", "refused"),
            ["Context window full: outputs cut, 172,000 → 21,000 tokens."],
        ),
        (
            HistoryCompacted(172_000, 21_000, "summed up", "asked", 200_000),
            ["Compacted: 172,000 → 21,000 tokens."],
        ),
        (
            HistoryCompacted(21_000, 172_000, "", "undone", 200_000),
            ["Compaction undone: 21,000 → 172,000 tokens."],
        ),
        (
            KernelChanged("python", "died", "It was killed."),
            ["The python kernel died. It was killed."],
        ),
        (LateOutput("c0", Text("stdout", "late\n")), ["Output of an earlier run:", "late"]),
    ],
)
def test_every_fact_is_said_in_words(event: Event, said: list[str]) -> None:
    assert drawn([event]) == said


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (TurnFinished("interrupted", ""), ["Interrupted."]),
        (
            TurnFinished("auth", "", "Wrong key.", "Set KEY."),
            ["Wrong key.", "Set KEY."],
        ),
    ],
)
def test_a_turn_that_ends_early_says_why(event: Event, said: list[str]) -> None:
    terminal = Terminal()
    front_on(terminal).draw(event)
    assert terminal.shown()[1:] == said


@pytest.mark.parametrize(
    ("before", "told"), [("", []), ("It took too long. ", ["It took too long."])], ids=["alone", "more"]
)
def test_a_death_is_told_once(before: str, told: list[str]) -> None:
    why = "The kernel ended by signal SIGKILL."
    events: list[Event] = [
        CodeStarted("c1", 1),
        KernelChanged("python", "died", why),
        CodeFinished("c1", "died", 0.5, note=f"{before}{why}"),
    ]
    assert drawn(events) == [f"The python kernel died. {why}", "", "✗ the kernel died · 500 ms", *told]


def test_a_long_list_of_variables_continues_below_itself() -> None:
    new = ("number_of_rows", "number_of_columns", "mean_of_prices", "sum_of_prices")
    changes = tuple(VariableChange(name, "new", "float64") for name in new)
    assert drawn([CodeStarted("c1", 1), CodeFinished("c1", "ok", 0.01, changes=changes)], columns=70) == [
        "✓ ran · 10 ms",
        "  +number_of_rows float64 · +number_of_columns float64 ·",
        "  +mean_of_prices float64 · +sum_of_prices float64",
    ]


def test_code_that_was_streamed_is_not_shown_again() -> None:
    assert drawn([CodeDelta("c1", "python", "a = 1\nb"), proposed("a = 1\nb")]) == [
        "── python",
        "  1 │ a = 1",
        "  2 │ b",
        "expected: computes only",
    ]


def test_code_is_shown_whole_when_it_differs_from_what_was_streamed() -> None:
    shown = drawn([CodeDelta("c1", "python", "a = 1"), proposed("a = 2")])
    assert shown == [
        "── python",
        "  1 │ a = 1",
        "",
        "── python",
        "  1 │ a = 2",
        "expected: computes only",
    ]


def test_edited_code_is_shown_whole() -> None:
    shown = drawn([CodeDelta("c1", "python", "a = 1"), proposed("a = 1"), proposed("a = 1\nb = 2")])
    assert shown[2:] == [
        "expected: computes only",
        "",
        "── python",
        "  1 │ a = 1",
        "  2 │ b = 2",
        "expected: computes only",
    ]


def test_each_block_of_a_reply_with_several_calls_is_shown_once() -> None:
    deltas: list[Event] = [
        CodeDelta("c1", "python", "a = 1"),
        CodeDelta("c2", "python", "b = "),
        CodeDelta("c2", "python", "2"),
        TextDelta("Both are simple."),
    ]
    second = replace(proposed("b = 2"), call_id="c2")
    assert drawn([*deltas, proposed("a = 1"), *printed(Text("stdout", "one\n")), second]) == [
        "── python",
        "  1 │ a = 1",
        "expected: computes only",
        "",
        "Both are simple.",
        "",
        "one",
        "✓ ran · 500 ms",
        "",
        "── python",
        "  1 │ b = 2",
        "expected: computes only",
    ]


def test_code_that_cannot_run_is_shown_before_the_reason() -> None:
    deltas: list[Event] = [CodeDelta("c1", "python", "a = 1"), CodeDelta("c2", "python", "b = 2")]
    shown = drawn([*deltas, proposed("a = 1"), CodeRejected("c2", "an earlier call failed.")])
    assert shown[3:] == ["", "── python", "  1 │ b = 2", "", "Cannot run: an earlier call failed."]


@pytest.mark.parametrize(
    "grows",
    [
        [CodeDelta("c1", "python", "a = 1\n"), CodeDelta("c1", "python", "b = 2\n")],
        [
            CodeStarted("c1", 1),
            Printed("c1", Text("stdout", "a = 1\n")),
            Printed("c1", Text("stdout", "b\n")),
        ],
        [TextDelta("| a |\n|---|\n"), TextDelta("| 1 |\n")],
    ],
    ids=["code", "output", "a table"],
)
def test_a_notice_waits_for_the_end_of_what_grows(grows: list[Event]) -> None:
    *first, last = grows
    assert drawn([*first, Noticed("the disk is full"), last]) == [
        *drawn(grows),
        "",
        "! the disk is full",
    ]


def test_code_in_another_language_than_was_streamed_is_shown_again() -> None:
    shown = drawn([CodeDelta("c1", "", "ls"), proposed("ls", "shell")])
    assert shown == ["── code", "  1 │ ls", "", "── shell", "  1 │ ls", "expected: computes only"]


HOSTILE = (
    "\x1b]0;owned\x07\x1b]52;c;eA==\x1b\\\x1b[2J\x1b[8m\x9b31m\x90q\x9c"
    "\u202e\u2066\x7f\x00\r\x1b[1A[red]x[/red]"
)
EVENTS: list[Event] = [
    TurnStarted("p", (HOSTILE,)),
    ModelCalled(HOSTILE, 1),
    ModelRetrying(1, HOSTILE, 1.0),
    ReasoningDelta(HOSTILE),
    TextDelta(HOSTILE),
    TextDelta(
        "`"
        + HOSTILE
        + "`\n\n# "
        + HOSTILE
        + "\n\n[a](http://x/"
        + HOSTILE
        + ")\n\n```"
        + HOSTILE
        + "\n"
        + HOSTILE
    ),
    TextDelta("&#27;]0;x&#7; &#x202e; &#155;\n"),
    CodeDelta("c1", HOSTILE, HOSTILE),
    CodeProposed("c1", HOSTILE, HOSTILE, "d", HOSTILE, 0, HOSTILE, Effects((Effect("deletes", (HOSTILE,)),))),
    Answered("q", HOSTILE, HOSTILE),
    CodeDeclined("c1", HOSTILE),
    CodeRejected("c1", HOSTILE),
    Printed("c1", Text("stdout", HOSTILE + "\n")),
    Printed(
        "c1", Display({"text/plain": HOSTILE, "text/markdown": HOSTILE, "image/" + HOSTILE: ""}, path=HOSTILE)
    ),
    Printed("c1", DisplayUpdate("d", {"text/plain": HOSTILE})),
    Printed("c1", Error(HOSTILE, HOSTILE, (HOSTILE,))),
    Printed("c1", Error("", "", ())),
    Printed("c1", InputRequest(HOSTILE)),
    LateOutput("c1", Text("stderr", HOSTILE)),
    CodeFinished("c1", "ok", 0.1, (FileChange(HOSTILE, "created", 1),), HOSTILE, HOSTILE),
    KernelChanged("python", "died", HOSTILE),
    Progress(HOSTILE, 1, 2, 9.0),
    HistoryCompacted(1, 2, HOSTILE),
    Noticed(HOSTILE, HOSTILE),
    TurnFinished("error", "", HOSTILE, HOSTILE),
]
OURS = re.compile(r"\x1b\[[\d;]*m|\x1b\[\d*[ABCLM]|\x1b\[[JK]|\x1b\[\?7[lh]|\r\n|\r")
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_nothing_hostile_reaches_the_terminal(event: Event) -> None:
    terminal = Terminal()
    clock = Clock()
    front = front_on(terminal, clock)
    front.draw(event)
    clock.now = 10.0
    front.tick()
    front.draw(TurnFinished("done", ""))
    assert UNSAFE.findall(OURS.sub("", terminal.getvalue())) == []


def test_waiting_is_shown_with_its_time_and_leaves_nothing_behind() -> None:
    terminal, clock = Terminal(), Clock()
    front = front_on(terminal, clock)
    front.draw(ModelCalled("openai/gpt-4o", 1))
    clock.now = 3.0
    front.tick()
    waiting = terminal.shown()
    front.draw(TextDelta("Here."))
    front.draw(TurnFinished("done", "Here."))
    assert (waiting[1][2:], terminal.shown()) == (
        "waiting for openai/gpt-4o · 3.0 s · Esc stops",
        ["", "Here."],
    )


def test_frames_are_at_least_a_twentieth_of_a_second_apart() -> None:
    terminal, clock = Terminal(), Clock()
    front = front_on(terminal, clock)
    front.draw(TextDelta("one"))
    before = terminal.getvalue()
    front.draw(TextDelta(" two"))
    early = terminal.getvalue()
    clock.now = 0.051
    front.tick()
    assert (early == before, terminal.shown()[-1]) == (True, "one two")


async def test_the_last_word_is_painted_when_the_events_end() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        yield TextDelta("no end")

    terminal = Terminal()
    await front_on(terminal).show(events())
    assert terminal.shown() == ["", "no end"]


def test_a_turn_stands_apart_from_the_line_that_asked_for_it_whatever_came_before() -> None:
    terminal = Terminal()
    front = front_on(terminal)
    front.aside(TextDelta("before\n\n"))
    front.aside(TextDelta(""))
    front.say("› go on")
    front.draw(TurnStarted("go on"))
    front.draw(TextDelta("An answer."))
    front.draw(TurnFinished("done", ""))
    assert terminal.shown()[-3:] == ["› go on", "", "An answer."]


def test_progress_outside_a_turn_is_in_the_status_line_until_it_ends() -> None:
    terminal, clock = Terminal(), Clock()
    front, seen = front_on(terminal, clock), []
    for done, total, seconds in ((0, 0, 0.0), (0, 0, 2.0), (1, 1, 3.0)):
        clock.now = seconds
        front.aside(Progress("Saving the checkpoint", done, total, seconds))
        seen.append(terminal.shown())
    assert ["Saving the checkpoint · 2.0 s" in "".join(rows) for rows in seen] == [False, True, False]
    assert "".join(seen[2]) == ""
