"""Lines of a log, there and back."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from terp.events.messages import Assistant, Attachment, Image, Result, ToolCall, User
from terp.session.context.history import Appended, Change, History, NoteAdded, Replaced, Truncated
from terp.store.forms import Header, change_from_json, change_to_json, header_from_json, header_to_json

texts = st.text(max_size=20)
images = st.builds(Image, st.sampled_from(["image/png", "image/jpeg"]), texts)
extras = st.dictionaries(st.sampled_from(["signature", "thinking_blocks"]), texts, max_size=2)
calls = st.builds(ToolCall, texts, texts, texts, texts, extras)
attachments = st.lists(st.builds(Attachment, texts, texts, st.none() | images), max_size=3)
replies = st.builds(Assistant, texts, st.lists(calls, max_size=2).map(tuple), texts, extras)
results = st.builds(Result, texts, texts, st.lists(images, max_size=2).map(tuple))
changes: st.SearchStrategy[Any] = st.one_of(
    st.builds(Appended, replies, st.none(), st.lists(texts, max_size=2).map(tuple)),
    st.builds(Appended, results),
    st.builds(Truncated, st.integers(0, 9)),
    st.builds(NoteAdded, texts),
)


def there_and_back(change: Change) -> Change:
    return change_from_json(json.loads(json.dumps(change_to_json(change))))


@given(change=changes)
def test_every_message_comes_back_from_its_line(change: Change) -> None:
    assert there_and_back(change) == change


@given(prompt=texts, files=attachments, note=texts)
def test_a_turn_comes_back_with_its_prompt_and_attachments(
    prompt: str, files: list[Attachment], note: str
) -> None:
    history, seen = History(), list[Change]()
    history.watchers.append(seen.append)
    history.begin(prompt, files, note)
    assert there_and_back(seen[0]) == seen[0]


@given(prompt=texts, files=attachments, reply=replies)
def test_a_replaced_conversation_comes_back_whole(
    prompt: str, files: list[Attachment], reply: Assistant
) -> None:
    history = History([User("before")])
    history.begin(prompt, files)
    history.append(reply)
    change = Replaced(tuple(history.messages), tuple(history.turns))
    assert there_and_back(change) == change


def test_a_header_comes_back_also_with_what_a_newer_terp_adds() -> None:
    header = Header("2025-01-01-abcd", "/work", 1.5, "0.1.0", "openai/x", "a title")
    assert header_from_json({**header_to_json(header), "mood": "good"}) == header
