"""The effects of code, as one line for the user."""

import os
from dataclasses import replace
from pathlib import Path

from terp.events.effects import Effect, EffectKind, Effects
from terp_cli.terminal.sanitise import one_line

# The words before the targets, and the words without targets.
_WORDS: dict[EffectKind, tuple[str, str]] = {
    "reads": ("reads ", "reads files"),
    "writes": ("writes ", "writes files"),
    "network": ("network: ", "network"),
    "deletes": ("deletes ", "deletes files"),
    "subprocess": ("runs: ", "runs programs"),
    "installs": ("installs ", "installs packages"),
    "secrets": ("reads a secret: ", "reads secrets"),
    "cannot tell": ("cannot tell: ", "cannot tell"),
}
_MOST, _LONGEST = 4, 60
BETWEEN = " · "


_NOTABLE: frozenset[EffectKind] = frozenset({"network", "deletes", "subprocess", "installs", "secrets"})


def notable(effects: Effects, cwd: str) -> Effects:
    """Return the effects to show for code that runs without approval."""
    outside = (
        replace(effect, targets=tuple(one for one in effect.targets if _is_outside(one, cwd)))
        for effect in effects.found
        if effect.kind == "writes"
    )
    kept = (effect for effect in effects.found if effect.kind in _NOTABLE)
    return Effects((*(effect for effect in outside if effect.targets), *kept))


def _is_outside(path: str, cwd: str) -> bool:
    if path.startswith(("~", "{")):
        return path.startswith("~")
    whole = os.path.normpath(Path(cwd, path))
    return not Path(whole).is_relative_to(cwd)


def effects_line(effects: Effects) -> str:
    """Return the effects of code in words; quoted parts of the code are sanitised and shortened."""
    return BETWEEN.join(said for _, said in effects_in_words(effects))


def effects_in_words(effects: Effects) -> list[tuple[EffectKind | None, str]]:
    """Return the parts of `effects_line` with the kind of each; None for code that only computes."""
    if not effects.found:
        return [(None, "computes only")]
    if effects.kinds == {"reads"}:
        targets = _targets(effects.found[0])
        return [("reads", f"reads only: {targets}" if targets else "reads only")]
    return [(effect.kind, _said(effect)) for effect in effects.found]


def _said(effect: Effect) -> str:
    before, alone = _WORDS[effect.kind]
    return f"{before}{_targets(effect)}" if effect.targets else alone


def _targets(effect: Effect) -> str:
    # One unknown effect is reason enough; several of the others are shown.
    most = 1 if effect.kind == "cannot tell" else _MOST
    shown = [_shortened(one_line(target)) for target in effect.targets[:most]]
    left = len(effect.targets) - len(shown) + effect.more
    return ", ".join(shown) + (f" and {left} more" if left else "")


def _shortened(target: str) -> str:
    """Return `target`, without its middle if it is long."""
    if len(target) <= _LONGEST:
        return target
    keep = (_LONGEST - 1) // 2
    return f"{target[:keep]}…{target[-keep:]}"
