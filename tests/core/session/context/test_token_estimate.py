"""How many tokens the next request is expected to have."""

import base64
import importlib.util
import os
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from terp.events.messages import Assistant, Image, Message, Result, ToolCall, User
from terp.events.model import Chunk, Replied, Usage
from terp.session.context.history import History
from terp.session.context.request import SentMessages, TokenEstimate, picture_tokens, text_tokens
from terp.testing import Part, ScriptedModel, call, collect
from tests.core.sessions import open_session

ROOT = Path(__file__).resolve().parents[4]
TOOLS = [{"type": "function", "function": {"name": "execute"}}]
CHINESE = "请先阅读这个文件，然后计算每一列的平均值，并把结果做成表格给我看。数据一共有三百行。"
JAPANESE = "このファイルを読んで、平均値を計算してください。結果は表で示してください。"
KOREAN = "이 파일을 읽고 평균을 계산해 주세요. 결과를 표로 보여 주세요."
messages = st.lists(
    st.one_of(
        st.builds(User, st.text(max_size=40)),
        st.builds(Result, st.just("a"), st.text(max_size=40)),
        st.builds(lambda text: Assistant(text, (ToolCall("a", "execute", "{}"),)), st.text(max_size=40)),
    ),
    max_size=8,
)


def counted_by_openai(text: str, model: str) -> int:
    """Count with OpenAI's tokenizer, from the files that litellm ships."""
    litellm = importlib.util.find_spec("litellm")
    assert litellm is not None and litellm.origin is not None
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers")
    return len(tiktoken.encoding_for_model(model.removeprefix("openai/")).encode_ordinary(text))


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/server.md",
        "core/terp/session/session.py",
        "core/terp/models/adapters/litellm_adapter.py",
    ],
)
@pytest.mark.parametrize("model", ["openai/gpt-4o", "openai/gpt-4"])
def test_prose_and_code_are_counted_to_within_15_percent(name: str, model: str) -> None:
    text = (ROOT / name).read_text()
    assert text_tokens(text) == pytest.approx(counted_by_openai(text, model), rel=0.15)


def test_letters_without_words_take_more() -> None:
    assert text_tokens("iVBORw" * 100) > 1.5 * text_tokens("plain " * 100)


@pytest.mark.parametrize("text", [CHINESE, JAPANESE, KOREAN])
@pytest.mark.parametrize("model", ["openai/gpt-4o", "openai/gpt-4"])
def test_chinese_japanese_and_korean_are_never_counted_low(text: str, model: str) -> None:
    assert text_tokens(text) >= counted_by_openai(text, model)


@given(st.lists(st.one_of(messages, st.integers(0, 8)), max_size=6))
def test_counting_along_gives_what_counting_at_the_end_gives(
    changes: Sequence[Sequence[Message] | int],
) -> None:
    history = History()
    along = TokenEstimate(SentMessages(history))
    for change in changes:
        if isinstance(change, int):
            history.cut(change)
        elif change and isinstance(change[0], Result):
            history.replace(change)
        else:
            for message in change:
                history.append(message)
        along.counted("system", TOOLS)
    at_the_end = TokenEstimate(SentMessages(History(history.messages)))
    assert along.counted("system", TOOLS) == pytest.approx(at_the_end.counted("system", TOOLS))


def test_a_message_is_counted_once() -> None:
    class Counted(str):
        times = 0
        __slots__ = ()

        def encode(self, *how: str) -> bytes:
            Counted.times += 1
            return super().encode(*how)

    history = History()
    expected = TokenEstimate(SentMessages(history))
    for _ in range(100):
        history.append(User(Counted("again")))
        expected.counted("", [])
    assert Counted.times == 100


def test_what_the_provider_told_corrects_the_next_count() -> None:
    expected = TokenEstimate(SentMessages(History()))
    expected.learn(100, 150)
    assert expected.correction == 1.5
    expected.forget()
    assert expected.correction == 1


@pytest.mark.parametrize("told", [0, 10])
def test_a_provider_that_does_not_count_the_whole_request_teaches_nothing(told: int) -> None:
    expected = TokenEstimate(SentMessages(History()))
    expected.learn(100, told)
    assert expected.correction == 1


def test_a_picture_counts_by_its_pixels_for_a_model_that_sees() -> None:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\0" * 90_000
    message = Result("a", "a plot", (Image("image/png", base64.b64encode(head).decode()),))
    assert picture_tokens(message) == 640 * 480 / 750
    expected = TokenEstimate(SentMessages(History([message])))
    seen = expected.counted("", []) - expected.counted("", [], lambda: False)
    assert seen == pytest.approx(409.6)


def test_a_picture_of_unknown_size_counts_as_a_large_one() -> None:
    assert picture_tokens(User("", (Image("image/webp", "UklG"),))) == 1600
    assert picture_tokens(User("", (Image("image/png", "no base64"),))) == 1600


async def test_a_session_knows_what_its_next_request_has(tmp_path: Path) -> None:
    text_count = counted_by_openai((ROOT / "docs" / "server.md").read_text(), "openai/gpt-4o")
    text = (ROOT / "docs" / "server.md").read_text()
    reply: list[Part | Chunk] = [Usage(text_count + 10, 5), Replied(Assistant(text))]
    session = open_session(tmp_path, ScriptedModel(reply, call("1 + 1"), "ok"))
    await collect(session, text)
    assert session.expected_tokens == pytest.approx(2 * text_count, rel=0.15)
