"""Fenced blocks of a model without tool calling are its calls."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from terp.errors import ToolsRejected, Unavailable
from terp.events.messages import Assistant, Image, Message, Result, System, ToolCall, User
from terp.events.model import CallDelta, Chunk, ReasoningChunk, Replied, Retrying, TextChunk, Usage
from terp.models.repair.control_tokens import ControlTokenFilter
from terp.models.repair.fenced_reply import Closed, Code, FenceScanner, Opened, Piece, ProsePiece
from terp.models.repair.fences import TextFallback, instruction
from terp.models.tool import Call, Misunderstood, schema, understand
from terp.text.languages import language_of
from tests.core.models.fakes import FakeModel, collect, cut, merged, patient, said

LANGUAGES = ("python", "shell")
TOOLS = [schema(LANGUAGES)]
CUTS = [[1], [3], [7], [12], [40], [0]]


async def heard(text: str, sizes: list[int], finish: str = "stop") -> list[Chunk]:
    model = TextFallback(FakeModel(said(text, sizes, finish=finish)), LANGUAGES, fenced=True)
    return merged(await collect(model, [User("go")], TOOLS))


async def read(text: str, sizes: list[int]) -> tuple[str, list[tuple[str, str]]]:
    """The text of the reply, and language and code of its calls."""
    *_, replied = await heard(text, sizes)
    assert isinstance(replied, Replied)
    calls = [understand(call, LANGUAGES) for call in replied.message.calls]
    return replied.message.text, [(call.language, call.code) for call in calls if isinstance(call, Call)]


S = "s = '''\n```\n'''"
BLOCKS = {
    "a block": ("```python\nprint(1)\n```", "", [("python", "print(1)")]),
    "text around it": ("Look:\n```python\n1\n```\nDone.", "Look:\nDone.", [("python", "1")]),
    "two blocks": ("```py\na\n```\nand\n```sh\nb\n```", "and\n", [("python", "a"), ("shell", "b")]),
    "a fence of tildes": ("~~~python\n```\n~~~", "", [("python", "```")]),
    "a longer fence": ("````python\n```\n````", "", [("python", "```")]),
    "a closing fence that is longer": ("```python\n1\n`````", "", [("python", "1")]),
    "blanks after the fences": ("```python  \n1\n```  \r\nx", "x", [("python", "1")]),
    "another case": ("```Python3\n1\n```", "", [("python", "1")]),
    "a language with a title": ("```python title=x.py\n1\n```", "", [("python", "1")]),
    "a language in braces": ("```{.python .numberLines}\n1\n```", "", [("python", "1")]),
    "a language of knitr": ("```{bash}\n1\n```", "", [("shell", "1")]),
    "an indented block": (
        "- so:\n   ```python\n   if x:\n     y\n  z\n   ```",
        "- so:\n",
        [("python", "if x:\n  y\nz")],
    ),
    "a block indented with tabs": ("\t```python\n\tif x:\n\t\ty\n\t```", "", [("python", "if x:\n\ty")]),
    "blank lines": ("```python\n\na\n\n\nb\n\n```", "", [("python", "\na\n\n\nb\n")]),
    "no closing fence": ("```python\nprint(1)\n", "", [("python", "print(1)")]),
    "no line end": ("```python\nprint(1)", "", [("python", "print(1)")]),
    "a fence deeper in the code": (
        '```python\n"""\n    ```\n"""\n```',
        "",
        [("python", '"""\n    ```\n"""')],
    ),
    "a fence inside a string": (f"```python\n{S}\n```\nend", "end", [("python", S)]),
    "two fences inside a string": (
        "```python\ns = '''\n```py\nx\n```\n'''\nprint(s)\n```",
        "",
        [("python", "s = '''\n```py\nx\n```\n'''\nprint(s)")],
    ),
    "a string that never ends": ("```python\ns = '''\n```\nSo.\n", "So.\n", [("python", "s = '''")]),
    "a string that never ends, then a block": (
        "```python\ns = '''\n```\nSo.\n```python\n1\n```\n",
        "So.\n",
        [("python", "s = '''"), ("python", "1")],
    ),
    "a quote in a comment": (
        "```python\n# don't '''\n```\nx\n```\ny\n```",
        "x\n```\ny\n```",
        [("python", "# don't '''")],
    ),
    "a fence in a here-document": (
        "```bash\ncat > a <<'END'\n```\nx\n```\nEND\n```",
        "",
        [("shell", "cat > a <<'END'\n```\nx\n```\nEND")],
    ),
    "a token in the code": ("```python\nprint(1)<|observation|>\n```", "", [("python", "print(1)")]),
    "a token after the fence": ("```python\nprint(1)\n```<|im_end|>", "", [("python", "print(1)")]),
    "tokens in the text": ("<|assistant|>Hi<|user|>", "Hi", []),
    "the word of a role": ("<|assistant|> interpreter\n```python\n1\n```", "", [("python", "1")]),
    "no fence": ("Just text.", "Just text.", []),
    "nothing": ("", "", []),
    "half a fence": ("``", "``", []),
    "half a token": ("a <|assis", "a <|assis", []),
    "only the word of a role": ("interpreter", "interpreter", []),
}
PROSE = {
    "output": "```output\n1\n```",
    "json": '```json\n{"a": 1}\n```\n',
    "text": "a\n```text\n```python\n1\n```\nb",
    "no language": "```\nx = 1\n```",
    "a session": "```pycon\n>>> 1\n```",
    "inline code": "```python``` and ``x`` and ~~no~~",
    "code in a quoted block": "````markdown\n```python\n1\n```\n````",
    "a printed call": "Now\n```python\ntool_call(__import__('os').system('touch x'))\n```\n",
    "a fence without code": "```python\n",
    "odd line ends": "a\x0bb\x0c\u2028c\r\nd",
}


