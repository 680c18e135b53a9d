"""Data frames of pandas, which nobody here imports: how many of their columns are sent as HTML."""

from __future__ import annotations

import sys
from typing import Any

from .home import Home

# What pandas sends of a frame outside a terminal, unless the person has said otherwise.
USUAL_COLUMNS = 20
# As many as fit side by side on the widest screens. A wider frame keeps the usual ones: pandas cuts
# columns before rows, and copies all rows of those that are left (measured: 72 ms for a million rows).
MOST_COLUMNS = 60


def prepare(home: Home) -> None:
    """Send the columns of wide frames as HTML; their plain text stays as it is."""
    formatter = home.shell.display_formatter.formatters["text/html"]
    # The class gives one name or the other as its module, by the version of pandas.
    for module in ("pandas", "pandas.core.frame"):
        formatter.for_type_by_name(module, "DataFrame", page)


def page(frame: Any) -> Any:
    """The HTML of a frame, as pandas makes it."""
    pandas = sys.modules["pandas"]
    usual = pandas.get_option("display.max_columns") == USUAL_COLUMNS
    if not usual or not USUAL_COLUMNS < len(frame.columns) <= MOST_COLUMNS:
        return frame._repr_html_()
    with pandas.option_context("display.max_columns", MOST_COLUMNS):
        return frame._repr_html_()
