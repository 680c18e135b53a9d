"""Data frames of pandas, which nobody here imports: how much of them is sent as HTML and as plain text."""

from __future__ import annotations

import sys
from typing import Any

from .home import Home

# What pandas sends of a frame outside a terminal, unless the person has said otherwise.
USUAL_COLUMNS = 20
# As many as fit side by side on the widest screens. A wider frame keeps the usual ones: pandas cuts
# columns before rows, and copies all rows of those that are left (measured: 72 ms for a million rows).
MOST_COLUMNS = 60
# The plain text of a frame is for the model, which has no screen: what pandas breaks at 80 characters
# repeats the index in each part.
USUAL_WIDTH, WIDTH = 80, 160


def prepare(home: Home) -> None:
    """Send wide frames as HTML with more columns, as plain text in wider lines; printed ones as they are."""
    formatters = home.shell.display_formatter.formatters
    # The class gives one name or the other as its module, by the version of pandas.
    for module in ("pandas", "pandas.core.frame"):
        formatters["text/html"].for_type_by_name(module, "DataFrame", page)
        formatters["text/plain"].for_type_by_name(module, "DataFrame", plain)


def plain(frame: Any, printer: Any, _: bool) -> None:
    """The plain text of a frame, wider than pandas makes it unless the person has said otherwise."""
    pandas = sys.modules["pandas"]
    usual = pandas.get_option("display.width") == USUAL_WIDTH
    with pandas.option_context("display.width", WIDTH if usual else pandas.get_option("display.width")):
        printer.text(repr(frame))


def page(frame: Any) -> Any:
    """The HTML of a frame, as pandas makes it."""
    pandas = sys.modules["pandas"]
    usual = pandas.get_option("display.max_columns") == USUAL_COLUMNS
    if not usual or not USUAL_COLUMNS < len(frame.columns) <= MOST_COLUMNS:
        return frame._repr_html_()
    with pandas.option_context("display.max_columns", MOST_COLUMNS):
        return frame._repr_html_()
