import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cli.screens import Terminal, cut, stream

PIECES = [
    "A paragraph with **bold**, *slanted* and `code` in it, long enough to be wrapped.\n",
    "plain words that go on ",
    "\n",
    "\n\n",
    "# Heading\n",
    "- item\n",
    "  - nested item\n",
    "1. first\n",
    "2. second\n",
    "   more of the item\n",
    "```python\n",
    "   ```\n",
    "~~~\n",
    "```\n",
    'def f(x):\n    """text\n',
    "    return 1\n",
    "> quoted\n",
    "| a | b |\n|---|--:|\n",
    "| 1 | 二 |\n",
    "---\n",
    "漢字かな",
    "[link](http://example.org) ",
    "**open ",
    "👩‍👩‍👧 ❤️ ",
    "&#27;[31m \x1b[2J \u202e\u009b ",
    "\r\n",
    "\r",
    "\t",
    "word " * 60,
    "$x^2$ and $5 ",
    "$$\nx\n",
    "\\[\n- y\n\\]\n",
    "[^1]: note\n",
    "[late][r] ",
    "[r]: http://x.y\n",
    "- [ ] task\n",
    "<div>\n",
    "> > deeper\n",
    "> ```\n",
    "    indented\n",
    "* star\n",
    "|a" * 40 + "\n",
    "zalgo" + "\u0301" * 30,
    "`" * 2,
]
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
sizes = st.lists(st.integers(1, 40), min_size=1, max_size=8)


@settings(max_examples=60)
@given(
    texts, sizes, st.lists(st.booleans(), min_size=1, max_size=5), st.integers(20, 200), st.integers(6, 40)
)
@example("~~~\n\n漢字かなzalgo" + "\u0301" * 30 + "plain words that go on ", [1], [True], 25, 6)
def test_the_final_screen_does_not_depend_on_chunks_or_frames(
    text: str, sizes: list[int], paint: list[bool], columns: int, rows: int
) -> None:
    whole, pieces = Terminal(columns, rows), Terminal(columns, rows)
    stream(whole, [text])
    stream(pieces, cut(text, sizes), paint)
    assert pieces.shown() == whole.shown()


@settings(max_examples=40)
@given(texts, sizes, st.integers(20, 120))
def test_no_word_is_lost_or_said_twice(text: str, sizes: list[int], columns: int) -> None:
    words = iter(range(10_000))
    numbered = "".join(f"w{next(words)} " if character == "w" else character for character in text)
    terminal = Terminal(columns)
    stream(terminal, cut(numbered, sizes))
    shown = "".join(terminal.shown())
    assert re.findall(r"w(\d+)", shown) == [str(at) for at in range(next(words))]