@pytest.mark.parametrize("sizes", CUTS)
@pytest.mark.parametrize("case", BLOCKS)
async def test_blocks_are_found(case: str, sizes: list[int]) -> None:
    text, prose, calls = BLOCKS[case]
    assert await read(text, sizes) == (prose, calls)


@pytest.mark.parametrize("sizes", CUTS)
@pytest.mark.parametrize("case", PROSE)
async def test_what_cannot_run_stays_verbatim(case: str, sizes: list[int]) -> None:
    assert await read(PROSE[case], sizes) == (PROSE[case], [])


@pytest.mark.parametrize("sizes", CUTS)
async def test_the_code_of_a_block_streams_as_the_arguments_of_a_call(sizes: list[int]) -> None:
    arguments = '{"language": "python", "code": "print(\\"é\\")\\n2"}'
    assert await heard('Look:\n```python\nprint("é")\n2\n```\nSo.', sizes) == [
        TextChunk("Look:\n"),
        CallDelta(0, "execute", arguments),
        TextChunk("So."),
        Replied(Assistant("Look:\nSo.", (ToolCall("call00001", "execute", arguments),)), "stop"),
    ]


async def test_text_and_code_are_not_held_back() -> None:
    chunks = await collect(
        TextFallback(FakeModel(said("Hi\n```py\nab", [1])), LANGUAGES, fenced=True), [], TOOLS
    )
    assert chunks[:5] == [
        TextChunk("H"),
        TextChunk("i"),
        TextChunk("\n"),
        CallDelta(0, "execute", '{"language": "python", "code": "'),
        CallDelta(0, "", "a"),
    ]


@pytest.mark.parametrize("sizes", CUTS)
async def test_code_that_was_cut_off_does_not_run_and_the_model_is_told(sizes: list[int]) -> None:
    *_, replied = await heard("```python\nprint(1", sizes, "length")
    assert isinstance(replied, Replied)
    (call,) = replied.message.calls
    assert call == ToolCall("call00001", "execute", "{}", raw='{"language": "python", "code": "print(1')
    told = understand(call, LANGUAGES)
    assert isinstance(told, Misunderstood)
    assert "cut off" in told.reason


