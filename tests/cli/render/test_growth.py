"""What a text costs grows with its length, whatever it is made of. Calls are counted: a clock would lie."""

import sys
from collections.abc import Callable

import pytest

from terp_cli.render.markdown.grammar import parse
from terp_cli.render.markdown.markdown import MarkdownStream

TEXTS = {
    "formulas in brackets that never end": "\\[ x\n",
    "environments that never end": "\\begin{align} x\n",
    "formulas that never end": "$$ x = y\n",
    "emphasis that never ends": "_a ",
}


def calls(do: Callable[[], object]) -> int:
    """How many functions are called for it, those of C included."""
    seen = 0

    def note(*_: object) -> None:
        nonlocal seen
        seen += 1

    sys.setprofile(note)
    try:
        do()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("piece", TEXTS.values(), ids=TEXTS.keys())
def test_parsing_a_text_of_four_times_the_length_costs_four_times_as_much(piece: str) -> None:
    short, long = (["text", *(piece * count).split("\n")] for count in (100, 400))
    assert calls(lambda: parse(long, {})) < 5 * calls(lambda: parse(short, {}))


def streamed(text: str) -> None:
    stream = MarkdownStream(lambda: 80, lambda: 20)
    stream.feed(text)
    stream.finish()


@pytest.fixture(scope="module")
def usual() -> int:
    """What as many lines cost that nothing is the matter with."""
    return calls(lambda: streamed("text\n\n" + "- a\n" * 1_600))


@pytest.mark.parametrize("opening", ["$$\n", "text\n$$\n", "text\n\\[\n", "_", "> $$ a\n"])
def test_lines_after_a_mark_that_never_ends_are_not_read_anew_for_each(usual: int, opening: str) -> None:
    assert calls(lambda: streamed(opening + "a\n" * 1_600)) < 4 * usual


def test_a_quotation_goes_on_with_lines_that_would_begin_a_formula() -> None:
    blocks = parse(["> $$ a", *["$$ a"] * 1_000], {})
    assert [block.type for block in blocks] == ["blockquote"]
