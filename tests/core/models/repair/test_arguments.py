"""Code is shown while the model writes it, and what was shown is what is understood in the end."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events.messages import ToolCall
from terp.models.repair.arguments import ArgumentsDecoder, CodePiece
from terp.models.tool import Call, understand
from tests.core.models.fakes import cut, patient

LANGUAGES = ("python", "shell")


def streamed(text: str, sizes: Sequence[int] = (1,), name: str = "execute") -> list[CodePiece]:
    decoder = ArgumentsDecoder(name, LANGUAGES)
    return [shown for piece in cut(text, sizes) if (shown := decoder.feed(piece))]


def joined(shown: Sequence[CodePiece]) -> tuple[list[str], str]:
    return sorted({piece.language for piece in shown}), "".join(piece.text for piece in shown)


def test_code_is_shown_as_it_is_written() -> None:
    decoder = ArgumentsDecoder("execute", LANGUAGES)
    shown = [decoder.feed(piece) for piece in ['{"language": "py', 'thon", "co', 'de": "a =', " 1\\", 'n"}']]
    assert shown == [
        None,
        None,
        CodePiece("python", "a ="),
        CodePiece("python", " 1"),
        CodePiece("python", "\n"),
    ]


def test_code_before_its_language_is_shown_without_one() -> None:
    assert joined(streamed('{"code": "ls", "language": "bash"}')) == ([""], "ls")


def test_a_tool_named_after_a_language_implies_it() -> None:
    assert joined(streamed('{"code": "ls"}', name="bash")) == (["shell"], "ls")


@pytest.mark.parametrize(
    ("name", "language"), [("execute", "python"), ("run_shell_command", "shell"), ("python", "python")]
)
def test_raw_code_is_shown_in_the_implied_language(name: str, language: str) -> None:
    assert joined(streamed("[x for x in y]", name=name)) == ([language], "[x for x in y]")


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps('{"code": "print(1)"}'),
        '{"code": "```python\\nprint(1)\\n```"}',
        "```python\nprint(1)\n```",
        '{"arguments": {"code": "print(1)"}}',
        '{"script": "print(1)"}',
        '{"code": ["print(1)"]}',
        '[{"code": "print(1)"}]',
    ],
)
def test_what_may_have_to_be_taken_back_is_not_shown_early(arguments: str) -> None:
    decoder = ArgumentsDecoder("execute", LANGUAGES)
    call = understand(ToolCall("c", "execute", arguments), LANGUAGES)
    assert isinstance(call, Call)
    assert [decoder.feed(piece) for piece in arguments] == [None] * len(arguments)


def test_code_is_shown_up_to_where_the_json_breaks() -> None:
    assert joined(streamed('{"code": "a\\d b"}')) == ([""], "a")


def test_half_a_surrogate_pair_is_never_shown() -> None:
    assert joined(streamed('{"code": "a\\ud83d b"}')) == ([""], "a")


def test_the_arguments_of_another_tool_are_not_shown() -> None:
    assert streamed('{"code": "a"}', name="search_web") == []


SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8)
MEMBERS = st.dictionaries(
    st.sampled_from(["language", "timeout", "note", "cod", 'co"de', "script"]),
    st.sampled_from(["python", "PY", "bash", ""]) | SCALARS | st.lists(SCALARS, max_size=2),
    max_size=3,
)
CODE = st.text(max_size=60) | st.text('`~\n "\\', max_size=12) | st.sampled_from(["```py\nx\n```", "😀" * 5])
SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=4)


@patient
@given(before=MEMBERS, code=CODE, after=MEMBERS, sizes=SIZES, ascii_only=st.booleans())
def test_the_pieces_join_to_the_beginning_of_the_code_however_the_arguments_are_cut(
    before: dict[str, Any], code: str, after: dict[str, Any], sizes: list[int], ascii_only: bool
) -> None:
    arguments = json.dumps({**before, "code": code, **after}, ensure_ascii=ascii_only)
    call = understand(ToolCall("c", "execute", arguments), LANGUAGES)
    if not isinstance(call, Call):
        return
    decoder = ArgumentsDecoder("execute", LANGUAGES)
    shown = [decoder.feed(piece) for piece in cut(arguments, sizes)]
    assert call.code.startswith("".join(piece.text for piece in shown if piece))


@patient
@given(code=CODE, sizes=SIZES)
def test_the_usual_form_is_shown_to_its_last_character(code: str, sizes: list[int]) -> None:
    arguments = json.dumps({"language": "python", "code": "# 1\n" + code})
    assert joined(streamed(arguments, sizes)) == (["python"], "# 1\n" + code)


@patient
@given(code=CODE | st.text('{}[]"\n x', max_size=12), sizes=SIZES)
def test_raw_code_is_shown_as_it_is_however_it_is_cut(code: str, sizes: list[int]) -> None:
    call = understand(ToolCall("c", "python", "{}", raw=code), LANGUAGES)
    if not isinstance(call, Call):
        return
    decoder = ArgumentsDecoder("python", LANGUAGES)
    shown = [decoder.feed(piece) for piece in cut(code, sizes)]
    assert call.code.startswith("".join(piece.text for piece in shown if piece))
