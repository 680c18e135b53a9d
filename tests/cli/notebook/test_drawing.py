"""Markdown of the model in a notebook, whose front end would load what it names."""

from terp_cli.notebook.drawing import inert

APART = "\N{ZERO WIDTH SPACE}"


def test_a_picture_becomes_a_link_and_html_text() -> None:
    text = '![chart](http://elsewhere/?q=1) <img src="http://elsewhere">'
    assert inert(text) == f'!{APART}[chart](http://elsewhere/?q=1) <{APART}img src="http://elsewhere">'


def test_code_in_a_fence_is_left_as_it_is() -> None:
    text = "~~~\n```\n<b>\n~~~\n<b>"
    assert inert(text) == f"~~~\n```\n<b>\n~~~\n<{APART}b>"


def test_an_indented_fence_hides_nothing() -> None:
    assert inert("- a\n    ```\n<b>") == f"- a\n    ```\n<{APART}b>"
