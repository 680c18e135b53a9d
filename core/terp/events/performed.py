"""Effects that runs had, in words."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from terp.events.outputs import EffectVerb, PerformedEffect

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
"""What code wants to do, to follow "wants to"."""
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


def account_of(performed: Sequence[PerformedEffect], cwd: str) -> str:
    """Return the effects in a line, without those on files of the working directory that were allowed.

    Those are reported as files.
    """
    parts = [
        f"{'refused to let it ' + TO_DO[verb] if refused else _DID[verb]} {_listed(targets)}"
        for (verb, refused), targets in _grouped(performed, cwd).items()
    ]
    return "; ".join(parts)


def effect_line(effect: PerformedEffect) -> str:
    """Return one effect whole: "deleted /home/ann/a.csv", "connected to 10.0.0.1:443 ×3"."""
    did = f"refused: {TO_DO[effect.verb]}" if effect.refused else _DID[effect.verb]
    moved = f" → {effect.to}" if effect.to else ""
    times = f" ×{effect.times:,}" if effect.times > 1 else ""
    return f"{did} {effect.what}{moved}{times}"


def _grouped(performed: Sequence[PerformedEffect], cwd: str) -> dict[tuple[EffectVerb, bool], Counter[str]]:
    groups: dict[tuple[EffectVerb, bool], Counter[str]] = {}
    for effect in performed:
        in_cwd = effect.verb in FILE_EFFECTS and effect.what.startswith(f"{cwd.rstrip('/')}/")
        if not effect.refused and (in_cwd or (effect.verb == "run" and _QUIET.fullmatch(effect.what))):
            continue
        named = near(effect.what, cwd) if effect.verb in FILE_EFFECTS else effect.what
        groups.setdefault((effect.verb, effect.refused), Counter())[named] += effect.times
    return groups


def _listed(targets: Counter[str]) -> str:
    named = [f"{what} ×{times}" if times > 1 else what for what, times in list(targets.items())[:_MOST_NAMED]]
    more = len(targets) - len(named)
    return ", ".join([*named, *([f"{more:,} more"] if more else [])])


def near(path: str, cwd: str) -> str:
    """Return a path relative to the working directory if it is below it."""
    within = os.path.relpath(path, cwd)
    return path if within.startswith("..") else within
