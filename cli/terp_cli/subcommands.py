"""The first words that are commands, if what follows them fits; else they begin a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SHELLS = ("bash", "zsh", "fish")
SESSION_VERBS = {"list": "", "show": "ID", "search": "WORDS", "rm": "ID…", "prune": ""}
EXPORTS = ("ipynb", "py", "md", "html")
WITH_IDS = ("show", "rm")
_CODE_SUFFIXES = frozenset({".py", ".sh", ".js", ".ts", ".r", ".jl", ".rb"})


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
    Subcommand("completions", "SHELL", f"what {', '.join(SHELLS)} need to complete flags"),
)


def called_by(words: Sequence[str], *, in_language: bool) -> tuple[str, str]:
    """The subcommand that the words of a command line call and its argument; empty for a prompt.

    `in_language` is whether the language of code was given, so that any file may hold it.
    """
    match words:
        case ["demo" | "doctor" | "languages" | "profiles" | "tools" as command]:
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


def _fits(verb: str, more: Sequence[str]) -> bool:
    """Whether these words are a command about sessions; one that lacks its argument is, too."""
    most = {"list": 0, "prune": 0, "show": 1}
    return verb in SESSION_VERBS and len(more) <= most.get(verb, len(more))


def _names_code(argument: str) -> bool:
    path = Path(argument)
    return (
        argument == "-" or path.is_file() or (path.suffix.lower() in _CODE_SUFFIXES and " " not in argument)
    )
