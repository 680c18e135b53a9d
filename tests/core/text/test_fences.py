"""Text in fences."""

import pytest

from terp.text.fences import fenced, unfenced


@pytest.mark.parametrize("text", ["a\nb", "", "```\nx\n```\n"])
def test_what_is_fenced_comes_out_again(text: str) -> None:
    assert unfenced(fenced(text, "md")) == text.removesuffix("\n")


@pytest.mark.parametrize(
    "text",
    ["plain", "a\n```\nx\n```", "```\nx\n```\nb", "```\nx\n```\n```\ny\n```", "```\nno end", "`x`"],
)
def test_what_is_more_than_one_block_stays_as_it_is(text: str) -> None:
    assert unfenced(text) == text
