"""Messages as chat completions take them."""

import pytest

from terp.events.messages import Assistant, Image, Message, Result, System, ToolCall, User
from terp.models.adapters.chat_format import chat_messages

PNG = Image("image/png", "aGk=")
SHOWN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def test_a_conversation_keeps_its_order_and_its_answers() -> None:
    call = ToolCall("c1", "execute", '{"code": "1"}')
    conversation: list[Message] = [
        System("s"),
        User("u"),
        Assistant("", (call,)),
        Result("c1", "1"),
        Assistant("a"),
    ]
    assert chat_messages(conversation) == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "execute", "arguments": '{"code": "1"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "assistant", "content": "a"},
    ]


def test_no_content_is_empty() -> None:
    empty: list[Message] = [System(""), User(""), Assistant(""), Result("c", "")]
    assert all(message["content"] for message in chat_messages(empty))


def test_a_picture_is_a_data_uri_for_a_model_that_sees() -> None:
    assert chat_messages([User("look", (PNG,))], vision=True) == [
        {"role": "user", "content": [{"type": "text", "text": "look"}, SHOWN]}
    ]


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("look", "look\n[A picture is not sent: you read text only]"),
        (
            "look\n[Attachment: red.png] It is in the working directory: PNG image, 8×8 pixels, 70 bytes.",
            "look\n[Attachment: red.png] It is in the working directory: PNG image, 8×8 pixels, 70 bytes, "
            "not sent: you read text only.",
        ),
        ("rows\n[image: p.png, 8×8]\n4", "rows\n[image: p.png, 8×8, not sent: you read text only]\n4"),
    ],
)
def test_a_picture_has_one_line_for_a_model_that_does_not_see(text: str, sent: str) -> None:
    assert chat_messages([User(text, (PNG,))]) == [{"role": "user", "content": sent}]


def test_pictures_of_results_follow_the_last_of_them() -> None:
    results: list[Message] = [Result("a", "one", (PNG,)), Result("b", "two"), User("go on")]
    assert chat_messages(results, vision=True) == [
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": "two"},
        {"role": "user", "content": [{"type": "text", "text": "The picture from the output above:"}, SHOWN]},
        {"role": "user", "content": "go on"},
    ]


def test_fields_a_provider_wants_back_are_sent_unchanged() -> None:
    signed = ToolCall("x__thought__" + "s" * 2300, "f", "{}", extras={"provider_specific_fields": {"a": [1]}})
    extras = {"thinking_blocks": [{"type": "thinking", "thinking": "t", "signature": "s"}]}
    (sent,) = chat_messages([Assistant("a", (signed,), extras=extras)])
    assert sent["thinking_blocks"] == extras["thinking_blocks"]
    assert sent["tool_calls"] == [
        {
            "id": signed.id,
            "type": "function",
            "function": {"name": "f", "arguments": "{}"},
            "provider_specific_fields": {"a": [1]},
        }
    ]


def test_fields_a_provider_does_not_know_are_not_sent() -> None:
    reply = Assistant("a", extras={"reasoning": "r", "reasoning_content": "c"})
    assert chat_messages([reply], echoed=("reasoning",)) == [
        {"role": "assistant", "content": "a", "reasoning": "r"}
    ]
