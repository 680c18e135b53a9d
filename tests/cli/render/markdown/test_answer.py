"""Pictures in the model's words that were shown already."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp_cli.render.markdown.answer import AnswerStream, same_file
from terp_cli.render.markdown.markdown import MarkdownStream
from tests.cli.screens import cut

SHOWN = {"/out/c1-1.png", "/home/ada/my plot.png"}


def answer() -> AnswerStream:
    markdown = MarkdownStream(lambda: 80, lambda: 12)
    return AnswerStream(markdown, lambda address: same_file(address, "/home/ada") in SHOWN)


def shown(text: str, sizes: list[int] | None = None) -> list[str]:
    stream = answer()
    pieces = cut(text, sizes) if sizes else [text]
    rows = [row for piece in pieces for row in stream.feed(piece)]
    return [str(row) for row in rows + stream.finish()]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Done.\n\n![plot](/out/c1-1.png)", ["Done."]),
        ("![plot](/out/c1-1.png)\n\nDone.", ["Done."]),
        ("A\n\n![p](file:///out/c1-1.png)\n\nB", ["A", "", "B"]),
        ("![p](<my plot.png>)", []),
        ("![p](my%20plot.png)", []),
        ("![p](./my%20plot.png 'x')", ["[image: p] (./my%20plot.png)"]),
        ('![p](./my%20plot.png "a title")', []),
        ("![](/out/c1-1.png)![](/out/c1-1.png)", []),
        ("As ![the plot](/out/c1-1.png) shows, all is well!", ["As the plot shows, all is well!"]),
        ("- ![the plot](/out/c1-1.png)", ["• the plot"]),
        ("![plot](/out/other.png)", ["[image: plot] (/out/other.png)"]),
        ("![plot](https://x.org/out/c1-1.png)", ["[image: plot] (https://x.org/out/c1-1.png)"]),
        ("[the file](/out/c1-1.png)", ["the file (/out/c1-1.png)"]),
        ("```md\n![plot](/out/c1-1.png)\n```", ["![plot](/out/c1-1.png)"]),
        ("Wow! ![not one", ["Wow! ![not one"]),
        ("!", ["!"]),
    ],
)
def test_a_picture_that_was_shown_is_not_named_again(text: str, rows: list[str]) -> None:
    assert shown(text) == rows


PIECES = [
    "![p](/out/c1-1.png)", "![q](<my plot.png>)", '![p](/out/c1-1.png "t")', "![", "!", "](", ")", "(", "<",
    "[a](b)", "word", " ", "\n", "\n\n", "```\n", "é",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(texts, st.lists(st.integers(1, 9), min_size=1))
def test_the_rows_do_not_depend_on_how_the_text_was_cut(text: str, sizes: list[int]) -> None:
    assert shown(text, sizes) == shown(text)


@given(texts)
def test_without_pictures_the_words_are_as_written(text: str) -> None:
    plain = MarkdownStream(lambda: 80, lambda: 12)
    stream = AnswerStream(MarkdownStream(lambda: 80, lambda: 12), lambda address: False)
    assert stream.feed(text) + stream.finish() == plain.feed(text) + plain.finish()


def test_a_shorter_fence_does_not_end_the_block_around_it() -> None:
    text = "````md\n```\n![p](/out/c1-1.png)\n```\n````"
    assert "![p](/out/c1-1.png)" in "\n".join(shown(text))
