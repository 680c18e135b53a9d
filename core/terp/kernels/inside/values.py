"""The value of the last expression of a cell."""

from __future__ import annotations

import ast
from itertools import islice
from typing import Any

from .home import Home

# A call of one of these says itself what it does; that its value is None is no news.
SPEAKING = {"print", "pprint", "display", "show", "run_line_magic", "run_cell_magic", "system"}

BRACKETS: dict[Any, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", dict: "{}"}


def last_call(code: str) -> str:
    """The name of the function that the last expression of `code` calls; "" when it calls none."""
    try:
        last = ast.parse(code).body[-1]
    except (SyntaxError, IndexError, ValueError):
        return ""
    value = getattr(last, "value", None)
    function = getattr(value, "func", None)
    return getattr(function, "id", "") or getattr(function, "attr", "")


def short(value: Any, limit: int = 100, depth: int = 2) -> str:
    """A repr that is quick and short whatever `value` is, and never raises."""
    try:
        text = _short(value, limit, depth)
    except (Exception, SystemExit) as error:  # noqa: BLE001
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _short(value: Any, limit: int, depth: int) -> str:
    kind: Any = type(value)
    if kind in (str, bytes, bytearray):
        return repr(value[:limit]) + ("…" if len(value) > limit else "")
    brackets = BRACKETS.get(kind)
    if brackets is None:
        return repr(value)
    if not depth:
        return f"{brackets[0]}…{brackets[1]}"
    some = [short(item, limit // 2, depth - 1) for item in islice(value, 12)]
    if kind is dict:
        values = [short(item, limit // 2, depth - 1) for item in islice(value.values(), 12)]
        some = [f"{key}: {item}" for key, item in zip(some, values)]  # noqa: B905 - not in Python 3.8
    return brackets[0] + ", ".join(some) + (", …" if len(value) > len(some) else "") + brackets[1]


class Hook:
    """Mixed into the kernel's display hook: notes a value that Jupyter does not show."""

    home: Home

    def __call__(self, result: Any = None) -> None:
        """The value of an expression statement."""
        home = self.home
        home.hidden = None
        if result is None:
            code = home.shell.history_manager.input_hist_parsed[-1]
            home.hidden = None if last_call(code) in SPEAKING else "None"
        elif self.quiet():  # type: ignore[attr-defined]
            home.hidden = short(result, 500)
        super().__call__(result)  # type: ignore[misc]

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """What is shown of the value, as far as it fits."""
        super().write_format_data(self.home.fit(format_dict), md_dict)  # type: ignore[misc]

    def finish_displayhook(self) -> None:
        """Send it, after all text."""
        self.home.flush()
        super().finish_displayhook()  # type: ignore[misc]
