"""Conditions on the user's variables, evaluated after each cell; the user has typed or configured them."""

from __future__ import annotations

import ast
from typing import Any

from .fingerprints import number_text
from .known import printable, type_name

LONGEST_WHY = 200
# No variable has this name.
LEFT = "left side"


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
            why = self.why_not(text)
            if why and self.held.get(text, True):
                found.append((text, printable(why, LONGEST_WHY)))
            if why is not None:
                self.held[text] = not why
        return found

    def why_not(self, text: str) -> Any:
        """Return the reason why a condition does not hold; "" if it does, and None if that is not known."""
        names, body = self.shell.user_ns, ast.parse(text, "<watch>", "eval").body
        compared = body if isinstance(body, ast.Compare) else None
        left = compared.left if compared else body
        # Evaluated once, since it may take long: its value is shown if the condition does not hold.
        named = ast.NamedExpr(ast.Name(LEFT, ast.Store()), left)
        whole = ast.Compare(named, compared.ops, compared.comparators) if compared else named
        tree = ast.fix_missing_locations(ast.Expression(ast.copy_location(whole, body)))
        try:
            code = compile(tree, "<watch>", "eval", dont_inherit=True)
            if eval(code, names):  # noqa: S307
                return ""
            shown = number_text(names[LEFT])
            return f"{ast.get_source_segment(text, left)} is {shown}" if shown else "it is not true"
        except (NameError, KeyboardInterrupt):
            # Its variables do not exist yet, or the user did not wait for it.
            return None
        except BaseException as error:  # noqa: BLE001 - also SystemExit, in code of a library
            return f"{type_name(error)}: {error}".rstrip(".")
        finally:
            names.pop(LEFT, None)
