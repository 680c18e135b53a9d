"""What a session is asked to reach: a check, who wrote it, and what is known of it before the first turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from terp.checks.until.check import Check, check_of
from terp.checks.until.check_sandbox import Bounds
from terp.checks.until.originals import FREE, Originals
from terp.errors import SettingsError
from terp.session.equipment import Equipment
from terp.settings import Settings

TYPED = "typed"
_TYPED = ("--", "TERP_", "terp.open")
"""How the places begin that a person writes for one call."""
_TOLD, _SHORT = 3, 2_000


@dataclass(slots=True)
class Goal:
    """A check that turns go on until.

    `origin` is where it was written, and `agreed` whether it may run: a check that was typed needs no other
    question. `by_person` tells that no project has brought it. After `max_revisions` more requests (0: no
    limit) the model is not asked again. `protect` are patterns of more files that it is made of. The rest is
    found out with the first turn: the `originals` of those files, and how many tests there were `before`.
    """

    check: Check
    origin: str = TYPED
    agreed: bool = True
    by_person: bool = True
    max_revisions: int = 4
    protect: Sequence[str] = ()
    timeout_s: float = 600.0
    max_chars: int = 20_000
    originals: Originals | None = field(default=None)
    before: int = 0

    def texts(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """The names and the texts of original files, of the first ones that are short."""
        kept = {} if self.originals is None else self.originals.files
        found = ((name, kept[name].content) for name in names[:_TOLD] if name in kept)
        return [(name, text.decode(errors="replace")) for name, text in found if text and len(text) <= _SHORT]

    @property
    def bounds(self) -> Bounds:
        """What one run of the check may take."""
        return Bounds(self.timeout_s, self.max_chars)


def current_goal(equipment: Equipment) -> Goal | None:
    """Return the goal of a session; None when its turns end with the answer."""
    goal = equipment.goal
    return goal if isinstance(goal, Goal) else None


def goal_of(settings: Settings, typed: str = "") -> Goal | None:
    """The goal that settings say, or that was `typed` in their place; None without a check.

    Raises:
        SettingsError: the check is none, or a project would have its files changed.
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
