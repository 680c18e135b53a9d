"""Text in fences."""

import pytest

from terp.text.fences import Fence, fenced, opening_fence, unfenced


@pytest.mark.parametrize("text", ["a\nb", "", "```\nx\n```\n"])
def test_what_is_fenced_comes_out_again(text: str) -> None:
    assert unfenced(fenced(text, "md")) == text.removesuffix("\n")


@pytest.mark.parametrize(
    "text",
    ["plain", "a\n```\nx\n```", "```\nx\n```\nb", "```\nx\n```\n```\ny\n```", "```\nno end", "`x`"],
)
def test_what_is_more_than_one_block_stays_as_it_is(text: str) -> None:
    assert unfenced(text) == text


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("```python", "python"),
        ("  ~~~ {.r}", "r"),
        ("```", ""),
        ("```a`b", None),
        ("``x", None),
        ("a ```", None),
    ],
)
def test_a_line_of_three_marks_opens_a_block_in_the_language_behind_it(
    line: str, language: str | None
) -> None:
    fence = opening_fence(line)
    assert (fence.language if fence else None) == language


@pytest.mark.parametrize(
    ("line", "closes"),
    [
        ("````", True),
        ("`````  ", True),
        ("   ````", True),
        ("```", False),
        ("~~~~", False),
        ("    ````", False),
    ],
)
def test_a_bare_fence_as_long_as_the_opening_one_closes_it(line: str, *, closes: bool) -> None:
    assert Fence("", "````").is_closed_by(line) == closes
