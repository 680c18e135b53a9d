"""Effects that runs had, in words."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from terp.events.outputs import EffectVerb, FileChange, PerformedEffect
from terp.text.files import size_text

FILE_EFFECTS: tuple[EffectVerb, ...] = ("create", "modify", "delete")
"""The verbs whose objects are paths."""
TO_DO: Mapping[EffectVerb, str] = {
    "create": "create",
    "modify": "change",
    "delete": "delete",
    "connect": "connect to",
    "listen": "accept connections at",
    "run": "start",
}
"""Verbs for code that asks, which follow "wants to"."""
_DID: Mapping[EffectVerb, str] = {
    "create": "created",
    "modify": "changed",
    "delete": "deleted",
    "connect": "connected to",
    "listen": "listened at",
    "run": "started",
}
_MOST_NAMED = 6
# The kernel's own programs, and what a shell starts for each line.
_QUIET = re.compile(r"(python[0-9.]*|sh|bash|zsh|env)")


def account_of(performed: Sequence[PerformedEffect], files: Sequence[FileChange], cwd: str) -> str:
    """Return the effects in a line, without those on files of the working directory that were allowed.

    Those are reported as files, as are all `files`.
    """
    return "; ".join(f"{did} {_listed(targets)}" for did, targets in _grouped(performed, files, cwd).items())


def effect_line(effect: PerformedEffect) -> str:
    """Return one effect whole: "created /home/ann/a.csv (12 kB)", "connected to 10.0.0.1:443 ×3"."""
    size = f" ({size_text(effect.size)})" if effect.size is not None and not effect.refused else ""
    times = f" ×{effect.times:,}" if effect.times > 1 else ""
    return f"{_did(effect)} {_target(effect)}{size}{times}"


def _grouped(
    performed: Sequence[PerformedEffect], files: Sequence[FileChange], cwd: str
) -> dict[str, Counter[str]]:
    groups: dict[str, Counter[str]] = {}
    reported = {path for one in files for path in (one.path, one.source)}
    below = f"{cwd.rstrip('/')}/"
    for effect in performed:
        inside = effect.what.startswith(below) and (effect.to or below).startswith(below)
        is_file = effect.verb in FILE_EFFECTS and (inside or effect.what in reported)
        if effect.refused or not (is_file or (effect.verb == "run" and _QUIET.fullmatch(effect.what))):
            groups.setdefault(_did(effect), Counter())[_target(effect, cwd)] += effect.times
    return groups


def _did(effect: PerformedEffect) -> str:
    moves = effect.verb == "delete" and effect.to
    if effect.refused:
        return f"refused to let it {'move' if moves else TO_DO[effect.verb]}"
    return "moved" if moves else _DID[effect.verb]


def _target(effect: PerformedEffect, cwd: str = "") -> str:
    if effect.verb not in FILE_EFFECTS:
        return effect.what
    return " → ".join(near(path, cwd) if cwd else path for path in (effect.what, effect.to) if path)


def _listed(targets: Counter[str]) -> str:
    named = [f"{what} ×{times}" if times > 1 else what for what, times in list(targets.items())[:_MOST_NAMED]]
    more = len(targets) - len(named)
    return ", ".join([*named, *([f"{more:,} more"] if more else [])])


def near(path: str, cwd: str) -> str:
    """Return a path relative to the working directory if it is below it."""
    within = os.path.relpath(path, cwd)
    return path if within.startswith("..") else within