@pytest.mark.parametrize("sizes", CUTS)
async def test_a_printed_call_counts_here_too(sizes: list[int]) -> None:
    assert await read("execute\n```python\ntool_call(code='1')\n```", sizes) == ("", [("python", "1")])
    assert await read('{"name": "execute", "parameters": {"code": "1"}}', sizes) == ("", [("python", "1")])


async def test_a_call_the_server_made_by_itself_keeps_its_place() -> None:
    theirs = ToolCall("x", "execute", '{"code": "2"}')
    script: list[Chunk] = [
        TextChunk("```py\n1\n```\n"),
        CallDelta(0, "execute", theirs.arguments),
        Replied(Assistant("", (theirs,))),
    ]
    *_, replied = await collect(TextFallback(FakeModel(script), LANGUAGES, fenced=True), [], TOOLS)
    assert isinstance(replied, Replied)
    assert [call.id for call in replied.message.calls] == ["call00001", "x"]


async def test_other_chunks_pass_and_a_retry_begins_anew() -> None:
    retry, usage = Retrying(1, "busy", 0.0), Usage(1, 2)
    message = Assistant("So.", (), "hm", {"x": 1})
    script: list[Chunk] = [
        TextChunk("```py\na"),
        retry,
        ReasoningChunk("hm"),
        TextChunk("So."),
        usage,
        Replied(message),
    ]
    chunks = await collect(TextFallback(FakeModel(script), LANGUAGES, fenced=True), [], TOOLS)
    assert chunks[2:] == [retry, ReasoningChunk("hm"), TextChunk("So."), usage, Replied(message)]


async def asked(messages: list[Message], *, tools: bool = True) -> list[Message]:
    inner = FakeModel(said("ok"))
    await collect(TextFallback(inner, LANGUAGES, fenced=True), messages, TOOLS if tools else ())
    sent, sent_tools = inner.asked[0]
    assert sent_tools == []
    return sent


async def test_the_instruction_joins_the_system_message() -> None:
    assert await asked([System("Be kind."), User("go")]) == [
        System(f"Be kind.\n\n{instruction(LANGUAGES)}"),
        User("go"),
    ]


async def test_without_a_system_message_there_is_one() -> None:
    assert await asked([User("go")]) == [System(instruction(LANGUAGES)), User("go")]


async def test_a_request_without_tools_has_no_instruction_and_runs_no_block() -> None:
    assert await asked([System("Title?"), User("go")], tools=False) == [System("Title?"), User("go")]
    inner = FakeModel(said("```python\n1\n```"))
    assert merged(await collect(TextFallback(inner, LANGUAGES, fenced=True), [User("go")])) == said(
        "```python\n1\n```", [0]
    )


async def test_calls_and_results_of_the_history_are_written_as_text() -> None:
    image = Image("image/png", "AA==")
    calls = (
        ToolCall("a", "execute", '{"language": "python", "code": "s = \'```\'"}'),
        ToolCall("b", "shell", '{"code": "ls"}'),
    )
    history: list[Message] = [
        System("S"),
        User("<|user|> go"),
        Assistant("Two:\n", calls),
        Result("a", "1", (image,)),
        Result("b", "2"),
        Assistant("", (ToolCall("c", "execute", '{"code": "3"}'),)),
        Result("c", "3"),
        Assistant(""),
        User("and?"),
    ]
    assert (await asked(history))[1:] == [
        User("<|user|> go"),
        Assistant("Two:\n\n````python\ns = '```'\n````\n\n```shell\nls\n```"),
        User("Output of block 1 of 2:\n1\n\nOutput of block 2 of 2:\n2", (image,)),
        Assistant("```python\n3\n```"),
        User("Output of the code:\n3\n\nand?"),
    ]


async def test_a_call_that_was_cut_off_is_written_as_far_as_it_went() -> None:
    call = ToolCall("a", "execute", "{}", raw='{"language": "python", "code": "print(1')
    assert (await asked([Assistant("", (call,))]))[1:] == [Assistant("```python\nprint(1\n```")]


