from pathlib import Path

import pytest

from terp.events.messages import Assistant, Image, Message, Result, System, User
from terp.models import tool
from terp.models.facts.tokens import count_request, counter_for
from terp.testing import call

MESSAGES: list[Message] = [
    System("You run code."),
    User("How many rows?", (Image("image/png", "AAAA"),)),
    Assistant("", (call("len(df)", id="c1"),)),
    Result("c1", "150"),
]


def test_every_part_of_a_request_is_counted() -> None:
    tools = [tool.schema(["python"])]
    count = count_request(MESSAGES, tools, "openai/gpt-4o")
    assert (count.pictures, count.counter, count.own) == (1, "o200k_base", True)
    assert count.total == count.system + count.tools + count.conversation
    without = count_request(MESSAGES[:2], (), "openai/gpt-4o")
    assert (without.tools, without.system) == (0, count.system)
    assert without.conversation < count.conversation


@pytest.mark.parametrize(
    ("model", "counter", "own"),
    [
        ("openai/gpt-4o", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("anthropic/claude-sonnet-4-5", "o200k_base", False),
        ("openai/my-own", "o200k_base", False),
        ("ollama/qwen3", "o200k_base", False),
    ],
)
def test_a_counter_says_whose_it_is(model: str, counter: str, own: bool) -> None:
    assert counter_for(model)[1:] == (counter, own)


def test_words_are_counted_as_openai_counts_them() -> None:
    count, _, _ = counter_for("openai/gpt-4o")
    assert count("How many rows does iris.csv have?") == 8


def test_without_its_files_the_length_decides(tmp_path: Path) -> None:
    count, name, own = counter_for("openai/gpt-4o", tmp_path)
    assert (count("12345"), name, own) == (2, "the length of the text", False)
