"""The simple commands in code, the commands that no rule may allow, and the words that rules match."""

import re
from collections.abc import Callable, Iterator, Sequence

from terp.analysis.effects.cells import MOST_CHARACTERS, shell_in
from terp.analysis.effects.known import shell_tools
from terp.analysis.effects.shell import evaluates, worded
from terp.analysis.effects.shell_words import ASSIGNMENT, Command, NotRead, Script, Word
from terp.text.dataclasses import dataclass, replace
from terp.text.languages import language_of

_DEEPEST = 5
_MOST_SUFFIXES = 50
# `python3.12`, `node20`, `python.exe`.
_VERSION = re.compile(r"(?:[-.]?\d[\d.]*)?(?:\.exe)?\Z")


@dataclass(frozen=True, slots=True)
class CodePart:
    """A simple command, or code that is not read; `odd` says why no rule on commands may allow it."""

    text: str
    words: tuple[Word, ...] = ()
    odd: str = ""

    @property
    def read(self) -> bool:
        """True if it is a command."""
        return bool(self.words)


def parts_of(language: str, code: str) -> list[CodePart]:
    """Return the parts of shell code, or of the shell lines in Python code; none for other languages."""
    if len(code) > MOST_CHARACTERS:
        return [CodePart("all of it", odd="it is too long to read")]
    match language_of(language, ["python", "shell"]):
        case "shell":
            return _parts(code)
        case "python":
            within = "it stands in Python code"
            return [replace(part, odd=within) for script in shell_in(code) for part in _parts(script)]
    return []


def reached(part: CodePart, depth: int = 0) -> Iterator[tuple[Word, ...]]:
    """Yield the command of a part without its assignments, then the visible commands that it would run."""
    words = list(part.words)
    while words and ASSIGNMENT.match(words[0].text):
        words.pop(0)
    yield tuple(words)
    if not words or not runs_others(words[0].text) or depth > _DEEPEST:
        return
    for at in range(1, min(len(words), _MOST_SUFFIXES)):
        yield tuple(words[at:])
    for script in (*(word.text for word in words[1:] if word.plain), " ".join(one.text for one in words[1:])):
        if any(sign in script for sign in " \t\n;&|"):
            for inner in _parts(script):
                yield from reached(inner, depth + 1)


def _parts(code: str) -> list[CodePart]:
    script = Script(code)
    unread: list[CodePart] = []
    try:
        script.read()
    except (NotRead, RecursionError) as error:
        what = f"{error.what} (line {error.line})" if isinstance(error, NotRead) else "it is nested too deep"
        unread = [CodePart("the rest", odd=f"{what} is not read")]
    documents = "a here-document follows" if script.here_documents else ""
    return [*(_part(command, documents) for command in script.commands), *unread]


def _part(command: Command, documents: str) -> CodePart:
    signs = "".join(f" {one.sign} {one.target.text}" for one in command.redirections)
    text = (worded(command.words) + signs).strip()
    return CodePart(text, command.words, documents or _odd(command))


def _odd(command: Command) -> str:
    if not command.words:
        return "only a redirection is left of it"
    for one in command.redirections:
        if not one.target.plain or one.target.text not in shell_tools().sets["scratch"]:
            return "it is redirected"
    if ASSIGNMENT.match(command.words[0].text):
        return "it begins with a variable"
    for word in command.words:
        if not word.plain or word.pattern:
            return f"the shell puts something else in the place of `{word.text}`"
    return evaluates(command.words)


def why_never(command: str) -> str:
    """Return why no rule may allow this command, as a clause; "" if a rule may."""
    name, sets = base_name(command), shell_tools().sets
    if command in sets["keywords"]:
        return f"`{command}` belongs to the language of the shell and is no command"
    if name in sets["redefining"]:
        return f"`{command}` changes what later commands mean, so no rule allows it"
    if name in sets["interpreters"] or runs_others(command):
        return f"`{command}` runs whatever it is given, so no rule allows it; name what it would run"
    return ""


def base_name(command: str) -> str:
    """Return the name of a command without its folder and version, in lower case."""
    name = command.rpartition("/")[2].lower()
    # `7z` and `[` keep what they are.
    return _VERSION.sub("", name) or name


def runs_others(command: str) -> bool:
    """Return True if the words of a command are another command, as those of `sudo` or `timeout`."""
    name = command.rpartition("/")[2]
    return name in shell_tools().sets["wrappers"] or name in shell_tools().transparent or name == "find"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A word of a rule; in one that is `wild`, each `*` is open."""

    text: str
    wild: bool = False


ANY = Pattern("**", wild=True)
"""All further words."""


def covers(rule: Sequence[Pattern], given: Sequence[Word]) -> bool:
    """Return True if a rule matches everything that the shell could make of a command.

    Words that the shell would expand, and options, are never covered by a wildcard.
    """
    return all(word.plain and not word.pattern for word in given) and _fits(rule, given, _covers)


def fits(rule: Sequence[Pattern], given: Sequence[Word]) -> bool:
    """Return True if a rule matches a command as it is written; `/bin/rm` is `rm`, too."""
    return any(_fits(rule, words, _is) for words in _named(given))


def may_fit(rule: Sequence[Pattern], given: Sequence[Word]) -> bool:
    """Return True if a rule may match a command after the shell has expanded words such as `$x` or `*`."""
    return any(_may_fit(rule, words) for words in _named(given))


def _may_fit(rule: Sequence[Pattern], given: Sequence[Word]) -> bool:
    left = [pattern for pattern in rule if pattern != ANY]
    is_open = ANY in rule
    # How many words of the rule the words so far can match.
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
    """Yield a command as it is written, and without the folder of its name."""
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
    first, *between = map(re.escape, pattern.split("*"))
    if between:
        # The nearest place for each piece is the best, so the groups are atomic: no other one is tried.
        *between, last = between
        first += "".join(f"(?>.*?{piece})" for piece in between) + f".*{last}"
    return re.fullmatch(first, text, re.DOTALL) is not None
