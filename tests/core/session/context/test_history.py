"""The messages of a conversation and its turns: what was shortened comes back as it was."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events.messages import Assistant, Attachment, Image, Result, ToolCall, User
from terp.session.context.history import History
from terp.store.forms import change_from_json, change_to_json

talks = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=6)


def said(history: History, prompts: Sequence[str]) -> None:
    for prompt in prompts:
        history.begin(prompt)
        history.append(Assistant(prompt.upper()))


def shortened(history: History, kept: int) -> None:
    """All but the last `kept` turns are one summary."""
    at = history.turns[-kept].at
    history.replace([User("a summary", said=("all",)), *history.messages[at:]], compacted=True)


@given(talks, talks, st.integers(1, 6))
def test_what_was_shortened_comes_back_with_what_was_said_since(
    before: Sequence[str], since: Sequence[str], kept: int
) -> None:
    history, whole = History(), History()
    said(history, before)
    shortened(history, min(kept, len(before)))
    said(history, since)
    said(whole, [*before, *since])
    assert history.undo_compaction()
    assert (history.messages, history.turns) == (whole.messages, whole.turns)
    assert not history.undo_compaction()


@given(talks, st.integers(1, 6), st.integers(0, 6), st.booleans())
def test_a_history_that_is_read_back_comes_back_alike(
    before: Sequence[str], kept: int, forgotten: int, again: bool
) -> None:
    history, read = History(), History()
    history.watchers.append(lambda change: read.apply(change_from_json(change_to_json(change))))
    said(history, before)
    shortened(history, min(kept, len(before)))
    if again:
        said(history, ["more"])
        shortened(history, 1)
    for turn in reversed(history.turns[:][-forgotten:] if forgotten else []):
        history.cut(turn.at)
    came_back = history.undo_compaction()
    assert (read.messages, read.turns, read.snapshot) == (history.messages, history.turns, None)
    if came_back and not again:
        assert [turn.prompt for turn in history.turns] == list(before)[: len(history.turns)]


def test_a_summary_begins_no_turn() -> None:
    history = History([User("a summary", said=("a", "b")), User("c"), Assistant("d")])
    assert [(turn.number, turn.at) for turn in history.turns] == [(1, 1)]


PNG = Image("image/png", "iVBORw0K")


def test_attached_pictures_are_to_be_looked_at_until_there_is_a_reply() -> None:
    history = History()
    history.begin("Which colour?", [Attachment("red.png", "", PNG), Attachment("a.csv", "")])
    assert history.to_look_at() == ["red.png"]
    history.append(Assistant("Red."))
    assert history.to_look_at() == []


@pytest.mark.parametrize(("code", "names"), [("view_image('red.png')", ["red.png"]), ("plt.show()", [])])
def test_pictures_of_a_run_are_to_be_looked_at_where_its_code_asks_for_that(
    code: str, names: Sequence[str]
) -> None:
    history = History()
    history.begin("Which colour?")
    history.append(Assistant("", (ToolCall("c1", "execute", code),)))
    history.append(Result("c1", "[image: red.png, 8×8]", (PNG,)))
    assert history.to_look_at() == names
