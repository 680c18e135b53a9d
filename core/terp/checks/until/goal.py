"""The goal of a session: a check, where it was written, and the state of its files before the first turn."""

import ast
import re
from collections.abc import Sequence

from terp.checks.until.originals import FREE, Originals
from terp.errors import SettingsError
from terp.session.resources import SessionResources
from terp.settings import Settings
from terp.text.dataclasses import dataclass

EXPRESSION = "py:"
"""The prefix of a Python expression; any other check is a shell command."""
TYPED = "typed"
_TYPED = ("--", "TERP_", "terp.open")
"""Prefixes of the origins of settings that the user wrote for one call."""
_MOST_TEXTS, _SHORT = 3, 2_000
_PYTEST = re.compile(r"(?:^|[\s;&|(/])(?:pytest|py\.test)(?=$|[\s;&|)])")
# One program and its arguments: anything else in a line of shell may have effects that must not come twice.
_PYTEST_ONLY = re.compile(
    r"(?:uv run |poetry run |\S*python[\d.]* -m )?(?:\S*/)?(?:pytest|py\.test)(?: [^|&;<>$`()]*)?"
)


@dataclass(frozen=True, slots=True)
class Check:
    """A check as it was written: a shell command, or `py:` and a Python expression."""

    text: str

    @property
    def expression(self) -> str:
        """The Python expression that must be true; "" for a shell command."""
        return self.text.removeprefix(EXPRESSION).strip() if self.text.startswith(EXPRESSION) else ""

    @property
    def runs_pytest(self) -> bool:
        """True if the command names pytest, which then has to report its tests."""
        return not self.expression and _PYTEST.search(self.text) is not None

    @property
    def is_pytest(self) -> bool:
        """True if the command is pytest and nothing else, so that it can also be run to list its tests."""
        return not self.expression and _PYTEST_ONLY.fullmatch(self.text) is not None


def check_of(text: str) -> Check:
    """Return the check that a text describes.

    Raises:
        SettingsError: it is empty, or the text after `py:` is no Python expression.
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


@dataclass(slots=True)
class Goal:
    """A check that turns are repeated until it passes.

    `origin` is where it was written. `agreed` means that it may run; a check that was typed needs no
    question. `by_person` means that no project brought it. After `max_revisions` more requests (0: no limit)
    the model gets no further prompt. `protect` are patterns of more files that belong to the check. The first
    turn sets the rest: the `originals` of the check's files, and the number of tests `before`.
    """

    check: Check
    origin: str = TYPED
    agreed: bool = True
    by_person: bool = True
    max_revisions: int = 4
    protect: Sequence[str] = ()
    timeout_s: float = 600.0
    max_chars: int = 20_000
    originals: Originals | None = None
    before: int = 0

    def texts(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return the names and texts of original files: of the first three, those that are short."""
        files = {} if self.originals is None else self.originals.files
        found = ((name, files[name].content) for name in names[:_MOST_TEXTS] if name in files)
        return [(name, text.decode(errors="replace")) for name, text in found if text and len(text) <= _SHORT]


def current_goal(resources: SessionResources) -> Goal | None:
    """Return the goal of a session; None when its turns end with the answer."""
    goal = resources.goal
    return goal if isinstance(goal, Goal) else None


def goal_of(settings: Settings, typed: str = "") -> Goal | None:
    """Return the goal of the settings, or the one that was `typed` instead; None without a check.

    Raises:
        SettingsError: the check is invalid, or a project would allow changes of its own protected files.
    """
    text = typed or settings.until
    if not text.strip():
        return None
    if "until_protect" in settings.by_project and any(one.startswith(FREE) for one in settings.until_protect):
        where = settings.origin("until_protect")
        raise SettingsError([f"{where}: until_protect: only you can say with {FREE} what may be changed."])
    origin = settings.origin("until")
    return Goal(
        check_of(text),
        TYPED if typed else origin,
        agreed=bool(typed) or origin.startswith(_TYPED),
        by_person=bool(typed) or "until" not in settings.by_project,
        max_revisions=settings.max_revisions,
        protect=settings.until_protect,
        timeout_s=settings.until_timeout_s,
        max_chars=settings.max_output_chars,
    )
