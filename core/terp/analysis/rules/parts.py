"""The simple commands in a piece of code, and those that other commands among them would run."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from terp.analysis.effects.cells import MOST_CHARACTERS, shell_in
from terp.analysis.effects.shell import evaluates
from terp.analysis.effects.shell_programs import worded
from terp.analysis.effects.shell_words import ASSIGNMENT, Command, NotRead, Script, Word
from terp.analysis.rules.interpreters import runs_others
from terp.text.languages import language_of

_SCRATCH = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_DEEPEST = 5
_MOST_SUFFIXES = 50


@dataclass(frozen=True, slots=True)
class Part:
    """One simple command, or a piece that is not read; `odd` says why no rule on a command allows it."""

    text: str
    words: tuple[Word, ...] = ()
    odd: str = ""

    @property
    def read(self) -> bool:
        """Whether it is a command at all."""
        return bool(self.words)


def parts_of(language: str, code: str) -> list[Part]:
    """Every part of shell code; of Python those that IPython would give to a shell; nothing of others."""
    if len(code) > MOST_CHARACTERS:
        return [Part("all of it", odd="it is too long to read")]
    match language_of(language, ["python", "shell"]):
        case "shell":
            return _parts(code)
        case "python":
            within = "it stands in Python code"
            return [replace(part, odd=within) for script in shell_in(code) for part in _parts(script)]
    return []


def reached(part: Part, depth: int = 0) -> Iterator[tuple[Word, ...]]:
    """The command of a part without its assignments, then those that it would run as far as one can see."""
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


def _parts(code: str) -> list[Part]:
    script = Script(code)
    unread: list[Part] = []
    try:
        script.read()
    except (NotRead, RecursionError) as error:
        what = f"{error.what} (line {error.line})" if isinstance(error, NotRead) else "it is nested too deep"
        unread = [Part("the rest", odd=f"{what} is not read")]
    documents = "a here-document follows" if script.here_documents else ""
    return [*(_part(command, documents) for command in script.commands), *unread]


def _part(command: Command, documents: str) -> Part:
    signs = "".join(f" {one.sign} {one.target.text}" for one in command.redirections)
    text = (worded(command.words) + signs).strip()
    return Part(text, command.words, documents or _odd(command))


def _odd(command: Command) -> str:
    if not command.words:
        return "only a redirection is left of it"
    for one in command.redirections:
        if not one.target.plain or one.target.text not in _SCRATCH:
            return "it is redirected"
    if ASSIGNMENT.match(command.words[0].text):
        return "it begins with a variable"
    for word in command.words:
        if not word.plain or word.pattern:
            return f"the shell puts something else in the place of `{word.text}`"
    return evaluates(command.words)
