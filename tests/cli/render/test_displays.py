"""Pictures among the rows of a turn."""

from collections.abc import Mapping, Sequence
from typing import Any

from terp.events import CodeFinished, CodeStarted, Event, Printed, TextDelta, TurnFinished
from terp.events.outputs import Clear, Display, DisplayUpdate, FileChange, Text
from terp_cli.render import look, words
from terp_cli.render.transcript import DrawnTranscript
from terp_cli.terminal.rows import Graphic

PICTURE = Graphic(3, 10, "<picture>")
PNG = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480 with 1 Axes>"}
PATH = "/out/c1-1.png"


def draw(bundle: Mapping[str, Any]) -> list[Graphic]:
    return [PICTURE] if "image/png" in bundle else []


def transcript(*, draws: bool = True) -> DrawnTranscript:
    return DrawnTranscript(lambda: 80, lambda: 12, lambda: 0.0, draw=draw if draws else None)


def rows(events: Sequence[Event], *, draws: bool = True) -> list[str]:
    """What is drawn of a turn, with the picture as a word and without blank rows at its ends."""
    drawing = transcript(draws=draws)
    drawn = [row for event in events for row in drawing.show(event)] + drawing.rest()
    return (
        "\n".join(row.escape if isinstance(row, Graphic) else str(row) for row in drawn)
        .strip("\n")
        .split("\n")
    )


def run(*outputs: Display | DisplayUpdate | Text | Clear, files: Sequence[FileChange] = ()) -> list[Event]:
    return [
        CodeStarted("c1", 1),
        *(Printed("c1", output) for output in outputs),
        CodeFinished("c1", "ok", 0.5, tuple(files)),
    ]


def test_a_picture_is_drawn_and_its_file_named_below() -> None:
    assert rows(run(Display(PNG, path=PATH))) == ["<picture>", f"png {PATH}", "✓ ran · 500 ms"]


def test_without_a_drawer_its_file_is_named() -> None:
    assert rows(run(Display(PNG, path=PATH)), draws=False) == [f"png {PATH}", "✓ ran · 500 ms"]


def test_a_picture_without_a_file_is_drawn_and_described() -> None:
    assert rows(run(Display(PNG))) == ["<picture>", PNG["text/plain"], "✓ ran · 500 ms"]


def test_a_picture_comes_after_the_text_before_it() -> None:
    shown = rows(run(Text("stdout", "before"), Display(PNG, path=PATH), Text("stdout", "after\n")))
    assert shown == ["before", "<picture>", f"png {PATH}", "after", "✓ ran · 500 ms"]


def test_a_picture_that_is_updated_is_drawn_once_at_the_end() -> None:
    updates = [DisplayUpdate("d", PNG, path=f"/out/{at}.png") for at in range(3)]
    assert rows(run(*updates)) == ["<picture>", "png /out/2.png", "✓ ran · 500 ms"]


def test_the_tail_never_holds_a_picture() -> None:
    drawing = transcript()
    drawing.show(CodeStarted("c1", 1))
    drawing.show(Printed("c1", DisplayUpdate("d", PNG, path=PATH)))
    assert [str(row) for row in drawing.tail(12)][:1] == [f"png {PATH}"]


def test_a_picture_that_the_answer_links_is_named_once() -> None:
    events = [
        *run(Display(PNG, path=PATH)),
        TextDelta(f"Here it is:\n\n![plot]({PATH})"),
        TurnFinished("done", ""),
    ]
    assert rows(events) == ["<picture>", f"png {PATH}", "✓ ran · 500 ms", "", "Here it is:"]


def test_a_picture_of_an_earlier_turn_is_named_again() -> None:
    events = [*run(Display(PNG, path=PATH)), TurnFinished("done", ""), TextDelta(f"![plot]({PATH})")]
    assert rows(events)[-1] == f"[image: plot] ({PATH})"


def test_a_picture_that_is_drawn_and_saved_is_named_once() -> None:
    made = FileChange("/tmp/plot.png", "created", 9_000)
    shown = Display(PNG, {"terp": {"saved": "/tmp/plot.png"}}, path=PATH)
    assert rows(run(shown, files=[made])) == ["<picture>", "png /tmp/plot.png", "✓ ran · 500 ms"]


def test_code_cannot_hide_what_it_did_to_a_file() -> None:
    files = [
        FileChange("/home/me/.bashrc", "modified", 9_000),
        FileChange("/tmp/plot.png", "modified", 9_000),
    ]
    shown = [Display(PNG, {"terp": {"saved": one.path}}, path=PATH) for one in files]
    told = rows(run(*shown, files=files))
    assert told == [
        "<picture>", f"png {PATH}", "<picture>", "png /tmp/plot.png", "✓ ran · 500 ms",
        "  modified /home/me/.bashrc (9.0 kB)", "  modified /tmp/plot.png (9.0 kB)",
    ]  # fmt: skip


def test_what_is_lost_is_marked_and_what_was_moved_says_from_where() -> None:
    files = (
        FileChange("/w/done/a.txt", "moved", 1, source="/w/a.txt"),
        FileChange("/w/b.txt", "deleted"),
    )
    rows = words.left_behind(CodeFinished("c1", "ok", 1.0, files), cut=False)
    assert [row.plain for row in rows] == ["  deleted /w/b.txt", "  moved /w/a.txt → /w/done/a.txt"]
    assert rows[0].spans[0].style == look.WARNING


def test_a_display_of_which_nothing_can_be_shown_is_named() -> None:
    chart = Display({"application/vnd.plotly.v1+json": {"data": []}})
    named = "application/vnd.plotly.v1+json: not shown in a terminal."
    assert rows(run(chart)) == [named, "✓ ran · 500 ms"]
