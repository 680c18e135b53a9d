"""Sentences on answers, on checks, and on the past of a session: resumed, rewound, compacted, forked."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from terp import events as on
from terp.analysis.edits import FileDiff
from terp.checks.until.checking import changed_files
from terp.events.effects import Effect, EffectKind, Effects
from terp.text.plain import counted
from terp.text.wording import first_names
from terp_cli.terminal.sanitise import one_line

OfPast = on.HistoryRewound | on.SessionForked | on.SessionResumed | on.CodeCompared
_NAMED = 12


def answered(by: str, answer: str) -> str:
    """Return the sentence on a question that the user did not answer: who decided, and how."""
    if answer == "run" and by == "auto_run":
        return "runs without asking (auto_run)"
    return f"runs by {by}" if answer == "run" and by.startswith(on.RULE) else f"{by}: {answer}"


def of_past(event: OfPast) -> str:
    """Return the sentence on earlier turns or their code."""
    match event:
        case on.HistoryRewound():
            return _rewound(event)
        case on.SessionForked(copy=copy):
            return f"Saved a copy of the conversation: terp -r {copy}"
        case on.SessionResumed():
            return resumed(event)
        case on.CodeCompared(done=done, total=total, difference=difference):
            same = "another output than before:" if difference else "the same output as before"
            return f"Run {done} of {total}: {same}"
        case _:
            assert_never(event)


def resumed(event: on.SessionResumed) -> str:
    """Return the sentence on a resumed session: its turns, and the lost variables."""
    text = f"Resumed {event.session}: {counted(event.turns, 'turn')}."
    if event.lost:
        text += f" The kernel is new: {_gone(event.gone)}."
    if event.pending:
        number = len(event.pending)
        text += f" {'Code' if number == 1 else f'{number} pieces of code'} still waited for an answer, and"
        text += " did not run."
    return text


def _rewound(event: on.HistoryRewound) -> str:
    if event.copy and not event.left:
        kept = f" The old one: terp -r {event.copy}"
        gone = "New conversation"
    else:
        kept = f" A copy is saved: terp -r {event.copy}" if event.copy else ""
        back = f"{counted(event.removed, 'turn')} undone; {counted(event.left, 'turn')} left"
        gone = back if event.left else "The conversation is empty"
    stay = "" if event.undone else " Files and variables stay as they are."
    return f"{gone}.{stay}{kept}"


def compacted(event: on.HistoryCompacted, grouped: Callable[[int], str]) -> str:
    """Return the sentence on a compaction: tokens before and after, and why; `grouped` formats numbers."""
    window = f" of {grouped(event.window)}" if event.window and event.reason == "full" else ""
    size = f"{grouped(event.before)} → {grouped(event.after)}{window} tokens"
    match event.reason:
        case "full":
            return f"Context window nearly full: {event.how}, {size}."
        case "refused":
            return f"Context window full: {event.how}, {size}."
        case "asked":
            return f"Compacted: {size}."
        case "undone":
            return f"Compaction undone: {size}."
        case _:
            assert_never(event.reason)


def check_started(event: on.CheckStarted) -> str:
    """Return the sentence at the start of a check: its name, and which attempt it is."""
    again = f" again ({event.attempt})" if event.attempt > 1 else ""
    return f"Checking{again}: {event.check}"


def check_finished(event: on.CheckFinished) -> str:
    """Return the result of a check, the state of its files, and the next step."""
    passed = f"The check has passed, after {event.seconds:.1f} s."
    parts = [passed if event.passed else f"The check has not passed. {event.why}".rstrip()]
    if files := changed_files(event.changed, event.missing, event.new):
        parts.append(files)
    parts += event.results or (["The originals were used."] if files else [])
    if not event.passed and event.left:
        times = "once" if event.left == 1 else f"{event.left} times"
        parts.append(f"The model is asked again, {times} at most.")
    return " ".join(parts)


def _gone(names: tuple[str, ...]) -> str:
    if not names:
        return "all variables are gone"
    return f"{first_names(names, _NAMED)} {'is' if len(names) == 1 else 'are'} gone"


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


def effects_line(effects: Effects, edits: Sequence[FileDiff] = ()) -> str:
    """Return the effects of code in words; quoted parts of the code are sanitised and shortened."""
    return BETWEEN.join(said for _, said in effects_in_words(effects, edits))


def effects_in_words(effects: Effects, edits: Sequence[FileDiff] = ()) -> list[tuple[EffectKind | None, str]]:
    """Return the parts of `effects_line` with the kind of each; None for code that only computes.

    Files of `edits` are named with the numbers of changed lines.
    """
    if not effects.found:
        return [(None, "computes only")]
    if effects.kinds == {"reads"}:
        targets = _targets(effects.found[0])
        return [("reads", f"reads only: {targets}" if targets else "reads only")]
    lines = {edit.path: edit.lines for edit in edits}
    return [(effect.kind, _said(effect, lines)) for effect in effects.found]


def _said(effect: Effect, lines: Mapping[str, str]) -> str:
    if effect.kind == "writes" and effect.targets and lines.keys() >= set(effect.targets):
        return "changes " + ", ".join(f"{_shortened(one_line(one))} ({lines[one]})" for one in effect.targets)
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
