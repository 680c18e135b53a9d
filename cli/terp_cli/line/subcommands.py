"""The subcommands, their arguments, and the messages for words that do not fit them."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from terp.text.dataclasses import dataclass

SHELLS = ("bash", "zsh", "fish")
NEWEST = "newest"
LAST = "last"
"""The name of the newest detached session."""
EXPORTS = ("ipynb", "py", "md", "html")
_ANY = 1_000
_SESSION = re.compile(r"\d{4}-\d\d(-[0-9a-f]*)*")
"""The id of a session, or the beginning of one."""
_CODE_SUFFIXES = frozenset({".py", ".sh", ".js", ".ts", ".r", ".jl", ".rb"})


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb of a subcommand (`terp keys set`): its argument, and the least and most number of words."""

    about: str = ""
    argument: str = ""
    least: int = 0
    most: int = 0
    offers: Literal["", "session", "profile", "file", "provider"] = ""


VERBS: Mapping[str, Mapping[str, Verb]] = {
    "sessions": {
        "list": Verb("the sessions of this directory"),
        "show": Verb("a whole session", "ID", 1, 1, "session"),
        "search": Verb("sessions with these words", "WORDS", 1, _ANY),
        "rm": Verb("delete sessions", "ID…", 1, _ANY, "session"),
        "prune": Verb("delete the oldest, down to session_quota_mb"),
        "import": Verb("messages.json of Open Interpreter", "FILE", 1, 1, "file"),
    },
    "profiles": {
        "list": Verb("names and descriptions"),
        "show": Verb("the settings and their sources", "NAME", 1, 1, "profile"),
        "new": Verb("create a file", "NAME", 1, 1),
        "edit": Verb("open the file in your editor", "[NAME]", 0, 1, "profile"),
        "validate": Verb("find mistakes", "[NAME|FILE…]", 0, _ANY, "profile"),
        "diff": Verb("compare with another, or the default", "NAME [NAME]", 1, 2, "profile"),
        "path": Verb("the path of the file", "[NAME]", 0, 1, "profile"),
        "import": Verb("a profile of Open Interpreter", "FILE [NAME]", 1, 2, "file"),
    },
    "skills": {
        "list": Verb("the skills that the model can read"),
        "check": Verb("find mistakes, also in a folder of skills", "[FOLDER…]", 0, _ANY, "file"),
    },
    "trust": {
        "ask": Verb("show what a project would change, and ask", "[DIR]", 0, 1, "file"),
        "show": Verb("only show it", "[DIR]", 0, 1, "file"),
        "yes": Verb("trust the project as it is now", "[DIR]", 0, 1, "file"),
        "no": Verb("do not, and do not ask again", "[DIR]", 0, 1, "file"),
        "list": Verb("the decisions so far"),
        "remove": Verb("forget a decision", "[DIR…]", 0, _ANY, "file"),
    },
    "rules": {
        "list": Verb("the rules in effect"),
        # Code without quotes around it must not become a prompt.
        "test": Verb("the decision about a piece of code", "CODE|-", 1, _ANY),
    },
    "cost": {
        "month": Verb("this month, or another", "[YYYY-MM]", 0, 1),
        "days": Verb("each day of a month", "[YYYY-MM]", 0, 1),
        "all": Verb("each month"),
    },
    "ps": {
        "list": Verb("the detached sessions, and what each does"),
        "stop": Verb("end detached sessions; terp -r continues their conversations", "ID…", 1, _ANY),
    },
    "keys": {
        "list": Verb("the providers, and which have a key"),
        # A key behind it must not become a prompt.
        "set": Verb("ask for a key, and store it", "PROVIDER", 1, _ANY, "provider"),
        "delete": Verb("remove a stored key", "PROVIDER", 1, 1, "provider"),
    },
}
"""The subcommands with verbs; the first verb is the default."""


def _takes(command: str) -> str:
    verbs = (f"{verb} {row.argument}".rstrip() for verb, row in VERBS[command].items())
    return f"it takes {', '.join(verbs)}"


