"""Texts as models write them, made at random from the grammar of markdown."""

from hypothesis import strategies as st

words = st.sampled_from(
    ["plain", "words", "naïve", "漢字", "かな", "👩\u200d👧", "❤️", "e\u0301", "$5", "*", "a_b", "1.", "#1"]
)
_marked = st.builds(
    "{}{}{}".format,
    st.sampled_from(["**", "*", "`", "~~", "***", "``"]),
    words,
    st.sampled_from(["**", "*", "`", "~~", "***", "``"]),
)
_links = st.sampled_from(
    [
        "[a link](http://example.org/a_b?c=d)",
        "<http://example.org>",
        "![an image](plot.png)",
        "[named][r]",
        "note[^1]",
        "$x_i^2$",
        r"\(\frac{a}{b}\)",
        "$$y$$",
        "<br>",
        "&copy;",
        "http://bare.example",
    ]
)
_inline = st.lists(words | words | _marked | _links, min_size=1, max_size=25).map(" ".join)
_paragraph = st.lists(_inline, min_size=1, max_size=3).map(lambda lines: "\n".join(lines) + "\n")
_heading = st.builds("{} {}\n".format, st.sampled_from(["#", "##", "####"]), _inline)
_code = st.lists(
    st.sampled_from(
        ["def f(x):", '    """text', "    return 1", "", "漢 = '`'", "x" * 90, "\tindented", "> no"]
    ),
    max_size=20,
).map("\n".join)
_fence = st.builds("```{}\n{}\n```\n".format, st.sampled_from(["python", "sh", "", "nolang"]), _code)
_formula = st.sampled_from(
    ["$$\nx = y\n- z\n$$\n", "\\[\n\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}\n\\]\n"]
)
_others = st.sampled_from(
    ["---\n", "[r]: http://example.org/r\n", "[^1]: A note.\n", "<div>\nhtml\n</div>\n", "    indented\n"]
)


def _table(rows: list[list[str]]) -> str:
    head = "| a | b | c |\n|:-:|---|--:|\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


_cells = st.lists(words | _marked | st.sampled_from(["", "x" * 40, "123.5"]), min_size=3, max_size=3)
_tables = st.lists(_cells, max_size=40).map(_table)
_plain = _paragraph | _heading | _fence | _formula | _others | _tables


def _indented(text: str, first: str) -> str:
    space = " " * len(first)
    lines = text.removesuffix("\n").split("\n")
    return "".join(f"{space if at else first}{line}".rstrip() + "\n" for at, line in enumerate(lines))


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bodies = st.lists(inner, min_size=1, max_size=3)
    markers = st.sampled_from(["- ", "* ", "1. ", "10. ", "- [ ] ", "> "])
    apart = st.sampled_from(["", "\n"])
    item = st.builds(lambda body, mark, gap: _indented(gap.join(body), mark), bodies, markers, apart)
    quote = bodies.map(lambda body: "".join(f"> {line}\n" for line in "\n".join(body).split("\n")))
    return (
        st.builds(lambda gap, items: gap.join(items), apart, st.lists(item, min_size=1, max_size=5)) | quote
    )


blocks = st.recursive(_plain, _nested, max_leaves=6)
documents = st.builds(
    lambda parts, gap: gap.join(parts), st.lists(blocks, max_size=5), st.sampled_from(["\n", "\n", ""])
)
