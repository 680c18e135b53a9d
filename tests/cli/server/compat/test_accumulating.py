"""How frames become messages."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from terp_cli.server.compat.accumulating import Message, Misplaced, accumulate, forget_oldest


def messages_of(*chunks: Any) -> list[Message]:
    messages: list[Message] = []
    for chunk in chunks:
        accumulate(messages, chunk)
    return messages


def test_a_start_without_a_type_takes_that_of_the_first_content() -> None:
    """C2"""
    frames = [
        {"role": "user", "start": True},
        {"role": "user", "type": "message", "content": "a"},
        {"role": "user", "type": "message", "content": "b"},
    ]
    assert messages_of(*frames) == [{"role": "user", "type": "message", "content": "ab"}]


def test_another_type_or_format_is_another_message() -> None:
    """C25"""
    frames = [
        {"role": "user", "start": True},
        {"type": "message", "content": "see"},
        {"type": "file", "format": "path", "content": "/a"},
        {"type": "image", "format": "base64.png", "content": "iVBO"},
        {"type": "image", "format": "path", "content": "/b.png"},
    ]
    assert messages_of(*frames) == [
        {"role": "user", "type": "message", "content": "see"},
        {"role": "user", "type": "file", "format": "path", "content": "/a"},
        {"role": "user", "type": "image", "format": "base64.png", "content": "iVBO"},
        {"role": "user", "type": "image", "format": "path", "content": "/b.png"},
    ]


def test_the_same_type_and_format_goes_on_whatever_role_is_named() -> None:
    """C25"""
    frames = [
        {"role": "user", "type": "file", "format": "path", "start": True},
        {"role": "user", "type": "file", "format": "path", "content": "/a"},
        {"role": "assistant", "type": "file", "format": "path", "content": "/b"},
    ]
    assert messages_of(*frames) == [{"role": "user", "type": "file", "format": "path", "content": "/a/b"}]


def test_bytes_go_on_with_the_message_before() -> None:
    """C25"""
    start = {"role": "user", "type": "audio", "format": "bytes.raw", "start": True}
    assert messages_of(start, b"\x00\x01", b"\x02") == [
        {"role": "user", "type": "audio", "format": "bytes.raw", "content": b"\x00\x01\x02"}
    ]


def test_lines_that_run_are_no_part_of_a_message() -> None:
    """C6"""
    head = {"role": "computer", "type": "console"}
    frames = [
        {**head, "start": True},
        {**head, "format": "active_line", "content": 1},
        {**head, "format": "output", "content": "42\n"},
        {**head, "format": "active_line", "content": None},
        {**head, "end": True},
    ]
    assert messages_of(*frames) == [{**head, "format": "output", "content": "42\n"}]


def test_text_is_json() -> None:
    """C14"""
    assert messages_of('{"role": "user", "start": true}') == [{"role": "user", "content": ""}]


@pytest.mark.parametrize("chunk", [{"content": "x"}, b"x", "[]", "no", 5, None])
def test_what_fits_nowhere_is_refused(chunk: Any) -> None:
    """C14"""
    with pytest.raises(Misplaced):
        messages_of(chunk)


@given(some.lists(some.text(min_size=1), min_size=1))
def test_text_may_be_split_anywhere(parts: list[str]) -> None:
    head = {"role": "user", "type": "message"}
    frames = [{**head, "start": True}, *({**head, "content": part} for part in parts), {**head, "end": True}]
    assert messages_of(*frames) == [{**head, "content": "".join(parts)}]


def test_the_oldest_messages_are_forgotten_and_the_newest_kept() -> None:
    messages: list[Message] = [
        {"content": "x" * 40},
        {"content": b"y" * 40},
        {"content": 12},
        {"role": "user"},
    ]
    forget_oldest(messages, 100)
    assert len(messages) == 4
    forget_oldest(messages, 41)
    assert messages == [{"content": 12}, {"role": "user"}]
    forget_oldest(messages, 0)
    assert messages == [{"role": "user"}]
