"""The first words that are commands, if what follows them fits; else they begin a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SHELLS = ("bash", "zsh", "fish")
SESSION_VERBS = {"list": "", "show": "ID", "search": "WORDS", "rm": "ID…", "prune": ""}
EXPORTS = ("ipynb", "py", "md", "html")
WITH_IDS = ("show", "rm")
_CODE_SUFFIXES = frozenset({".py", ".sh", ".js", ".ts", ".r", ".jl", ".rb"})

_VERBS = ", ".join(f"{verb} {argument}".rstrip() for verb, argument in SESSION_VERBS.items())
_WANTED = {
    "run": "it takes a file that is there, or - for stdin",
    "demo": "it takes nothing",
    "doctor": "it takes nothing",
    "profiles": "it takes nothing",
    "serve": "it takes nothing but flags",
    "sessions": f"it takes {_VERBS}",
    "export": f"it takes {', '.join(EXPORTS)}, and then the ID of a session",
    "completions": f"it takes {', '.join(SHELLS)}",
    "version": "use terp --version",
    "help": "use terp --help",
}
"""What would be right, for each name; `version` and `help` are flags here and commands elsewhere."""


@dataclass(frozen=True)
class Subcommand:
    """A line of `--help`: the name, what must follow it, and what it does."""

    name: str
    argument: str
    about: str


SUBCOMMANDS = (
    Subcommand("run", "FILE|-", "run code in the kernel, without a model"),
    Subcommand("demo", "", "a tour without key or network"),
    Subcommand("doctor", "", "what is here, what is wrong, and what to do about it"),
    Subcommand("languages", "", "which languages run here, and how to get the others"),
    Subcommand("tools", "", "which functions the model can call"),
    Subcommand("profiles", "", "the named sets of settings"),
    Subcommand("sessions", "…", "earlier conversations: list, show, search, rm, prune"),
    Subcommand("export", "FORMAT", f"write a session as {', '.join(EXPORTS)}"),
    Subcommand("serve", "", "sessions over HTTP and WebSocket"),
    Subcommand("completions", "SHELL", f"what {', '.join(SHELLS)} need to complete flags"),
)


def called_by(words: Sequence[str], *, in_language: bool) -> tuple[str, str]:
    """The subcommand that the words of a command line call and its argument; empty for a prompt.

    `in_language` is whether the language of code was given, so that any file may hold it.
    """
    match words:
        case ["demo" | "doctor" | "languages" | "profiles" | "serve" | "tools" as command]:
            return command, ""
        case ["sessions", *rest] if not rest or _fits(rest[0], rest[1:]):
            return "sessions", rest[0] if rest else "list"
        case ["export", format_] | ["export", format_, _] if format_ in EXPORTS:
            return "export", format_
        case ["completions", shell] if shell in SHELLS:
            return "completions", shell
        case ["run", argument] if in_language or _names_code(argument):
            return "run", argument
    return "", ""


def mistaken(words: Sequence[str]) -> str:
    """What to say about words that name a subcommand and do not fit it, too few to be a prompt; else "".

    A question is a sentence: whatever has more than one word behind the name goes to the model.
    """
    command, more = (words[0], words[1:]) if words else ("", ())
    if len(more) > 1 or any(len(word.split()) != 1 for word in more):
        return ""
    wanted = _WANTED.get(command)
    if wanted is None:
        return ""
    told = f"terp {command} {' '.join(more)}".rstrip()
    return f"'{told}' is no command: {wanted}. To ask the model: terp -- {' '.join(words)}"


def missed_by(words: Sequence[str]) -> str:
    """The usage of the subcommand that a prompt of one word misses by a letter; else ""."""
    if len(words) != 1:
        return ""
    near = (one for one in SUBCOMMANDS if _one_slip(one.name, words[0].lower()))
    return next((f"terp {one.name} {one.argument}".rstrip() for one in near), "")


def _one_slip(name: str, word: str) -> bool:
    """Whether one letter is missing, too many or another one, or two are swapped; never in a short name."""
    if len(name) < 4 or abs(len(name) - len(word)) > 1:
        return False
    start = _equal(name, word)
    end = _equal(name[start:][::-1], word[start:][::-1])
    left, right = name[start : len(name) - end], word[start : len(word) - end]
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])


def _equal(one: str, other: str) -> int:
    """How many letters are the same from the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _fits(verb: str, more: Sequence[str]) -> bool:
    """Whether these words are a command about sessions; one that lacks its argument is, too."""
    most = {"list": 0, "prune": 0, "show": 1}
    return verb in SESSION_VERBS and len(more) <= most.get(verb, len(more))


def _names_code(argument: str) -> bool:
    path = Path(argument)
    return (
        argument == "-" or path.is_file() or (path.suffix.lower() in _CODE_SUFFIXES and " " not in argument)
    )
