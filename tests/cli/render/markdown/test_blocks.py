"""Blocks of markdown on a terminal of 60 by 24, as they stream."""

import pytest

from terp.events import TextDelta, TurnFinished
from terp.events.outputs import Display
from terp_cli.fronts.terminal import TerminalFront
from terp_cli.render.markdown.markdown import MarkdownStream
from tests.cli.drawing import Clock, printed
from tests.cli.screens import Terminal, cut, stream


def shown(markdown: str, columns: int = 60) -> list[str]:
    terminal = Terminal(columns, 24)
    stream(terminal, cut(markdown, [5]))
    return terminal.shown()


@pytest.mark.parametrize(
    "text",
    [
        "costs $5 and $10, US$5 to $7 or 30$ (or $40)",
        "$1,000-$2,000 and $HOME/bin:$PATH",
        'say "$HOME" and "$x", or $(date)-$(pwd) and ${A}/${B}',
    ],
)
def test_prices_and_variables_are_no_formulas(text: str) -> None:
    assert " ".join(shown(text)) == text


def test_formulas_are_found_in_sentences() -> None:
    assert shown(r"So $x_1$, $5$, \(a^2\) and \[ \frac{a}{b} \] hold, $$y_i$$ too.") == [
        "So x₁, 5, a² and a/b hold, yᵢ too."
    ]


@pytest.mark.parametrize(("encoding", "live"), [("ascii", True), ("utf-8", False)])
def test_formulas_are_spelled_in_ascii_and_on_a_dumb_terminal(encoding: str, live: bool) -> None:
    terminal = Encoded(encoding)
    front = TerminalFront(lambda: terminal.screen(terminal.painter(live=live)), clock=Clock())
    table = "| f |\n|---|\n| $y^2$ |\n"
    front.draw(TextDelta(f"> So $x_i \\le \\alpha$:\n\n$$\n\\sqrt{{2}}\n$$\n\n{table}"))
    for event in printed(Display({"text/latex": "$\\displaystyle \\pi$", "text/plain": "-"})):
        front.draw(event)
    front.draw(TurnFinished("done", ""))
    said = [row.strip(" │") for row in terminal.shown()]
    assert [said.count(row) for row in ("So x_i <= alpha:", "sqrt(2)", "y^2", "pi")] == [1] * 4


class Encoded(Terminal):
    """A terminal with an encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def test_escaped_brackets_are_no_formulas() -> None:
    assert shown(r"\[not a link\](x), \(see above\), array\[0\]") == [
        "[not a link](x), (see above), array[0]"
    ]


def test_code_keeps_its_dollars() -> None:
    assert shown("`$x^2$`\n\n```\n$x^2$ \\(y\\)\n```\n") == ["$x^2$", "", "$x^2$ \\(y\\)"]


def test_a_formula_on_its_own_lines_interrupts_a_paragraph() -> None:
    assert shown("We have\n\\[\nx = y\n- \\frac{1}{2}\n\\]\nand so on.\n") == [
        "We have",
        "",
        "    x = y − ½",
        "",
        "and so on.",
    ]


def test_a_formula_without_end_is_shown_as_it_was_written() -> None:
    assert shown("$$\nx^2 =\n") == ["$$", "x^2 ="]


def test_tasks_have_boxes() -> None:
    assert shown("- [ ] open\n- [x] done\n- plain\n") == ["☐ open", "☑ done", "• plain"]


def test_footnotes_and_links_defined_elsewhere_are_shown() -> None:
    assert shown("See[^1] and [it][late].\n\n[^1]: One.\n[^b]: Two.\n\n[late]: http://x.y 't'\n") == [
        "See[1] and [it][late].",
        "",
        "[1] One.",
        "[b] Two.",
        "",
        "[late]: http://x.y 't'",
    ]


def test_html_is_shown_line_by_line() -> None:
    assert shown("<details>\n<summary>More</summary>\n\n**in**\n\n</details>\n") == [
        "<details>",
        "<summary>More</summary>",
        "",
        "in",
        "",
        "</details>",
    ]


def test_a_line_break_of_html_breaks_a_line() -> None:
    assert shown("| a | b |\n|---|---|\n| x<br>y | z |\n") == ["a   b", "─────", "x   z", "y"]


def test_long_code_in_a_quotation_stays_code() -> None:
    code = [f"line_{at} = '''" for at in range(30)]
    quoted = "".join(f"> {line}\n" for line in ["before", "", "```python", *code, "```", "after"])
    assert shown(quoted) == [f"│ {line}".rstrip() for line in ["before", "", *code, "", "after"]]


def test_a_paragraph_in_a_quotation_goes_on_without_its_mark() -> None:
    assert shown("> quoted\nlazily\n> > deeper\n\nafter\n") == [
        "│ quoted lazily",
        "│",
        "│ │ deeper",
        "",
        "after",
    ]


def test_lists_nest_code_and_paragraphs() -> None:
    assert shown("1. one\n\n   ```sh\n   ls\n   ```\n\n   para\n   - in\n2. two\n") == [
        "1. one",
        "",
        "   ls",
        "",
        "   para",
        "",
        "   • in",
        "2. two",
    ]


@pytest.mark.parametrize(
    "piece", ["[", "![", "[a](", "**a*b", "$a ", "$$a\n", "- a\n", "> - > 1. a\n", "|a" * 60 + "\n"]
)
def test_a_long_text_that_is_hard_to_parse_is_shown(piece: str) -> None:
    markdown = MarkdownStream(lambda: 80, lambda: 12)
    rows = [row for part in cut(piece * (9_000 // len(piece)), [500]) for row in markdown.feed(part)]
    assert rows + markdown.finish()


def test_a_table_with_more_columns_than_cells_of_the_screen_is_shown() -> None:
    markdown = MarkdownStream(lambda: 80, lambda: 12)
    table = "|" + "a|" * 50 + "\n|" + "-|" * 50 + "\n" + ("|" + "b|" * 50 + "\n") * 30
    rows = markdown.feed(table) + markdown.finish()
    assert {row.plain for row in rows} == {"a: b", ""}
