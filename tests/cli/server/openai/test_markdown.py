"""A turn as Markdown."""

from collections.abc import Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from terp.events import (
    CheckFinished,
    CheckStarted,
    CodeDeclined,
    CodeFinished,
    CodeProposed,
    Event,
    ModelRetrying,
    Noticed,
    Printed,
    TextDelta,
)
from terp.events.outputs import Clear, Display, InputRequest, Omitted, Output, Text
from terp_cli.server.openai.markdown import Markdown

ENDED = CodeFinished("c1", "ok", 0.1)


def markdown(events: Iterable[Event]) -> str:
    taking = Markdown(lambda name: f"http://files/{name}", "/work")
    return "".join(taking.take(event) for event in events)


def proposed(code: str) -> CodeProposed:
    return CodeProposed("c1", "python", code, "digest", "/work", 1, "none", None)  # type: ignore[arg-type]


def printed(*outputs: Output) -> list[Event]:
    return [*(Printed("c1", output) for output in outputs), ENDED]


def fences(text: str) -> list[tuple[str, str]]:
    """What every fence of a page is labelled, and what it holds."""
    return [(token.info, token.content) for token in MarkdownIt().parse(text) if token.type == "fence"]


def test_words_code_and_words_stand_apart() -> None:
    events = [
        TextDelta("I "),
        TextDelta("add."),
        proposed("1"),
        *printed(Text("stdout", "1")),
        TextDelta("One."),
    ]
    assert markdown(events) == "I add.\n\n```python\n1\n```\n\n```output\n1\n```\n\nOne."


def test_code_that_puts_out_nothing_has_no_fence_for_it() -> None:
    assert markdown([proposed("x = 1"), ENDED, TextDelta("Done.")]) == "```python\nx = 1\n```\n\nDone."


def test_what_a_person_must_know_is_quoted() -> None:
    events: list[Event] = [
        CodeDeclined("c1", "no\nnever"),
        Noticed("The disk is full.", "Make room."),
        CodeFinished("c2", "timeout", 1.0),
    ]
    assert markdown(events) == (
        "> Not run: no\n> never\n\n> The disk is full. Make room.\n\n> The run ended: timeout."
    )


def test_a_check_is_told_with_what_it_put_out() -> None:
    events: list[Event] = [
        CheckStarted("make test", 1),
        CheckFinished(1, False, 1, "It ended with 1.", "1 failed"),
    ]
    assert markdown(events) == (
        "> Checking: make test\n\n```output\n1 failed\n```\n\n> The check has not passed. It ended with 1."
    )


def test_output_of_every_kind_is_told() -> None:
    outputs = (
        Text("stdout", "a\n"),
        Omitted(1_000, 20, spooled=True),
        Display({"text/plain": "[1, 2]"}),
        InputRequest("name? "),
        Clear(),
        Display({"text/html": "<p>"}, path="/out/3-1.html"),
    )
    assert markdown(printed(*outputs)) == (
        "```output\na\n[20 lines, 1,000 characters left out]\n[1, 2]\nname? \n```\n\n"
        "[3-1.html](http://files/3-1.html)"
    )


def test_a_reply_that_is_sent_again_begins_apart() -> None:
    assert markdown([TextDelta("On"), ModelRetrying(1, "cut", 0.0), TextDelta("One.")]) == "On\n\nOne."


LINES = st.lists(st.text("ab`~ \n\r", max_size=12) | st.sampled_from(["```\n", "````", "\n```", "~~~\n"]))


@given(LINES)
def test_output_stays_in_its_fence(pieces: Sequence[str]) -> None:
    text = markdown([*printed(*(Text("stdout", piece) for piece in pieces)), TextDelta("after")])
    assert {label for label, _ in fences(text)} <= {"output"}
    assert MarkdownIt().parse(text)[-2].content == "after"


@given(st.text("ab`\n\r", max_size=40), st.data())
def test_how_output_is_cut_changes_nothing(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    pieces = [Text("stdout", piece) for piece in (text[:at], text[at:]) if piece]
    cut, whole = markdown(printed(*pieces)), markdown(printed(Text("stdout", text)) if text else [ENDED])
    assert ["".join(held for _, held in fences(page)) for page in (cut, whole)] == [
        "".join(held for _, held in fences(whole))
    ] * 2


@given(st.text("ab`~ \n", min_size=1, max_size=40))
def test_code_stays_in_its_fence(code: str) -> None:
    page = markdown([proposed(code), TextDelta("after")])
    assert [label for label, _ in fences(page)] == ["python"]
    assert MarkdownIt().parse(page)[-2].content == "after"
