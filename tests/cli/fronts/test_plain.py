"""A turn as plain text: the answer on one stream, everything else on the other."""

import io
from collections.abc import Sequence

import pytest

from terp import events as on
from terp.errors import with_remedy
from terp.events import outputs as out
from terp.events.effects import Effects
from terp_cli.fronts.plain import Detail, PlainFront

PROPOSED = on.CodeProposed("c1", "python", "print(1)", "digest", "/w", 0, "none", Effects())


def shown(events: Sequence[on.Event], detail: Detail = "normal") -> tuple[str, str]:
    answer, notes = io.StringIO(), io.StringIO()
    front = PlainFront(answer, notes, detail)
    for event in events:
        front.take(event)
    return answer.getvalue(), notes.getvalue()


def run_of(*printed: out.Output) -> list[on.Event]:
    return [
        PROPOSED,
        on.CodeStarted("c1", 1),
        *(on.Printed("c1", output) for output in printed),
        on.CodeFinished("c1", "ok", 0.1),
    ]


def test_the_answer_alone_goes_to_the_first_stream() -> None:
    events: list[on.Event] = [
        on.TextDelta("for"),
        on.TextDelta("ty-two"),
        on.TurnFinished("done", "forty-two"),
    ]
    assert shown(events) == ("forty-two\n", "")


@pytest.mark.parametrize("error", ["It broke", "It broke."])
def test_an_error_and_its_remedy_are_two_sentences(error: str) -> None:
    assert with_remedy(error, "Try later.") == "It broke. Try later."


def test_the_rule_by_which_code_runs_or_does_not_is_told() -> None:
    rule = "rule shell: ls ** (~/.config/terp/config.yaml:3)"
    answered = [on.Answered("q1", "run", rule), on.Answered("q2", "run", "auto_run")]
    assert shown(answered) == ("", "[rule] runs by rule shell: ls ** (~/.config/terp/config.yaml:3)\n")


def test_text_beside_code_is_a_remark() -> None:
    events: list[on.Event] = [
        on.TextDelta("I look."),
        *run_of(out.Text("stdout", "1\n")),
        on.ModelCalled("m", 2),
        on.TextDelta("One."),
        on.TurnFinished("done", "One."),
    ]
    assert shown(events) == (
        "One.\n",
        "I look.\n[python]\nprint(1)\n[expected] computes only\n[sandbox] none\n[output]\n1\n",
    )


def test_a_remark_after_a_run_does_not_read_as_its_output() -> None:
    events: list[on.Event] = [
        *run_of(out.Text("stdout", "1\n")),
        on.TextDelta("One more."),
        *run_of(),
    ]
    assert shown(events)[1] == (
        "[python]\nprint(1)\n[expected] computes only\n[sandbox] none\n[output]\n1\n\n"
        "One more.\n[python]\nprint(1)\n[expected] computes only\n"
    )


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("no connection (refused)", "no connection (refused). Try later."),
        ("It broke.", "It broke. Try later."),
        ("several\nlines", "several\nlines\nTry later."),
    ],
)
def test_a_remedy_begins_a_sentence(error: str, told: str) -> None:
    assert with_remedy(error, "Try later.") == told


def test_what_a_retried_reply_had_said_is_void() -> None:
    events: list[on.Event] = [
        on.TextDelta("half"),
        on.ModelRetrying(1, "429", 2.0),
        on.TextDelta("whole"),
        on.TurnFinished("done", "whole"),
    ]
    assert shown(events) == ("whole\n", "[retry 1 in 2 s: 429]\n")


def test_a_turn_without_an_answer_leaves_the_first_stream_empty() -> None:
    events: list[on.Event] = [
        on.TextDelta("half"),
        on.TurnFinished("unavailable", "half", "It broke.", "Try later."),
    ]
    assert shown(events) == ("", "half\nterp: It broke. Try later.\n")


def test_output_is_settled_as_a_terminal_would_leave_it() -> None:
    events = run_of(out.Text("stdout", "10%\r20%"), out.Text("stdout", "\r100%\n\x1b[31mred\x1b[0m"))
    assert (
        shown(events)[1]
        == "[python]\nprint(1)\n[expected] computes only\n[sandbox] none\n[output]\n100%\nred\n"
    )


@pytest.mark.parametrize(("detail", "shows"), [("normal", False), ("verbose", True)])
def test_frames_of_libraries_are_counted_unless_more_is_asked_for(detail: Detail, shows: bool) -> None:
    frame = "File /usr/lib/python3/x.py:9, in get\n----> 9 raise"
    notes = shown(run_of(out.Error("E", "x", (frame, "E: x"))), detail)[1]
    assert (frame in notes, "  [1 library frame]\nE: x\n" in notes) == (shows, not shows)


def test_a_chart_that_was_saved_as_a_page_is_named_as_one() -> None:
    chart = out.Display({"text/html": "<script></script>"}, path="/s/c1-1.html")
    assert "[page] /s/c1-1.html\n" in shown(run_of(chart))[1]


