"""What an input line needs to know of the conversation it is for, and what a message may be."""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from terp_cli.prompt.console_code import GOES_ON, code_goes_on, code_of, is_code

LEAVING = "Ctrl-C again leaves; so does Ctrl-D."
NOT_SENT = "Not sent: "
_CONTINUED = re.compile(r"(?<!\\)\\\n")
_SHELL_LINE = re.compile(r"%% *([^\s]+)")
_CELL_MAGICS = frozenset(
    """
    bash cache capture debug file html HTML javascript js latex markdown perl prun pypy python python2 python3
    ruby script sh svg SVG sx system time timeit writefile
    """.split()  # noqa: SIM905 - a table of names, to be read
)


Word = tuple[str, str]
"""What can be inserted, and a word about it."""


@dataclass(frozen=True)
class Sources:
    """Where completions come from.

    `commands` lists them by name; `arguments` those of a command line so far. `names` are the variables
    of the kernels with their types, `code` completes code of a language at its end. `cwd` is where the
    kernel is now.
    """

    commands: Callable[[], Iterable[Word]]
    arguments: Callable[[str, str], Iterable[Word]]
    names: Callable[[], Awaitable[Sequence[Word]]]
    code: Callable[[str, str], Awaitable[Sequence[str]]]
    cwd: Callable[[], Path]


@dataclass(frozen=True, slots=True)
class Typed:
    """A line as it was entered; `pasted` when any of it did not come from the keys."""

    text: str
    pasted: bool


def _never() -> bool:
    """Nothing was stopped."""
    return False


def _waits(_: str) -> bool:
    """Every line waits for its turn."""
    return False


def _always() -> bool:
    """Nothing keeps anybody here."""
    return True


def _no_one() -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class LineSettings:
    """A conversation, as far as the input line has to do with it.

    `busy` tells whether a turn is going on, which `interrupt` then stops; `one_more` tells whether a Ctrl-C
    of this moment is still for the turn that was stopped. `rewind` is what Esc Esc does on an empty line,
    and `typed` hears of keys. `at_once` does what a line says that does not wait for the end of the turn that
    goes on, and tells whether it was one; `may_leave` tells whether the person may leave yet. `history` is
    the file of what was typed, which is kept there as `without_secrets` leaves it. `begins` is called right
    before the keys are read.
    """

    history: Path
    toolbar: Callable[[], str]
    busy: Callable[[], bool]
    interrupt: Callable[[], None]
    one_more: Callable[[], bool] = _never
    rewind: Callable[[], None] = _no_one
    typed: Callable[[], None] = _no_one
    at_once: Callable[[str], bool] = _waits
    may_leave: Callable[[], bool] = _always
    begins: Callable[[], None] = _no_one
    sources: Sources | None = None
    vi_mode: bool = False
    without_secrets: Callable[[str], str] = str


def goes_on(text: str) -> bool:
    '''Whether a message is not complete: an open """ block, a backslash at its end, or code that goes on.'''
    if is_code(text):
        return code_goes_on(text)
    return text.count('"""') % 2 == 1 or _CONTINUED.search(text + "\n", len(text) - 1) is not None


def margin(text: str, mark: str) -> str:
    """What stands before the lines of a message after its first, where `mark` stands before that one."""
    return " " * len(mark) + (f"{GOES_ON} " if is_code(text) else "")


def typed_code(message: str, languages: Sequence[str]) -> tuple[str, str] | None:
    """The language and the code of a message that is code: `!command` or `>>> code`; else None.

    `%% command` is what Open Interpreter calls `!command`, with or without the space; `%%time` and its like
    are IPython's.
    """
    if (found := _SHELL_LINE.match(message)) and found[1] not in _CELL_MAGICS:
        message = f"!{message[2:].lstrip()}"
    if is_code(message):
        return "python", code_of(message)
    if message.startswith("!") and message[1:].strip():
        # Without a shell, IPython starts one for the line.
        return ("shell", message[1:].strip()) if "shell" in languages else ("python", message)
    return None


def unclear(message: str) -> str:
    """The remedy for a message that can only be a slip: a letter that answers no question, or `!` alone."""
    word = message.strip()
    if word == "!":
        return "Nothing was sent. ! runs a command of the shell: !ls"
    if len(word) == 1 and word.lower() != word.upper():
        return f"Nothing was sent: no question is open that '{word}' could answer. What did you mean?"
    return ""


def unmarked(text: str) -> str:
    '''A message without the backslashes at its line ends and the """ around it.'''
    if is_code(text.strip()):
        return text.strip()
    # A blank before it makes a message of what would be a command.
    escaped = text[:1] == " " and text.strip()[:1] in ("/", "%")
    text = f"{' ' * escaped}{text.strip()}"
    if len(text) >= 6 and text.startswith('"""') and text.endswith('"""'):
        return text[3:-3].strip("\n")
    return _CONTINUED.sub("\n", text)