_ELSEWHERE = {"version": "use terp --version", "help": "it takes a command, or all"}
"""Commands of other programs that are flags here; with several words after it, one begins a prompt."""


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A line of `--help`: the name, the argument, and a description.

    `flags` names the rows of the flags that belong to it, `example` is a call of it. The shortest help only
    names a command that is not `usual`.
    """

    name: str
    argument: str
    about: str
    flags: tuple[str, ...] = ()
    example: str = ""
    usual: bool = True


_CODE = ("auto_run", "sandbox", "python", "cwd")
SUBCOMMANDS = (
    Subcommand(
        "run", "FILE|-", "run code in the kernel, without a model",
        ("language", *_CODE, "run_timeout_s", "out"), "echo '1+1' | terp run -",
    ),
    Subcommand(
        "solve", "DIR|FILE|-", "write a solution for a problem with tests",
        ("model", *_CODE, "max_revisions", "solve_timeout_s", "output_format"), "terp solve ./two-sum",
    ),
    Subcommand(
        "attach", "[NAME] […]", "a detached session (last), or a kernel of Jupyter",
        ("model", "auto_run", "interactive"), "terp attach plots.ipynb 'what is df?'",
    ),
    Subcommand("ps", "…", "detached sessions: list, stop", ("output_format",), "terp ps", usual=False),
    Subcommand("demo", "", "a tour without key or network", example="terp demo"),
    Subcommand(
        "docs", "[PAGE]", "list the pages of documentation, or show one", ("plain",), "terp docs rules"
    ),
    Subcommand(
        "doctor", "", "check the installation; name problems and remedies", ("profile",), "terp doctor"
    ),
    Subcommand(
        "languages", "", "list languages, and how to install the missing ones", example="terp languages",
        usual=False,
    ),
    Subcommand(
        "tools", "", "list the functions that the model can call", ("tools",), "terp tools", usual=False
    ),
    Subcommand(
        "skills", "…", "instructions that the model finds: list, check",
        example="terp skills check ~/.agents/skills", usual=False,
    ),
    Subcommand(
        "mcp", "", "list the MCP servers and their functions", ("profile",), "terp mcp -p work", usual=False
    ),
    Subcommand(
        "mcp-server", "", "a live kernel for other agents (MCP)",
        ("watch", "host", "port", "approve", *_CODE, "allow_remote", "max_sessions", "idle_timeout"),
        "claude mcp add terp -- terp mcp-server", usual=False,
    ),
    Subcommand(
        "profiles", "…", "named sets of settings: list, show, new, edit, …", example="terp profiles new work"
    ),
    Subcommand(
        "trust", "…", "trust the files of a project, or not", ("output_format",), "terp trust show ~/project"
    ),
    Subcommand(
        "rules", "…", "rules that allow, ask or deny code: list, test",
        ("language", "profile", "output_format"), "terp rules test 'git push'",
    ),
    Subcommand("keys", "…", "the keys of providers: list, set, delete", example="terp keys set anthropic"),
    Subcommand(
        "sessions", "…", "earlier conversations: list, show, search, rm, …",
        ("all", "verbose", "output_format"), "terp sessions search sales",
    ),
    Subcommand(
        "cost", "…", "costs of models, by profile: month, days, all", ("output_format",), "terp cost days"
    ),
    Subcommand(
        "replay", "ID|FILE", "run the code of a session again, and compare (--fresh)",
        ("fresh", *_CODE), "terp replay --fresh 2026-11",
    ),
    Subcommand(
        "export", "FORMAT", f"write a session as {', '.join(EXPORTS)}", ("out",), "terp export ipynb 2026-11"
    ),
    Subcommand(
        "serve", "", "sessions over HTTP and WebSocket",
        ("model", "auto_run", "host", "port", "allow_remote", "compat", "compat_unsafe", "max_sessions",
         "idle_timeout"),
        "terp serve --port 8080",
    ),
    Subcommand(
        "acp", "", "sessions in an editor (Agent Client Protocol)",
        ("model", "profile", "auto_run", "sandbox", "python"), "terp acp -p work", usual=False,
    ),
    Subcommand(
        "completions", "SHELL", f"completion of flags for {', '.join(SHELLS)}",
        example='eval "$(terp completions bash)"', usual=False,
    ),
)  # fmt: skip


_WANTED = {
    **{one.name: "it takes nothing" for one in SUBCOMMANDS if not one.argument},
    "run": "it takes an existing file, or - for stdin",
    "attach": "it takes last or the ID of a session; or a notebook, a file or the name of a kernel, "
    "and then a prompt",
    "acp": "it takes nothing but flags",
    "docs": "it takes the name of a page",
    "mcp-server": "it takes nothing but flags",
    "serve": "it takes nothing but flags",
    "solve": "it takes a folder, a .md or .py file, or - for stdin",
    **{command: _takes(command) for command in VERBS},
    "replay": "it takes the ID of a session, its folder, or a recording",
    "export": f"it takes {', '.join(EXPORTS)}, and then the ID of a session",
    "completions": f"it takes {', '.join(SHELLS)}",
    **_ELSEWHERE,
}
"""The arguments of each command, for messages."""

# terp solve -r has the problem of its session.
_ALONE = ("solve", *(one.name for one in SUBCOMMANDS if not one.argument or one.argument.startswith("[")))
"""The commands that need no argument."""


def called_by(words: Sequence[str], *, in_language: bool) -> tuple[str, str]:
    """Return the subcommand that the words call, and its argument; two empty strings for a prompt.

    `in_language`: the language of the code was given, so the file may have any extension.
    """
    match words:
        case ["attach", *rest] if _names_session(rest):
            return "attach", rest[0]
        case [command] if command in _ALONE:
            return command, ""
        case [command, *rest] if command in VERBS and (not rest or _fits(command, rest[0], rest[1:])):
            return command, rest[0] if rest else next(iter(VERBS[command]))
        case ["export", format_] | ["export", format_, _] if format_ in EXPORTS:
            return "export", format_
        case [command, argument] if _is_for(command, argument, in_language=in_language):
            return command, argument
    return "", ""


def _is_for(command: str, argument: str, *, in_language: bool) -> bool:
    """Return True if a command takes this word as its one argument."""
    match command:
        case "completions":
            return argument in SHELLS
        case "run":
            return in_language or _names_code(argument)
        case "docs" | "replay":
            return len(argument.split()) == 1
        case "solve":
            return _names_problem(argument)
    return False


def helped_by(words: Sequence[str], *, asks: bool) -> str | None:
    """Return the topic of the help that the words ask for, "" for the overview; None if they do not.

    `asks`: --help was given, so the first words name the command; else `help` comes before it.
    """
    named = list(words) if asks else list(words[1:])
    topics = ("all", *(one.name for one in SUBCOMMANDS))
    if asks:
        return named[0] if named and named[0] in topics else ""
    is_help = words[:1] == ["help"] and (not named or (len(named) == 1 and named[0] in topics))
    return "".join(named) if is_help else None


def attached_by(words: Sequence[str]) -> str:
    """Return the kernel that `attach` and the next word name, else ""; further words are a prompt."""
    if words[:1] != ["attach"]:
        return ""
    more = words[1:]
    if not more or _names_session(more):
        return ""
    alone = len(more) == 1 and len(more[0].split()) == 1
    return more[0] if alone or _names_kernel(more[0]) else ""


def mistaken(words: Sequence[str], *, in_language: bool) -> str:
    """Return a message for words that seem to be a mistaken subcommand, or "" if they are a prompt.

    The first word is the name of a subcommand; or it differs by one letter, and is the only word or fits the
    words after it. A first word with a space in it, such as a quoted prompt, never counts.
    """
    command, more = (words[0], words[1:]) if words else ("", ())
    ask = f"To ask the model: terp -- {shlex.join(words)}"
    if len(words) == 2 and command == "help" and (named := mistaken_topic(more[0])):
        return f"{named} {ask}"
    if command not in _WANTED:
        fits = (name for name in _meant(command) if not more or _follows(name, more, in_language=in_language))
        lines = (
            f"'{command}' is no command. Did you mean terp {shlex.join([name, *more])}?" for name in fits
        )
        return next((f"{line} {ask}" for line in lines), "")
    if verb := _meant_verb(command, more):
        return f"'terp {command} {more[0]}' is no command. Did you mean terp {command} {verb}? {ask}"
    if command in _ELSEWHERE and len(more) > 1:
        return ""
    return f"'terp {shlex.join(words)}' is no command: {_WANTED[command]}. {ask}"


def mistaken_topic(word: str) -> str:
    """Return a message for a topic of the help that differs from a command by one letter, else ""."""
    name = next(_meant(word), "")
    return f"'{word}' is no command. Did you mean terp help {name}?" if name else ""


def _meant(word: str) -> Iterator[str]:
    return (one.name for one in SUBCOMMANDS if _one_slip(one.name, word.lower()) and one.name != word)


def _follows(command: str, more: Sequence[str], *, in_language: bool) -> bool:
    """Return True if `more` begins with a verb of the subcommand, or is a valid argument of it."""
    if command in VERBS:
        return more[0] in VERBS[command]
    if command == "attach":
        return _names_kernel(more[0])
    is_any_word = command == "replay" and not (Path(more[0]).exists() or more[0][:1].isdigit())
    return bool(called_by([command, *more], in_language=in_language)[0]) and not is_any_word


def _meant_verb(command: str, more: Sequence[str]) -> str:
    """Return the verb that the first word misses by one letter, if the others fit it; else ""."""
    if not more:
        return ""
    rows = VERBS.get(command, {}).items()
    fitting = (verb for verb, row in rows if row.least < len(more) <= row.most + 1 and verb != more[0])
    return next((verb for verb in fitting if _one_slip(verb, more[0])), "")


def _one_slip(name: str, word: str) -> bool:
    """Return True for one letter missing, added or replaced, or two swapped; never for a short name."""
    if len(name) < 4 or abs(len(name) - len(word)) > 1:
        return False
    start = _equal(name, word)
    end = _equal(name[start:][::-1], word[start:][::-1])
    left, right = name[start : len(name) - end], word[start : len(word) - end]
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])


def _equal(one: str, other: str) -> int:
    """Return the number of equal letters at the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def lacking(command: str, verb: str, more: Sequence[str]) -> str:
    """Return a message for a verb without its argument, else ""."""
    row = VERBS.get(command, {}).get(verb, Verb())
    return f"terp {command} {verb} needs {row.argument}." if len(more) < row.least else ""


def _fits(command: str, verb: str, more: Sequence[str]) -> bool:
    """Return True if the words are a command, even without its argument."""
    return verb in VERBS[command] and len(more) <= VERBS[command][verb].most


def _names_session(words: Sequence[str]) -> bool:
    """Return True for `last`, or the id of a session."""
    return len(words) == 1 and (words[0] == LAST or bool(_SESSION.fullmatch(words[0])))


def _names_kernel(argument: str) -> bool:
    """Return True for a connection file, or the name of a kernel that has one."""
    from terp.kernels.attached.attachment import written  # noqa: PLC0415  (for one command only)

    path = Path(argument)
    if argument == NEWEST or path.suffix in (".json", ".ipynb") or path.is_file():
        return True
    return any(file.is_called(argument) for file in written(os.environ))


def _names_problem(argument: str) -> bool:
    path = Path(argument)
    meant = "/" in argument or path.suffix in (".md", ".py")
    return argument == "-" or path.exists() or (meant and len(argument.split()) == 1)


def _names_code(argument: str) -> bool:
    path = Path(argument)
    return (
        argument == "-" or path.is_file() or (path.suffix.lower() in _CODE_SUFFIXES and " " not in argument)
    )