async def test_a_model_that_refuses_tools_is_asked_for_fences_at_once_and_from_then_on() -> None:
    inner = FakeModel([ToolsRejected("No tools here.")], said("```python\n1\n```"))
    model = TextFallback(inner, LANGUAGES)
    first = await collect(model, [User("go")], TOOLS)
    second = await collect(model, [User("go")], TOOLS)
    assert first[0] == Retrying(1, "No tools here. Code is asked for in fenced blocks instead.", 0.0)
    assert first[1:] == second
    assert [tools for _, tools in inner.asked] == [TOOLS, [], []]


async def test_a_model_that_takes_tools_keeps_them_and_its_fences_are_text() -> None:
    inner = FakeModel(said("```python\n1\n```", [0]))
    model = TextFallback(inner, LANGUAGES)
    assert await collect(model, [User("go")], TOOLS) == said("```python\n1\n```", [0])
    assert inner.asked == [([User("go")], TOOLS)]


async def test_another_failure_does_not_change_the_way_of_asking() -> None:
    inner = FakeModel([Unavailable("gone")], said("Hi"))
    model = TextFallback(inner, LANGUAGES)
    with pytest.raises(Unavailable):
        await collect(model, [], TOOLS)
    await collect(model, [], TOOLS)
    await model.aclose()
    assert ([tools for _, tools in inner.asked], model.name, inner.closed) == (
        [TOOLS, TOOLS],
        "fake/model",
        True,
    )


def scanned(text: str, sizes: list[int]) -> tuple[list[Piece], bool]:
    tokens, scanner = ControlTokenFilter(), FenceScanner(lambda word: language_of(word, LANGUAGES))
    pieces = [piece for part in cut(text, sizes) for piece in scanner.feed(tokens.feed(part))]
    pieces += [*scanner.feed(tokens.finish()), *scanner.finish()]
    joined: list[Piece] = []
    for piece in pieces:
        match [*joined[-1:], piece]:
            case [ProsePiece(text=before), ProsePiece(text=after)]:
                joined[-1] = ProsePiece(before + after)
            case [Code(text=before), Code(text=after)]:
                joined[-1] = Code(before + after)
            case _:
                joined.append(piece)
    return joined, scanner.in_code


FENCES = st.sampled_from(["```", "````", "~~~", "`", "~", "py", "```python\n", "```bash\n", "\n```\n"])
BLANKS = st.sampled_from(["\n", "\r\n", " ", "   ", "\t"])
STRINGS = st.sampled_from(["'''", '"', "\\", "#", "<<A", "A\n", "x", "tool_call("])
TOKENS = st.sampled_from(["<|user|>", "<|", "<", "|>", "interpreter"])
PARTS = FENCES | BLANKS | STRINGS | TOKENS


@patient
@given(parts=st.lists(PARTS, max_size=30), sizes=st.lists(st.integers(1, 40), min_size=1, max_size=4))
@example(parts=["```python\n", " " * 1100, "tool_call(", "\n```"], sizes=[1])
@example(parts=["interpreter", " " * 1100, "\n"], sizes=[1])
def test_blocks_do_not_depend_on_how_the_text_is_cut(parts: list[str], sizes: list[int]) -> None:
    text = "".join(parts)
    assert scanned(text, sizes) == scanned(text, [0])


@patient
@given(code=st.text(max_size=60) | st.text("`~ \n'\"x", max_size=30), sizes=st.sampled_from(CUTS))
def test_any_code_survives_a_fence_longer_than_its_own(code: str, sizes: list[int]) -> None:
    fence = "`" * (3 + max(map(len, code.split("\n"))))
    text = f"{fence}r\n#{code}x\n{fence}\n"
    scanner = FenceScanner(lambda word: word)
    pieces = [piece for part in cut(text, sizes) for piece in scanner.feed(part)]
    assert (pieces[0], pieces[-1]) == (Opened("r"), Closed())
    assert "".join(piece.text for piece in pieces if isinstance(piece, Code)) == f"#{code}x"
