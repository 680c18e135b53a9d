"""What streamed chunks add up to."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from terp.events.messages import Assistant, ToolCall
from terp.events.model import CallDelta, Chunk, ReasoningChunk, Replied, TextChunk, Usage
from terp.models.adapters.accumulator import Accumulator
from terp.models.adapters.chat_stream import ChatStream
from terp.models.adapters.failures import Target
from tests.core.models.recorded import ROOT
from tests.loopback import Call, sse

TARGET = Target("openai/m", "openai")


def fed(*deltas: dict[str, Any], usage: dict[str, Any] | None = None) -> list[Chunk]:
    reply = Accumulator()
    chunks = [c for delta in deltas for c in reply.feed({"choices": [{"delta": delta}]})]
    if usage is not None:
        chunks += reply.feed({"choices": [], "usage": usage})
    return [*chunks, *reply.finish()]


def call(
    index: int | None = 0, call_id: str | None = None, name: str | None = None, arguments: Any = ""
) -> dict[str, Any]:
    return {
        "tool_calls": [{"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}]
    }


def calls(*deltas: dict[str, Any]) -> list[tuple[str, str]]:
    replied = fed(*deltas)[-1]
    assert isinstance(replied, Replied)
    return [(one.name, one.raw or one.arguments) for one in replied.message.calls]


def message(*deltas: dict[str, Any]) -> Any:
    replied = fed(*deltas)[-1]
    assert isinstance(replied, Replied)
    return replied.message


def test_fragments_of_one_call_are_joined() -> None:
    deltas = call(0, "c", "run", ""), call(0, None, None, '{"a"'), call(0, "", "", ": 1}")
    assert fed(*deltas)[:-1] == [CallDelta(0, "run", ""), CallDelta(0, "", '{"a"'), CallDelta(0, "", ": 1}")]
    assert message(*deltas).calls == (ToolCall("c", "run", '{"a": 1}'),)


def test_a_call_with_a_new_index_is_another_call() -> None:
    assert calls(call(0, "a", "f", "{}"), call(1, "b", "g", "{}")) == [("f", "{}"), ("g", "{}")]


def test_a_new_id_with_a_name_at_the_same_index_is_another_call() -> None:
    assert calls(call(0, "a", "f", "{}"), call(0, "b", "g", "{}")) == [("f", "{}"), ("g", "{}")]


def test_a_new_id_without_a_name_continues_the_call() -> None:
    deltas = call(0, "a", "f", "{"), call(0, "b", None, "}")
    assert calls(*deltas) == [("f", "{}")]
    assert message(*deltas).calls[0].id == "a"


def test_id_and_name_repeated_with_every_fragment_are_one_call() -> None:
    assert calls(call(0, "a", "f", "{"), call(0, "a", "f", "}")) == [("f", "{}")]


def test_a_name_without_an_id_after_complete_arguments_is_another_call() -> None:
    assert calls(call(0, None, "f", '{"a": 1}'), call(0, None, "f", '{"a": 2}')) == [
        ("f", '{"a": 1}'),
        ("f", '{"a": 2}'),
    ]


def test_a_missing_index_is_the_first() -> None:
    assert calls(call(None, "a", "f", "{"), call(None, None, None, "}")) == [("f", "{}")]


def test_arguments_as_an_object_become_text() -> None:
    assert calls(call(0, "a", "f", {"a": 1})) == [("f", '{"a": 1}')]


def test_a_call_without_an_id_gets_one() -> None:
    assert message(call(0, None, "f", "{}")).calls[0].id.startswith("call_")


def test_arguments_that_are_no_json_object_are_kept_beside_an_empty_object() -> None:
    for raw in ('{"a": ', "print(1)", '"text"', '{"a": 1}{"a": 2}'):
        assert message(call(0, "a", "f", raw)).calls == (ToolCall("a", "f", "{}", raw),)


def test_empty_arguments_are_an_empty_object() -> None:
    assert message(call(0, "a", "f", "")).calls == (ToolCall("a", "f", "{}"),)


def test_a_name_that_comes_late_is_announced_with_what_came_before() -> None:
    deltas = call(0, "a", None, '{"a"'), call(0, None, "f", ": 1}")
    assert fed(*deltas)[0] == CallDelta(0, "f", '{"a": 1}')


def test_calls_that_the_provider_runs_are_left_out() -> None:
    deltas = call(0, "srvtoolu_1", "web_search", "{}"), call(1, "toolu_2", "f", "{}")
    assert fed(*deltas)[:-1] == [CallDelta(0, "f", "{}")]


def test_fields_of_a_call_that_a_provider_wants_back_are_kept() -> None:
    signed = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    signed["extra_content"] = {"google": {"thought_signature": "x" * 2300}}
    assert message({"tool_calls": [signed]}).calls[0].extras == {"extra_content": signed["extra_content"]}


def test_reasoning_under_two_names_is_told_once() -> None:
    told = fed({"reasoning": "hm", "reasoning_content": "hm"})
    assert told[0] == ReasoningChunk("hm")
    assert message({"reasoning": "hm", "reasoning_content": "hm"}).reasoning == "hm"


def test_content_in_parts_is_text_and_reasoning() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
    ]
    assert fed({"content": parts})[:2] == [ReasoningChunk("hm"), TextChunk("yes")]


def thinking(*pieces: tuple[str, str]) -> list[dict[str, str]]:
    blocks = [
        {"type": "thinking", "thinking": text, **({"signature": sign} if sign else {})}
        for text, sign in pieces
    ]
    return list(message(*({"thinking_blocks": [block]} for block in blocks)).extras["thinking_blocks"])


def test_a_signature_closes_its_block() -> None:
    assert thinking(("a", ""), ("b", ""), ("", "s1"), ("c", ""), ("", "s2")) == [
        {"type": "thinking", "thinking": "ab", "signature": "s1"},
        {"type": "thinking", "thinking": "c", "signature": "s2"},
    ]


def test_thinking_repeated_with_its_signature_is_not_doubled() -> None:
    assert thinking(("a", ""), ("b", ""), ("ab", "s")) == [
        {"type": "thinking", "thinking": "ab", "signature": "s"}
    ]


def test_reasoning_details_are_joined_to_blocks() -> None:
    def detail(text: str, **more: Any) -> dict[str, Any]:
        return {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text, **more}]}

    sealed = {"type": "reasoning.encrypted", "data": "x"}
    extras = message(detail("a"), detail("b", signature="s"), {"reasoning_details": [sealed]}).extras
    assert extras["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
        sealed,
    ]


def test_usage_is_found_in_any_chunk() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    assert fed({"content": "a"}, usage=usage)[1] == Usage(7, 3, 4, None)


def test_a_cost_told_by_the_provider_wins() -> None:
    assert fed(usage={"prompt_tokens": 7, "completion_tokens": 3, "cost": 0.5})[0] == Usage(7, 3, 0, 0.5)


def test_an_emoji_split_between_chunks_is_whole_in_the_reply() -> None:
    assert fed({"content": "a\ud83d"}, {"content": "\ude00b"})[:-1] == [TextChunk("a"), TextChunk("😀b")]


def test_half_an_emoji_is_shown_as_one_that_cannot_be_read() -> None:
    assert fed({"content": "a\ud83d"})[:-1] == [TextChunk("a"), TextChunk("\ufffd")]


def test_chunks_of_unknown_shape_add_nothing() -> None:
    reply = Accumulator()
    odd: list[dict[str, Any]] = [{}, {"choices": None}, {"choices": [{}]}, {"choices": [{"delta": None}]}]
    assert [list(reply.feed(chunk)) for chunk in odd] == [[], [], [], []]


def read(body: bytes, cuts: Sequence[int]) -> list[Chunk]:
    stream, reply = ChatStream(TARGET), Accumulator()
    edges = [0, *sorted(cuts), len(body)]
    chunks: list[Chunk] = []
    for start, end in pairwise(edges):
        for event in stream.feed(body[start:end]):
            chunks += reply.feed(event)
    for event in [] if stream.done else stream.finish():
        chunks += reply.feed(event)
    return [*chunks, *reply.finish()]


BODY = b"".join(sse(["Hällo\u2028 wörld 😀", Call(code="print('ü')")], 3))
CRLF = (ROOT / "perplexity/sonar__text__4c458e.sse").read_bytes().replace(b"\n", b"\r\n")


@given(st.lists(st.integers(0, len(BODY)), max_size=40))
def test_any_cutting_of_a_stream_gives_the_same(cuts: list[int]) -> None:
    assert read(BODY, cuts) == read(BODY, [])


@given(st.lists(st.integers(0, len(CRLF)), max_size=40))
def test_any_cutting_between_carriage_return_and_newline_gives_the_same(cuts: list[int]) -> None:
    assert read(CRLF, cuts) == read(CRLF, [])


@given(st.text(), st.integers(1, 9))
def test_text_survives_whatever_it_holds(text: str, size: int) -> None:
    body = b"".join(
        b"data: " + json.dumps({"choices": [{"delta": {"content": text[i : i + size]}}]}).encode() + b"\n\n"
        for i in range(0, len(text), size)
    )
    replied = read(body + b"data: [DONE]\n\n", [])[-1]
    assert isinstance(replied, Replied)
    assert replied.message.text == text


def test_of_several_replies_the_first_is_read() -> None:
    reply = Accumulator()
    for word in ("Sure", ", here"):
        for index in (0, 1):
            reply.feed({"choices": [{"index": index, "delta": {"content": word}}]})
    reply.feed(
        {"choices": [{"index": 0, "delta": {"content": "."}}, {"index": 1, "delta": {"content": "!"}}]}
    )
    assert reply.finish()[-1] == Replied(Assistant("Sure, here."), "")


def test_usage_that_groq_sends_in_a_field_of_its_own_is_read() -> None:
    reply = Accumulator()
    reply.feed({"choices": [], "x_groq": {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}})
    assert reply.finish()[0] == Usage(7, 2, 0, None)


@given(st.lists(st.integers(0, 60), max_size=8))
def test_reasoning_in_tags_at_the_beginning_is_no_answer_however_it_is_cut(cuts: list[int]) -> None:
    whole = "\n<think>secret plan < 3</think>\n\nThe answer is <think>4."
    pieces = [whole[a:b] for a, b in pairwise([0, *sorted(cuts), len(whole)])]
    chunks = fed(*({"content": piece} for piece in pieces))
    assert "".join(one.text for one in chunks if isinstance(one, ReasoningChunk)) == "secret plan < 3"
    assert chunks[-1] == Replied(Assistant("The answer is <think>4.", (), "secret plan < 3"), "")
