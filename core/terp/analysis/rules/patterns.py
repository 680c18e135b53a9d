"""The words of a rule against the words of a command: certainly, and possibly."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from terp.analysis.effects.shell_words import Word


@dataclass(frozen=True, slots=True)
class Pattern:
    """A word of a rule; in one that is `wild`, each `*` is open."""

    text: str
    wild: bool = False


ANY = Pattern("**", wild=True)
"""All further words."""


def covers(rule: Sequence[Pattern], given: Sequence[Word]) -> bool:
    """Whether all that the shell could make of a command is what the rule says, and none of it an option.

    A word that it would put something else in the place of is never covered.
    """
    return all(word.plain and not word.pattern for word in given) and _fits(rule, given, _covers)


def fits(rule: Sequence[Pattern], given: Sequence[Word]) -> bool:
    """Whether a command, as it stands there, is one that the rule is about; `/bin/rm` is `rm`, too."""
    return any(_fits(rule, words, _is) for words in _named(given))


def may_fit(rule: Sequence[Pattern], given: Sequence[Word]) -> bool:
    """Whether it is one once the shell has put something in the place of words, as of `$x` or `*`."""
    return any(_may_fit(rule, words) for words in _named(given))


def _may_fit(rule: Sequence[Pattern], given: Sequence[Word]) -> bool:
    left = [pattern for pattern in rule if pattern != ANY]
    is_open = ANY in rule
    # The numbers of words of the rule that all words until now can stand for.
    reached = {0}
    for word in given:
        if not word.plain or word.pattern:
            reached = set(range(min(reached), len(left) + 1)) if reached else reached
            continue
        reached = {
            at + (at < len(left))
            for at in reached
            if (at < len(left) and _is(left[at], word.text)) or (at == len(left) and is_open)
        }
    return len(left) in reached


def _named(given: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """A command as it stands there, and without the folder of its name."""
    yield given
    if given and "/" in given[0].text:
        yield [replace(given[0], text=given[0].text.rpartition("/")[2]), *given[1:]]


def _fits(rule: Sequence[Pattern], given: Sequence[Word], matches: Callable[[Pattern, str], bool]) -> bool:
    is_open = bool(rule) and rule[-1] == ANY
    left = rule[:-1] if is_open else rule
    if len(given) < len(left) or (len(given) > len(left) and not is_open):
        return False
    further = given[len(left) :]
    return all(matches(pattern, word.text) for pattern, word in zip(left, given, strict=False)) and all(
        matches(Pattern("*", wild=True), word.text) for word in further
    )


def _covers(pattern: Pattern, text: str) -> bool:
    if not pattern.wild:
        return pattern.text == text
    if text.startswith("-") and not pattern.text.startswith("-"):
        return False
    if not pattern.text.strip("*"):
        return True
    # `data/*` is nothing in a folder of data, and not what lies above it.
    parts, given = pattern.text.split("/"), text.split("/")
    return len(parts) == len(given) and all(
        _matches(part, one) and (one != ".." or part == "..") for part, one in zip(parts, given, strict=True)
    )


def _is(pattern: Pattern, text: str) -> bool:
    return _matches(pattern.text, text) if pattern.wild else pattern.text == text


def _matches(pattern: str, text: str) -> bool:
    first, *pieces = pattern.split("*")
    if not pieces:
        return pattern == text
    *between, last = pieces
    if not (text.startswith(first) and text.endswith(last) and len(text) >= len(first) + len(last)):
        return False
    at, stop = len(first), len(text) - len(last)
    # The nearest place for each is the best: a regular expression would try them all.
    for piece in between:
        found = text.find(piece, at, stop)
        if found < 0:
            return False
        at = found + len(piece)
    return True