def test_a_display_of_markdown_is_written_as_its_text() -> None:
    text = out.Display({"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": "**b**"})
    assert "[output]\n**b**\n" in shown(run_of(text))[1]


def test_pictures_errors_and_files_are_named() -> None:
    events: list[on.Event] = [
        PROPOSED,
        on.Printed("c1", out.Display({"text/plain": "<Figure>"}, path="/s/c1-1.png")),
        on.Printed("c1", out.Error("E", "x", ("E: x",))),
        on.CodeFinished("c1", "timeout", 1.0, (out.FileChange("/w/a.csv", "created", 3),), "after 1 s"),
    ]
    assert shown(events)[1] == (
        "[python]\nprint(1)\n[expected] computes only\n[sandbox] none\n"
        "[output]\n[picture] /s/c1-1.png\nE: x\n[created] /w/a.csv\n[timeout] after 1 s\n"
    )


def test_control_characters_of_code_and_output_are_spelled_out() -> None:
    events: list[on.Event] = [
        on.CodeProposed("c1", "python", "x = '\u202e'", "digest", "/w", 0, "none", Effects()),
        on.Printed("c1", out.Text("stdout", "a\u202eb\n")),
    ]
    assert (
        shown(events)[1]
        == "[python]\nx = '<U+202E>'\n[expected] computes only\n[sandbox] none\n[output]\na<U+202E>b\n"
    )


def test_a_program_gets_the_answer_byte_for_byte() -> None:
    assert shown([on.TurnFinished("done", "a\u202e\x1b[31mb\n")]) == ("a\u202e\x1b[31mb\n", "")


def test_quiet_shows_the_answer_and_errors_alone() -> None:
    told: list[on.Event] = [on.Noticed("Careful."), *run_of(out.Text("stdout", "1\n"))]
    assert shown([*told, on.TurnFinished("done", "x")], "quiet") == ("x\n", "")
    assert shown([*told, on.TurnFinished("error", "", "Broken.")], "quiet") == ("", "terp: Broken.\n")


def test_verbose_adds_reasoning_usage_and_steps() -> None:
    events: list[on.Event] = [
        on.ModelCalled("m", 1),
        on.ReasoningDelta("Hm.\n"),
        on.UsageReported(10, 5, 0, None),
        on.TurnFinished("done", "x"),
    ]
    assert shown(events, "verbose")[1] == (
        "[asking m, reply 1]\nHm.\n[10 tokens read, 5 written, cost unknown]\n"
    )


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (on.Noticed("Old.", "Update."), "[note] Old. Update.\n"),
        (on.KernelChanged("python", "died", "killed"), "[python kernel died] killed\n"),
        (on.KernelChanged("python", "ready"), ""),
        (on.CodeDeclined("c1", "no"), "[not run] no\n"),
        (on.CodeRejected("c1", "bad call"), "[cannot run] bad call\n"),
        (
            on.HistoryCompacted(2000, 1000, "outputs cut"),
            "[Context window full: outputs cut, 2,000 → 1,000 tokens]\n",
        ),
        (on.LateOutput("c1", out.Text("stdout", "late\n")), "[late output]\nlate\n"),
        (on.Progress("installing", 1, 2, 0.5), ""),
        (on.TurnStarted("p"), ""),
    ],
)
def test_every_other_event_has_its_line(event: on.Event, line: str) -> None:
    assert shown([event]) == ("", line)


def test_a_run_tells_what_it_did_to_the_variables_and_where_it_stood() -> None:
    ended = on.CodeFinished(
        "c1",
        "interrupted",
        0.1,
        changes=(out.VariableChange("x", "new", "int"),),
        stopped_at=out.StoppedAt(3, source="wait()"),
    )
    _, *told = shown([PROPOSED, on.CodeStarted("c1", 1), ended])[1].split("[interrupted]\n")
    assert told == ["[stopped at] line 3: wait()\n[variables] +x int\n"]


@pytest.mark.parametrize(
    ("before", "told"),
    [("", ""), ("It took too long. ", "[died] It took too long.\n")],
    ids=["alone", "more"],
)
def test_a_death_is_told_once(before: str, told: str) -> None:
    why = "The kernel ended by signal SIGKILL."
    events: list[on.Event] = [
        PROPOSED,
        on.CodeStarted("c1", 1),
        on.KernelChanged("python", "died", why),
        on.CodeFinished("c1", "died", 0.5, note=f"{before}{why}"),
    ]
    died = f"[python]\nprint(1)\n[expected] computes only\n[sandbox] none\n[python kernel died] {why}\n"
    assert shown(events)[1] == died + told


def test_a_value_that_was_put_in_is_named_beside_the_answer() -> None:
    events: list[on.Event] = [
        on.TextDelta("There are "),
        on.TextDelta("42", "{{len_:d}}"),
        on.TurnFinished("done", "There are 42"),
    ]
    assert shown(events) == ("There are 42\n", "[computed] {{len_:d}} is 42\n")
