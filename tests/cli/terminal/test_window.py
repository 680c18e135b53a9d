"""The window's title and its calls: what is written for which event, and what a terminal makes of it."""

from collections.abc import Iterable, Mapping

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as some

from terp.events import (
    Answered,
    Asked,
    CodeFinished,
    CodeStarted,
    CodeTyped,
    Event,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp_cli.terminal.window import TerminalWindow, WindowFeatures, window_features

ALL = WindowFeatures(title=True, focus=True, call="osc9")
STARTED, DONE = TurnStarted("plot iris.csv"), TurnFinished("done", "")
ASKED, ANSWERED = Asked("q1", "approval", "c1"), Answered("q1", "run", "person")
Timed = tuple[float, Event]


def after(events: Iterable[Timed], window: TerminalWindow | None = None) -> tuple[TerminalWindow, str]:
    """The window after events at their times, and all that was written."""
    window = window or TerminalWindow(ALL)
    written = ""
    for now, event in events:
        window, sequence = window.passed(now)
        written += sequence
        window, sequence = window.saw(event, now)
        written += sequence
    return window, written


def away(means: WindowFeatures = ALL) -> TerminalWindow:
    return TerminalWindow(means).focused(False)


def test_the_title_tells_the_state() -> None:
    running, written = after([(0, STARTED), (1, TextDelta("I look.")), (2, ASKED)])
    asking, asks = running.passed(3)
    answered, goes_on = asking.saw(ANSWERED, 4)
    _, over = answered.saw(DONE, 5)
    assert (TerminalWindow(ALL).title, written, asks, goes_on, over) == (
        "terp · waiting",
        "\x1b]2;terp · running: plot iris.csv\x07",
        "\x1b]2;terp · asks\x07",
        "\x1b]2;terp · running: plot iris.csv\x07",
        "\x1b]2;terp · waiting\x07",
    )


def test_code_that_the_person_typed_is_told_until_it_is_over() -> None:
    typed, other = CodeTyped("t1", "shell", "make all"), CodeFinished("c1", "ok", 1.0)
    _, written = after([(0, typed), (1, other), (20, CodeFinished("t1", "error", 20.0))], away())
    assert written == (
        "\x1b]2;terp · running: make all\x07\x1b]2;terp · waiting\x07\x1b]9;terp stopped: make all\x1b\\"
    )


def test_a_question_that_a_policy_answers_at_once_is_not_told() -> None:
    _, written = after([(0, STARTED), (20, ASKED), (20.01, ANSWERED), (30, CodeStarted("c1", 1))], away())
    assert written == "\x1b]2;terp · running: plot iris.csv\x07"


def test_the_old_title_is_kept_and_put_back() -> None:
    window = TerminalWindow(ALL)
    assert (window.opened(), window.closed()) == (
        "\x1b[22;0t\x1b]2;terp · waiting\x07\x1b[?1004h",
        "\x1b[?1004l\x1b]2;\x07\x1b[23;0t",
    )


def test_a_long_prompt_is_cut_between_words() -> None:
    window, _ = after([(0, TurnStarted("why does\n  the second " + "figure " * 2_000))])
    assert window.title == "terp · running: why does the second figure figure…"


@pytest.mark.parametrize(
    ("call", "sequence"),
    [
        ("off", ""),
        ("bell", "\x07"),
        ("osc9", "\x1b]9;terp done: plot; iris\x1b\\"),
        ("osc99", "\x1b]99;i=terp:o=unfocused;terp done: plot; iris\x1b\\"),
        ("osc777", "\x1b]777;notify;terp;done: plot, iris\x1b\\"),
    ],
)
def test_who_is_away_is_called_when_a_long_turn_is_over(call: str, sequence: str) -> None:
    means = window_features({"TERM": "linux"}, terminal=True, notify=call)
    _, written = after([(0, TurnStarted("plot; iris")), (10.1, DONE)], away(means))
    assert written == sequence


@pytest.mark.parametrize(
    ("window", "seconds", "end"),
    [
        (away(WindowFeatures(call="bell")), 9.9, DONE),
        (TerminalWindow(WindowFeatures(call="bell")).focused(True), 99, DONE),
        (TerminalWindow(WindowFeatures(call="bell")).typed(95), 99, DONE),
        (away(WindowFeatures(call="bell")), 99, TurnFinished("interrupted", "")),
    ],
    ids=["a short turn", "the focus is here", "a key came just now", "interrupted by hand"],
)
def test_nobody_is_called_who_need_not_be(window: TerminalWindow, seconds: float, end: Event) -> None:
    assert after([(0, STARTED), (seconds, end)], window)[1] == ""


def test_who_is_away_is_called_once_for_a_question_however_soon_it_comes() -> None:
    window, _ = after([(0, STARTED), (1, ASKED)], away(WindowFeatures(call="osc9")))
    window, first = window.passed(2)
    _, again = window.passed(60)
    assert (first, again) == ("\x1b]9;terp asks: plot iris.csv\x1b\\", "")


def test_where_the_focus_is_not_told_who_has_not_typed_for_a_while_is_away() -> None:
    window = TerminalWindow(WindowFeatures(call="bell")).typed(0)
    assert after([(0.5, STARTED), (20, DONE)], window)[1] == "\x07"


@pytest.mark.parametrize(
    ("environ", "means"),
    [
        ({"TERM": "xterm-256color"}, WindowFeatures(True, True, "bell")),
        ({"TERM": "xterm-kitty"}, WindowFeatures(True, True, "osc99")),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, WindowFeatures(True, True, "osc9")),
        ({"TERM": "foot"}, WindowFeatures(True, True, "osc777")),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, WindowFeatures(True, True, "bell")),
        ({"TERM": "linux"}, WindowFeatures(False, False, "bell")),
        ({"TERM": "xterm", "CI": "false"}, WindowFeatures(True, True, "bell")),
        ({"TERM": "xterm", "CI": "true"}, WindowFeatures()),
        ({"TERM": "dumb"}, WindowFeatures()),
        ({}, WindowFeatures()),
    ],
)
def test_each_terminal_gets_what_it_takes(environ: Mapping[str, str], means: WindowFeatures) -> None:
    assert window_features(environ, terminal=True) == means


