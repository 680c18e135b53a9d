"""Calls that a model prints as text are calls; nothing else is, and nothing else is held back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.errors import Unavailable
from terp.events.messages import Assistant, ToolCall, User
from terp.events.model import CallDelta, Chunk, ReasoningChunk, Replied, Retrying, TextChunk
from terp.models.repair.control_tokens import TokensAroundFilter, without_tokens_around
from terp.models.repair.fences import TextFallback
from terp.models.repair.leaked_calls import PrintedCalls
from terp.models.tool import Misunderstood, schema, understand
from tests.core.models.fakes import FakeModel, collect, merged, patient, said

LANGUAGES = ("python", "shell")
TOOLS = [schema(LANGUAGES)]
CUTS = [[1], [3], [7], [12], [40], [0]]
ARGUMENTS = '{"code": "print(\'{}\')"}'


async def heard(text: str, sizes: list[int], functions: tuple[str, ...] = ()) -> list[Chunk]:
    model = TextFallback(FakeModel(said(text, sizes)), LANGUAGES, functions=functions)
    return await collect(model, [User("go")], TOOLS)


def one_call(arguments: str = ARGUMENTS, name: str = "execute") -> list[Chunk]:
    message = Assistant("", (ToolCall("call00001", name, arguments),))
    return [CallDelta(0, name, arguments), Replied(message, "stop")]


PRINTED = [
    f'{{"name": "execute", "arguments": {ARGUMENTS}}}',
    f'{{"name": "execute", "parameters": {ARGUMENTS}}}',
    f'\n {{ "type": "function", "name": "execute", "parameters": {ARGUMENTS} }}\n',
    f'{{"arguments": {ARGUMENTS}, "name": "execute"}}',
    f'{{"type": "function", "function": {{"name": "execute", "arguments": {ARGUMENTS}}}}}',
    json.dumps({"name": "execute", "arguments": ARGUMENTS}),
    f'<tool_call>\n{{"name": "execute", "arguments": {ARGUMENTS}}}\n</tool_call>',
    f'<tool_call>{{"name": "execute", "arguments": {ARGUMENTS}}}',
    f'```json\n{{"name": "execute", "arguments": {ARGUMENTS}}}\n```\n',
    f'```\n{{"name": "execute", "arguments": {ARGUMENTS}}}\n```',
    f'<|python_tag|>{{"name": "execute", "parameters": {ARGUMENTS}}}',
    "execute\n```python\ntool_call(code=\"print('{}')\")\n```",
    "execute\n ```python\n tool_call(\n  code=\"print('{}')\",\n)\n```\n",
]


@pytest.mark.parametrize("sizes", CUTS)
@pytest.mark.parametrize("text", PRINTED)
async def test_a_printed_call_is_a_call_and_never_text(text: str, sizes: list[int]) -> None:
    assert await heard(text, sizes) == one_call()


async def test_several_tagged_calls_come_in_order() -> None:
    tagged = f'<tool_call>{{"name": "python", "arguments": {ARGUMENTS}}}</tool_call>'
    calls = (ToolCall("call00001", "python", ARGUMENTS), ToolCall("call00002", "python", ARGUMENTS))
    assert await heard(f"{tagged}\n{tagged}", [5]) == [
        CallDelta(0, "python", ARGUMENTS),
        CallDelta(1, "python", ARGUMENTS),
        Replied(Assistant("", calls), "stop"),
    ]


async def test_a_function_of_the_kernel_can_be_called_so_too() -> None:
    text = "get_Weather\n```python\ntool_call(city_name='beijing')\n```"
    expected = one_call('{"city_name": "beijing"}', "get_Weather")
    assert await heard(text, [4], ("get_Weather",)) == expected


TEXTS = [
    "",
    "Hello.",
    "Run this: ls",
    "python",
    "execute\n```python\ntool_call(__import__('os').system('touch x'))\n```",
    "execute\n```python\ntool_call(code=open('x').read())\n```",
    "execute\n```python\nprint(1)\n```",
    "nope\n```python\ntool_call(code='1')\n```",
    "{x | x > 0} is a set",
    '{"name": "nope", "arguments": {}}',
    '{"name": "Ann", "age": 3}',
    '{"a": 1}',
    "{}",
    "{",
    '{"na',
    f"{PRINTED[0]} is how I would call it.",
    f"{PRINTED[6]} is how I would call it.",
    f"{PRINTED[8]} is how I would call it.",
    f"Like so: {PRINTED[0]}",
    "```json\n[1, 2]\n```",
    "```python\nprint(1)\n```",
    "<tool> is no tag",
    "<tool_call>no json</tool_call>",
    "<|im",
]


@pytest.mark.parametrize("sizes", CUTS)
@pytest.mark.parametrize("text", TEXTS)
async def test_other_text_stays_text(text: str, sizes: list[int]) -> None:
    expected = ([TextChunk(text)] if text else []) + [Replied(Assistant(text), "stop")]
    assert merged(await heard(text, sizes)) == expected


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("Hello there", "H"),
        ("{x}", "{x"),
        ('{"a": 1}', '{"a": 1'),
        ("```python\nx", "```p"),
        ("runs", "runs"),
    ],
)
async def test_text_is_released_as_soon_as_it_cannot_be_a_call(text: str, begins: str) -> None:
    first, *_ = await heard(text, [1])
    assert first == TextChunk(begins)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "execute", "arguments": {"code": "print(1',
        '<tool_call>{"name": "execute", "arguments": {"co',
    ],
)
async def test_a_call_that_was_cut_off_is_told_so_and_never_shown(text: str) -> None:
    chunks = await heard(text, [3])
    assert isinstance(chunks[-1], Replied)
    (call,) = chunks[-1].message.calls
    read = understand(call, LANGUAGES)
    assert isinstance(read, Misunderstood)
    assert "cut off" in read.reason
    assert not any(isinstance(chunk, TextChunk) for chunk in chunks)


async def test_a_call_with_broken_json_is_told_so_and_never_shown() -> None:
    chunks = await heard('{"name": "execute", "arguments": {"code": "re.sub(\'\\d\', x)"}}', [3])
    assert isinstance(chunks[-1], Replied)
    assert chunks[-1].message.calls[0].arguments == "{}"
    assert not any(isinstance(chunk, TextChunk) for chunk in chunks)


async def test_a_request_without_tools_is_passed_through() -> None:
    model = TextFallback(FakeModel(said(PRINTED[0], [0])), LANGUAGES)
    assert await collect(model, [User("title?")]) == [
        TextChunk(PRINTED[0]),
        Replied(Assistant(PRINTED[0]), "stop"),
    ]


async def test_a_real_call_releases_the_text_before_it() -> None:
    real: list[Chunk] = [
        TextChunk("{"),
        CallDelta(0, "execute", "{}"),
        TextChunk("}"),
        Replied(Assistant("{}")),
    ]
    assert await collect(TextFallback(FakeModel(real), LANGUAGES), [], TOOLS) == real


async def test_a_retry_voids_what_was_held() -> None:
    retry = Retrying(1, "busy", 0.0)
    model = TextFallback(FakeModel([TextChunk('{"name'), retry, *said("Hi")]), LANGUAGES)
    assert await collect(model, [], TOOLS) == [retry, *said("Hi")]


async def test_reasoning_passes_while_text_is_held() -> None:
    model = TextFallback(
        FakeModel([TextChunk(PRINTED[0]), ReasoningChunk("hm"), Replied(Assistant(PRINTED[0]), "stop")]),
        LANGUAGES,
    )
    assert await collect(model, [], TOOLS) == [ReasoningChunk("hm"), *one_call()]


async def test_an_id_in_use_is_not_given_again() -> None:
    before = Assistant("", (ToolCall("call00002", "execute", "{}"),))
    model = TextFallback(FakeModel(said(PRINTED[0])), LANGUAGES)
    *_, replied = await collect(model, [before], TOOLS)
    assert isinstance(replied, Replied)
    assert replied.message.calls[0].id == "call00003"


async def test_name_errors_and_closing_are_those_of_the_model_behind() -> None:
    inner = FakeModel([Unavailable("gone")])
    model = TextFallback(inner, LANGUAGES)
    with pytest.raises(Unavailable):
        await collect(model, [], TOOLS)
    await model.aclose()
    assert (model.name, inner.closed) == ("fake/model", True)


@patient
@given(
    code=st.text(max_size=80) | st.text('`{}"\\\n<>/tool_call', max_size=40),
    form=st.sampled_from(["{}", "<tool_call>{}</tool_call>", "```json\n{}\n```"]),
    ascii_only=st.booleans(),
)
def test_no_beginning_of_a_printed_call_is_taken_for_text(code: str, form: str, ascii_only: bool) -> None:
    reader = PrintedCalls(LANGUAGES, ())
    printed = json.dumps({"name": "execute", "arguments": {"code": code}}, ensure_ascii=ascii_only)
    text = form.replace("{}", printed)
    assert all(reader.may_become_calls(text[:end]) for end in range(len(text) + 1))
    assert [json.loads(call.written) for call in reader.calls(text)] == [{"code": code}]


@pytest.mark.parametrize("sizes", CUTS)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fine.<|observation|>", "Fine."),
        ("\n<|assistant|>\nFine. <|im_end|>\n", "Fine. "),
        ("A turn ends with <|im_end|>, I think.", "A turn ends with <|im_end|>, I think."),
        ("a < b <|as", "a < b <|as"),
        ("<|assistant|>", ""),
    ],
)
async def test_tokens_of_a_template_around_a_text_are_left_out(
    text: str, expected: str, sizes: list[int]
) -> None:
    *pieces, replied = await heard(text, sizes)
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextChunk)) == expected
    assert replied == Replied(Assistant(expected), "stop")


@given(
    text=st.lists(st.sampled_from(["<|user|>", "<|im", "<", "|>", " ", "a"]), max_size=8).map("".join),
    size=st.integers(1, 9),
)
def test_tokens_are_left_out_however_the_text_is_cut(text: str, size: int) -> None:
    tokens = TokensAroundFilter()
    passed = [tokens.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(passed) + tokens.finish() == without_tokens_around(text)
