"""Conditions on the user's variables, evaluated after each cell; the user has typed or configured them."""

from __future__ import annotations

import ast
from typing import Any

from .fingerprints import number_text
from .known import printable, type_name

LONGEST_WHY = 200


class Watches:
    """Evaluates conditions, and remembers which held: only one that breaks is reported."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.held: dict[str, bool] = {}

    def broken(self, conditions: Any) -> list[tuple[str, str]]:
        """Return the conditions that are broken since the last cell, each with the reason."""
        self.held = {text: held for text, held in self.held.items() if text in conditions}
        found = []
        for text in conditions:
            try:
                why = self.why_not(text)
            except (NameError, KeyboardInterrupt):
                # Its variables do not exist yet, or the user did not wait for it.
                continue
            if why and self.held.get(text, True):
                found.append((text, printable(why, LONGEST_WHY)))
            self.held[text] = not why
        return found

    def why_not(self, text: str) -> str:
        """Return the reason why a condition does not hold; "" if it does."""
        names = self.shell.user_ns
        tree = ast.parse(text.strip(), "<watch>", "eval").body

        def value_of(node: Any) -> Any:
            return eval(compile(ast.Expression(node), "<watch>", "eval", dont_inherit=True), names)  # noqa: S307

        try:
            if value_of(tree):
                return ""
            left = tree.left if type(tree) is ast.Compare else tree
            shown = number_text(value_of(left))
            return f"{ast.get_source_segment(text.strip(), left)} is {shown}" if shown else "it is not true"
        except (NameError, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - also SystemExit, in code of a library
            return f"{type_name(error)}: {error}"
