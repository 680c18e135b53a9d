"""What has to hold before a turn is over: a shell command, or a Python expression."""

import ast
import re
from dataclasses import dataclass

from terp.errors import SettingsError

EXPRESSION = "py:"
"""What stands before a Python expression; anything else is a shell command."""

_PYTEST = re.compile(r"(?:^|[\s;&|(/])(?:pytest|py\.test)(?=$|[\s;&|)])")
# One program and its arguments: what else a line of shell does may not bear being done once more.
_PYTEST_ALONE = re.compile(
    r"(?:uv run |poetry run |\S*python[\d.]* -m )?(?:\S*/)?(?:pytest|py\.test)(?: [^|&;<>$`()]*)?"
)


@dataclass(frozen=True, slots=True)
class Check:
    """A check as it was written."""

    text: str

    @property
    def expression(self) -> str:
        """The Python expression that must be true; "" for a shell command."""
        return self.text.removeprefix(EXPRESSION).strip() if self.text.startswith(EXPRESSION) else ""

    @property
    def runs_pytest(self) -> bool:
        """Whether the command names pytest, which then has to report its tests."""
        return not self.expression and _PYTEST.search(self.text) is not None

    @property
    def is_pytest(self) -> bool:
        """Whether it is pytest and nothing else, so that it can be asked for the tests that there are."""
        return not self.expression and _PYTEST_ALONE.fullmatch(self.text) is not None


def check_of(text: str) -> Check:
    """The check that somebody wrote.

    Raises:
        SettingsError: it is empty, or no Python expression stands behind `py:`.
    """
    check = Check(text.strip())
    if not check.text or check.text == EXPRESSION:
        raise SettingsError(["until: there is no check: give a shell command, or py: and an expression."])
    if check.expression:
        try:
            ast.parse(check.expression, mode="eval")
        except (SyntaxError, ValueError) as error:
            why = getattr(error, "msg", str(error))
            raise SettingsError([f"until: '{check.text}' is no Python expression: {why}."]) from None
    return check
