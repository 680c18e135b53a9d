"""Messages of the protocol, as a model is told them."""

from collections.abc import Sequence
from typing import Any

from terp.events.messages import Assistant, Attachment, Image, Message, Result, ToolCall, User
from terp_cli.server.compat.model_input import asked_in, conversation_of

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CODE: dict[str, Any] = {"role": "assistant", "type": "code", "format": "python", "content": "6*7"}


def call_in(told: Sequence[Message]) -> ToolCall:
    """The one call of a conversation; its name is another one each time."""
    [call] = [call for one in told if isinstance(one, Assistant) for call in one.calls]
    assert (call.name, call.arguments) == ("execute", '{"language": "python", "code": "6*7"}')
    return call


def test_code_and_its_output_are_a_call_and_its_result() -> None:
    """C15"""
    messages = [
        {"role": "user", "type": "message", "content": "6*7?"},
        {"role": "assistant", "type": "message", "content": "Let me see."},
        CODE,
        {"role": "computer", "type": "console", "format": "output", "content": "42"},
        {"role": "computer", "type": "image", "format": "base64.png", "content": PNG},
        {"role": "assistant", "type": "message", "content": "It is 42."},
    ]
    told = conversation_of(messages)
    call = call_in(told)
    assert told == [
        User("6*7?"),
        Assistant("Let me see.", (call,)),
        Result(call.id, "42", (Image("image/png", PNG),)),
        Assistant("It is 42."),
    ]


def test_code_that_did_not_run_has_a_result_that_says_so() -> None:
    """C15"""
    told = conversation_of([{"role": "user", "content": "go"}, CODE])
    call = call_in(told)
    assert told[1:] == [Assistant("", (call,)), Result(call.id, "Not run.")]


def test_any_role_is_told() -> None:
    """C15"""
    messages = [{"role": "computer", "type": "console", "content": "boot"}, {"role": "owl", "content": "hu"}]
    assert conversation_of(messages) == [User("boot"), User("hu")]


def test_a_picture_goes_with_the_text_and_a_file_is_named() -> None:
    """C25"""
    parts = [
        {"role": "user", "type": "message", "content": "look"},
        {"role": "user", "type": "image", "format": "base64.png", "content": PNG},
        {"role": "user", "type": "file", "format": "path", "content": "/a/b.csv"},
        {"role": "user", "type": "image", "format": "base64.png", "content": "no base64!"},
    ]
    note = "[Attachment: picture 1] image/png, 70 bytes."
    assert asked_in(parts) == (
        "look\n\n[file: /a/b.csv]\n\n[image: base64.png, 10 characters]",
        (Attachment("picture 1", note, Image("image/png", PNG)),),
    )
