import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events.messages import Assistant, Image, Message, Result, ToolCall, User
from terp.store.saved_messages import MessagesUnreadable, from_json, to_json
from terp.testing import call

PICTURE = Image("image/png", "AAAA")
OURS: list[Message] = [
    User("look", (PICTURE,)),
    Assistant("Two things.", (call("1 + 1", id="a"), call("ls", "shell", id="b")), "Hm.", {"signed": "x"}),
    Result("a", "2"),
    Result("b", "iris.csv", (PICTURE,)),
    Assistant("", (ToolCall("c", "python", '{"code": "x"}', '{"code": "x', {"thought": 1}),)),
    Result("c", "The arguments are broken."),
    Assistant("Sorry."),
    User(""),
    Assistant(""),
]
THEIRS = [
    {"role": "user", "type": "message", "content": "How many?"},
    {"role": "assistant", "type": "message", "content": "Let me count."},
    {"role": "assistant", "type": "code", "format": "python", "content": "print(3)"},
    {"role": "computer", "type": "console", "format": "active_line", "content": 1},
    {"role": "computer", "type": "console", "format": "output", "content": "3\n"},
    {"role": "computer", "type": "image", "format": "base64.png", "content": "AAAA"},
    {"role": "assistant", "type": "code", "format": "shell", "content": "ls"},
    {"role": "assistant", "type": "message", "content": "Three."},
]


def asked(code: str, language: str, number: int) -> ToolCall:
    arguments = json.dumps({"language": language, "code": code})
    return ToolCall(f"loaded_{number}", "execute", arguments)


def test_a_conversation_comes_back_whole() -> None:
    assert from_json(to_json(OURS)) == OURS


def test_open_interpreter_finds_what_it_knows() -> None:
    known = [
        (entry["role"], entry["type"], entry.get("format"), entry["content"])
        for entry in json.loads(to_json(OURS[:4]))
    ]
    assert known == [
        ("user", "message", None, "look"),
        ("user", "image", "base64.png", "AAAA"),
        ("assistant", "message", None, "Two things."),
        ("assistant", "code", "python", "1 + 1"),
        ("assistant", "code", "shell", "ls"),
        ("computer", "console", "output", "2"),
        ("computer", "console", "output", "iris.csv"),
        ("computer", "image", "base64.png", "AAAA"),
    ]


def test_a_file_of_open_interpreter_becomes_calls_with_their_results() -> None:
    assert from_json(json.dumps(THEIRS)) == [
        User("How many?"),
        Assistant("Let me count.", (asked("print(3)", "python", 1),)),
        Result("loaded_1", "3\n", (PICTURE,)),
        Assistant("", (asked("ls", "shell", 2),)),
        Result("loaded_2", "(no output)"),
        Assistant("Three."),
    ]


def test_what_was_changed_by_hand_counts() -> None:
    entries = json.loads(to_json(OURS[1:4]))
    entries[1]["content"] = "2 + 2"
    changed = from_json(json.dumps(entries))[0]
    assert isinstance(changed, Assistant)
    assert [one.arguments for one in changed.calls] == [
        '{"language": "python", "code": "2 + 2"}',
        '{"language": "shell", "code": "ls"}',
    ]


def test_output_of_nothing_is_still_told() -> None:
    lonely = [{"role": "computer", "type": "console", "format": "output", "content": "x"}]
    assert from_json(json.dumps(lonely)) == [User("x")]


ENTRIES = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant", "computer", "system"]),
            "type": st.sampled_from(["message", "code", "console", "image"]),
            "format": st.sampled_from(["python", "output", "base64.png", "active_line", None]),
            "content": st.text(max_size=5),
        }
    ).filter(
        lambda one: (one["role"], one["type"]) not in {("assistant", "image"), ("assistant", "console")}
    ),
    max_size=12,
)


@given(ENTRIES)
def test_every_call_has_one_result_whatever_the_file_holds(entries: list[object]) -> None:
    messages = from_json(json.dumps(entries))
    calls = [one.id for message in messages if isinstance(message, Assistant) for one in message.calls]
    answered = [message.call_id for message in messages if isinstance(message, Result)]
    assert sorted(calls) == sorted(answered)


@given(ENTRIES)
def test_saving_what_was_loaded_changes_nothing(entries: list[object]) -> None:
    messages = from_json(json.dumps(entries))
    assert from_json(to_json(messages)) == messages


def test_a_file_that_is_nested_too_deeply_is_no_conversation() -> None:
    with pytest.raises(MessagesUnreadable, match="not JSON"):
        from_json("[" * 100_000)