def test_nothing_is_written_on_a_pipe_whatever_is_wished() -> None:
    assert window_features({"TERM": "xterm"}, terminal=False, notify="bell") == WindowFeatures()


@pytest.mark.parametrize(("notify", "call"), [("auto", "bell"), ("osc9", "bell"), ("off", "off")])
def test_a_screen_reader_hears_a_bell_and_no_titles(notify: str, call: str) -> None:
    means = window_features({"TERM": "xterm-kitty"}, terminal=True, notify=notify, screen_reader=True)
    assert (means.title, means.focus, means.call) == (False, False, call)


@given(some.text(max_size=200), some.sampled_from(["osc9", "osc99", "osc777"]))
def test_no_prompt_draws_or_escapes_from_the_title(prompt: str, call: str) -> None:
    screen = pyte.Screen(80, 4)
    terminal = pyte.Stream(screen)
    means = window_features({"TERM": "xterm"}, terminal=True, notify=call)
    window, written = after([(0, TurnStarted(prompt)), (20, ASKED)], away(means))
    window, asks = window.passed(21)
    _, over = window.saw(DONE, 30)
    sequences = window.opened() + written + asks
    terminal.feed(sequences)
    assert screen.title == "terp · asks"
    terminal.feed(over + window.closed())
    assert (screen.display, screen.title) == ([" " * 80] * 4, "")


@given(some.lists(some.sampled_from([STARTED, ASKED, ANSWERED, DONE, CodeStarted("c1", 1), TextDelta("x")])))
def test_without_means_nothing_is_ever_written(events: list[Event]) -> None:
    window, written = after(
        ((at * 30.0, event) for at, event in enumerate(events)), TerminalWindow(WindowFeatures())
    )
    assert window.opened() + written + window.closed() == ""


@given(some.lists(some.sampled_from([STARTED, ASKED, ANSWERED, DONE, CodeStarted("c1", 1), TextDelta("x")])))
def test_the_title_that_was_written_last_is_the_one_there_is(events: list[Event]) -> None:
    window, written = after((at * 30.0, event) for at, event in enumerate(events))
    shown = (TerminalWindow(ALL).opened() + written).rpartition("\x1b]2;")[2].partition("\x07")[0]
    assert shown == window.title
