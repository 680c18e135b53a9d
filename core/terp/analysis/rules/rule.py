"""Rules on code: their text, and their verdict on a command.

    shell: git log *            one simple command, word by word
    effects: reads writes       a whole piece of code, by the kinds of its effects
    writes: ./out/**            an effect when it happens; also deletes: PATH and network: HOST[:PORT]
    programs: curl              the start of a program, by its name or path; only to ask about it or deny it

`*` is any one word and, last, `**` any further ones; in what is allowed neither stands for an option.
In a path `*` is a part of one name, and `**` any number of names.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from terp.analysis.effects.shell_words import NotRead, Script, Word
from terp.analysis.rules.commands import (
    ANY,
    CodePart,
    Pattern,
    covers,
    fits,
    may_fit,
    parts_of,
    reached,
    why_never,
)
from terp.events.effects import KINDS, EffectKind
from terp.events.outputs import EffectVerb
from terp.text.dataclasses import dataclass

Verdict = Literal["allow", "ask", "deny"]
STRICTEST: tuple[Verdict, ...] = ("deny", "ask", "allow")
"""All verdicts; where several rules match, the first of these counts."""

_FORMS = (
    "write `shell: COMMAND`, `effects: KINDS`, `writes: PATH`, `deletes: PATH`, `network: HOST` or "
    "`programs: NAME`"
)
_VERBS: dict[EffectKind, tuple[EffectVerb, ...]] = {
    "writes": ("create", "modify"),
    "deletes": ("delete",),
    "network": ("connect", "listen"),
}
NOTHING = "none"
"""The word of an effects rule for code that only computes."""
# Code that runs programs, or whose effects are unknown, could do anything.
_NEVER_ALLOWED: frozenset[EffectKind] = frozenset({"subprocess", "cannot tell"})


class NoRule(ValueError):
    """A text is no rule; the message says why, without a capital and a full stop."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule and where it was written: on a command (`words`), or on the effects of code (`kinds`).

    `target` is the path, host or program of a rule on one kind of effect; "" is any.
    """

    verdict: Verdict
    text: str
    origin: str
    words: tuple[Pattern, ...] = ()
    kinds: frozenset[EffectKind] = frozenset()
    target: str = ""

    @property
    def verbs(self) -> tuple[EffectVerb, ...]:
        """The effects that it decides about when they happen."""
        if "subprocess" in self.kinds and self.target:
            return ("run",)
        return tuple(verb for kind in sorted(self.kinds) for verb in _VERBS.get(kind, ()))

    @property
    def named(self) -> str:
        """The rule as it is shown: `shell: rm ** (work.yaml:7)`."""
        return f"{self.text} ({self.origin})"


def read_rule(verdict: Verdict, text: str, origin: str) -> Rule:
    """Return the rule that `text` holds.

    Raises:
        NoRule: the text is no rule, or it would allow a command or an effect that no rule may allow.
    """
    form, colon, rest = text.partition(":")
    if not colon or not rest.strip():
        raise NoRule(f"this is no rule; {_FORMS}")
    match form.strip():
        case "shell":
            return Rule(verdict, text, origin, words=_words(verdict, rest))
        case "effects":
            return Rule(verdict, text, origin, kinds=_kinds(verdict, rest.split()))
        case "writes" | "deletes" | "network" as kind:
            return Rule(verdict, text, origin, kinds=frozenset({kind}), target=_target(kind, rest.strip()))
        case "programs":
            target = _program(verdict, rest.strip())
            return Rule(verdict, text, origin, kinds=frozenset({"subprocess"}), target=target)
    raise NoRule(f"there are no rules on '{form.strip()}'; {_FORMS}")


def _program(verdict: Verdict, text: str) -> str:
    if verdict == "allow":
        raise NoRule("code may start any program, and its effects are asked about; so none need be allowed")
    if re.search(r"\s", text):
        raise NoRule(f"'{text}' has arguments; a rule on programs is about the file: write `programs: git`")
    if "/" in text and not text.startswith(("/", "./", "~/")):
        raise NoRule(f"'{text}' must be a name, or a path that begins with ./, ~/ or /")
    return text


def _target(kind: EffectKind, text: str) -> str:
    if kind == "network":
        if "/" in text or " " in text:
            raise NoRule(f"'{text}' is no host; write `network: api.example.org` or `network: 10.0.0.1:5432`")
    elif not text.startswith(("/", "./", "~/")):
        raise NoRule(f"'{text}' must begin with ./ (the working directory), ~/ or /")
    return text


def _words(verdict: Verdict, text: str) -> tuple[Pattern, ...]:
    patterns = [_pattern(word) for word in _one_command(text.strip())]
    if ANY in patterns[:-1]:
        raise NoRule("** stands for all further words, so nothing can follow it")
    if verdict == "allow":
        _check_allowed(patterns)
    return tuple(patterns)


def _one_command(text: str) -> tuple[Word, ...]:
    try:
        words = _only(text)
        # Syntax of the shell is no word of the command.
        if (
            not words
            or len(_only(f"x {text}")) != len(words) + 1
            or len(_only(f"{text} x")) != len(words) + 1
        ):
            raise NoRule("a rule is about one command, without pipes, lists, redirections and comments")
    except NotRead as unread:
        raise NoRule(f"{unread.what} cannot stand in a rule") from None
    return words


def _only(text: str) -> tuple[Word, ...]:
    """Return the words of a script that is one command; () for any other script."""
    script = Script(text)
    script.read()
    if len(script.commands) != 1 or script.commands[0].redirections or script.here_documents:
        return ()
    return script.commands[0].words


def _pattern(word: Word) -> Pattern:
    if not word.plain or (word.pattern and (not word.bare or "*" not in word.text)):
        raise NoRule(f"`{word.text}` cannot stand in a rule: only * and **, without quotes, are open")
    return Pattern(word.text, wild=word.pattern)


def _check_allowed(patterns: list[Pattern]) -> None:
    first = patterns[0]
    if first.wild or "=" in first.text:
        raise NoRule("what is allowed begins with the name of its command")
    if why := why_never(first.text):
        raise NoRule(why)


def _kinds(verdict: Verdict, names: list[str]) -> frozenset[EffectKind]:
    known = {kind.replace(" ", "-"): kind for kind in KINDS}
    if names == [NOTHING]:
        if verdict != "allow":
            raise NoRule(f"'{NOTHING}' is for what is allowed: code that only computes")
        return frozenset()
    for name in names:
        if name not in known:
            raise NoRule(f"there is no effect '{name}'; there are: {', '.join(known)}, without commas")
        if verdict == "allow" and known[name] in _NEVER_ALLOWED:
            raise NoRule(f"code with the effect '{name}' could do anything, so no rule allows it")
    return frozenset(known[name] for name in names)


def verdicts(
    language: str, code: str, rules: Sequence[Rule]
) -> Iterator[tuple[str, Verdict | Literal[""], Rule | None, str]]:
    """Yield each part of the code, the verdict on it, the rule that decides, and why no rule does."""
    on_commands = [rule for rule in rules if rule.words]
    for part in parts_of(language, code):
        yield part.text, *_verdict_on(part, on_commands)


def _verdict_on(part: CodePart, rules: Sequence[Rule]) -> tuple[Verdict | Literal[""], Rule | None, str]:
    strict = [rule for rule in rules if rule.verdict != "allow"]
    if not part.read:
        # Code that is not read could hold a command that a rule forbids.
        asks = next(iter(strict), None)
        return "ask" if asks else "", asks, part.odd
    commands = list(reached(part)) if strict else []
    for verdict in STRICTEST[:2]:
        for rule in strict:
            if rule.verdict == verdict and any(fits(rule.words, words) for words in commands):
                return verdict, rule, ""
    for rule in strict:
        if any(may_fit(rule.words, words) for words in commands):
            return "ask", rule, "the shell may make it a command of this rule"
    if part.odd:
        return "", None, part.odd
    for rule in rules:
        if rule.verdict == "allow" and covers(rule.words, part.words):
            return "allow", rule, ""
    return "", None, ""
