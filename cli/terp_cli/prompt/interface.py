"""The interface between a prompt and a conversation: messages, answers, completions, the toolbar."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from terp.text.dataclasses import dataclass
from terp_cli.terminal.rows import width_of

if TYPE_CHECKING:
    import ast

    from terp.person import Option

T = TypeVar("T")

BAR = "▌ "
"""Stands before each row of an entered message in the scrollback."""
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
"""A completion, and a description of it."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A row to pick: its cells, in columns.

    `also` is searched too. `preview` returns lines that are shown beside the list where it is wide enough.
    """

    cells: tuple[str, ...]
    also: str = ""
    preview: Callable[[], str] | None = None


def matching(picks: "Sequence[Pick]", text: str) -> list[int]:
    """Return the positions of the rows that contain every word of `text`, ignoring case."""
    words = text.lower().split()
    searched = (f"{' '.join(pick.cells)} {pick.also}".lower() for pick in picks)
    return [at for at, line in enumerate(searched) if all(word in line for word in words)]


@dataclass(frozen=True, slots=True)
class Typed:
    """An entered line; `pasted` if a part of it was not typed."""

    text: str
    pasted: bool


@dataclass(frozen=True, slots=True)
class ToolbarPart:
    """A fact on the last line of the screen. Of those without room, the highest `rank` goes first; 0 stays.

    `style` is a class of the prompt's styles.
    """

    text: str
    rank: int = 0
    style: Literal["quiet", "warning", "bad"] = "quiet"


def fitted(parts: Sequence[ToolbarPart], width: int) -> Sequence[ToolbarPart]:
    """Return the parts that fit, with " · " between them, into a row of `width` cells."""
    while parts and sum(width_of(part.text) + 3 for part in parts) - 3 > width:
        last = max(parts, key=lambda part: part.rank)
        if not last.rank:
            break
        parts = [part for part in parts if part is not last]
    return parts


CardLine = tuple[Literal["", "warning", "quiet", "question"], str]
"""A style of the prompt, and a line of a question."""


class PromptHost:
    """The object behind an input line; this base class serves while the session is still being opened.

    It takes the entered lines and the keys for a running turn, completes words, and writes the toolbar.
    """

    completes = False
    """True if words are completed on the line."""
    busy = False
    """True while a turn is running."""

    def __init__(self, history: Path, *, vi_mode: bool = False) -> None:
        """Take the file of entered lines, and the editing mode."""
        self.history = history
        self.vi_mode = vi_mode

    @property
    def cwd(self) -> Path:
        """The directory of the files that are completed."""
        return Path()

    def toolbar(self) -> Sequence[ToolbarPart]:
        """Return the last line of the screen."""
        return ()

    def begin(self) -> None:
        """Prepare for the first key; called just before it is read."""

    def typed(self) -> None:
        """Handle a key."""

    def interrupt(self) -> None:
        """Interrupt the running turn."""

    def is_repeated(self) -> bool:
        """Return True if a Ctrl-C at this moment belongs to a turn that was interrupted."""
        return False

    def run_at_once(self, line: str) -> bool:
        """Run a line now if it need not wait for the end of the turn; return True if it was run."""
        return False

    async def copied_picture(self) -> str:
        """Return a mention of the picture on the clipboard, now a file; "" if there is none."""
        return ""

    def whole_output(self) -> str:
        """Return the command that shows all output of the last run; "" without any."""
        return ""

    def may_leave(self) -> bool:
        """Return True if the user may leave now."""
        return True

    def suspends(self) -> bool:
        """Handle Ctrl-Z; return False if the program is to be stopped."""
        return False

    def without_secrets(self, text: str) -> str:
        """Return an entered line, redacted, as it is written to the history."""
        return text

    def commands(self) -> Iterable[Word]:
        """Return the commands."""
        return ()

    def arguments(self, name: str, begun: str) -> Iterable[Word]:
        """Return the arguments of a command that begin with this text."""
        return ()

    async def names(self) -> Sequence[Word]:
        """Return the variables of the kernels, with their types."""
        return ()

    async def code(self, language: str, code: str) -> Sequence[str]:
        """Return completions at the end of `code`."""
        return ()


def goes_on(text: str) -> bool:
    '''Return True if a message is incomplete: an open """ block, a backslash at its end, or open code.'''
    if is_code(text):
        return code_goes_on(text)
    return text.count('"""') % 2 == 1 or _CONTINUED.search(text + "\n", len(text) - 1) is not None


def margin(text: str, mark: str) -> str:
    """Return the prefix of the second and later lines of a message; `mark` is that of the first."""
    return " " * len(mark) + (f"{GOES_ON} " if is_code(text) else "")


def typed_code(message: str, languages: Sequence[str]) -> tuple[str, str] | None:
    """Return language and code of a message that is code (`!command` or `>>> code`), else None.

    `%% command`, with or without the space, is Open Interpreter's form of `!command`; `%%time` and other cell
    magics are IPython's.
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
    """Return a hint for a message that can only be a slip: a single letter; else ""."""
    word = message.strip()
    if len(word) == 1 and word.lower() != word.upper():
        return f"Nothing was sent: no question is open that '{word}' could answer. What did you mean?"
    return ""


def unmarked(text: str) -> str:
    '''Return a message without the backslashes at its line ends and the """ around it.'''
    if is_code(text.strip()):
        return text.strip()
    # A leading space makes a command line a message.
    escaped = text[:1] == " " and text.strip()[:1] in ("/", "%")
    text = f"{' ' * escaped}{text.strip()}"
    if len(text) >= 6 and text.startswith('"""') and text.endswith('"""'):
        return text[3:-3].strip("\n")
    return _CONTINUED.sub("\n", text)


# A press within this time after an interrupted turn ended is one more for that turn.
_IMPATIENCE_S = 1.0


class CtrlCDebounce:
    """Separates repeated presses of Ctrl-C for one turn from a press at the prompt."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._stopping = False
        self._last = -_IMPATIENCE_S

    def interrupted(self) -> None:
        """Note that Ctrl-C interrupted a turn."""
        self._stopping = True

    def ended(self) -> None:
        """Note that the turn ended."""
        if self._stopping:
            self._stopping = False
            self._last = self._clock()

    def repeats(self) -> bool:
        """Return True if a press at this moment belongs to the turn that was interrupted."""
        now = self._clock()
        if now - self._last >= _IMPATIENCE_S:
            return False
        self._last = now
        return True


def lettered(options: "Sequence[Option]") -> str:
    """Return the options as shown: `[y]es · [n]o`; a letter that does not begin the words comes first."""
    return " · ".join(
        f"[{option.letter}]{option.does[1:] if option.does.startswith(option.letter) else ' ' + option.does}"
        for option in options
    )


def numbered(choices: "Sequence[Option]", *, free: str = "") -> str:
    """Return the choices as one sentence for a screen reader; `free` describes any longer answer."""
    said = ", ".join(
        f"{number} or {choice.letter}: {choice.does}" for number, choice in enumerate(choices, 1)
    )
    longer = f" {free[0].upper()}{free[1:].rstrip('.')}." if free else ""
    return f"{said}.{longer} Type the number or the letter and press Enter: "


def letter_of(answer: str, choices: "Sequence[Option]") -> str:
    """Return the letter for a number; any other answer unchanged."""
    text = answer.strip()
    if text.isascii() and text.isdigit() and 0 < int(text) <= len(choices):
        return choices[int(text) - 1].letter
    return answer


class PromptReader(Protocol):
    """Reader of messages in a REPL, and of answers to questions at any time.

    `PromptApp` draws the bottom lines of the screen; `LinePrompt` reads and writes single lines.
    """

    @property
    def width(self) -> int:
        """Cells of a row."""

    def reading(self, host: PromptHost) -> AbstractAsyncContextManager[None]:
        """Read messages until the block is left, also while turns are running."""

    async def message(self) -> str:
        """Return the next message.

        Raises:
            EOFError: the user leaves, or the terminal is gone.
        """

    async def line(
        self, question: str, *, secret: bool = False, fresh: bool = True, escape: str = ""
    ) -> Typed:
        """Return the line entered after `question`; `fresh` discards keys typed before it.

        `escape` is the answer of the Esc key on an empty line.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            EOFError: Ctrl-D on an empty line, or the terminal is gone.
        """

    async def pick(self, title: str, picks: Sequence[Pick], at: int = 0) -> int | None:
        """Return the position of the row that the user picks, beginning at row `at`; None if they leave."""

    async def choose(
        self, card: "Sequence[CardLine]", options: "Sequence[Option]", *, escape: str = "", preset: str = ""
    ) -> Typed:
        """Return the answer to the question on `card`: a key of the options, `?`, or an entered line.

        Where keys are read one by one, a key alone on the line answers, and the card leaves the screen.
        `escape` is the answer of the Esc key, `preset` that of Enter, on an empty line. Raises as `line`.
        """

    def settle(self, text: str) -> None:
        """Write the outcome of a question, if its card has left the screen."""

    async def edited(self, text: str) -> str | None:
        """Return `text` as the user edits it here; None if they give up."""

    async def edited_with(self, editor: str, text: str, language: str) -> str | None:
        """Return `text` as edited with the program `editor`; None if it fails."""

    async def away(self, do: Callable[[], T]) -> T:
        """Run `do`, which uses the terminal, in a thread; return its result."""

    def redraw(self) -> None:
        """Handle, while away, that the terminal is another one now: write the last rows again."""

    def say(self, text: str) -> None:
        """Write plain lines of terp."""

    def prefill(self, text: str) -> None:
        """Put `text` on the input line, for the user to edit."""

    def refresh(self) -> None:
        """Redraw the toolbar."""

    def emit(self, sequence: str) -> None:
        """Write a sequence that draws nothing."""

    def interrupted(self) -> None:
        """Handle Ctrl-C as a signal, while no turn is running."""

    def take_back(self) -> None:
        """Drop the queued messages: the user has interrupted the turn."""

    def close(self) -> None:
        """Close the terminal."""


SHELL = "!"
MARK, GOES_ON = ">>>", "..."
INDENT = "    "
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.)(?: |$)")
_TYPED_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?")
# Lines of IPython's syntax, which count as a statement here.
_MAGIC_LINE = re.compile(r"^([ \t]*)(?:%(?!%)|[!?]).*$", re.MULTILINE)
_LEAVES = re.compile(r"\s*(?:return|pass|break|continue|raise)\b")
_COMMENT = re.compile(r"\s*#.*$")


def is_code(message: str) -> bool:
    """Return True if a message is Python code of the user."""
    return message.startswith(MARK)


def code_of(message: str) -> str:
    """Return the code of such a message: its lines without their prompts."""
    return "\n".join(_TYPED_PROMPT.sub("", line) for line in message.split("\n"))


def code_goes_on(message: str) -> bool:
    """Return True if `>>> code` needs another line, as in Python's console.

    A block ends with an empty line. Text that cannot be Python is complete: the kernel reports the error.
    """
    code = _MAGIC_LINE.sub(r"\1pass", code_of(message))
    last = code.rsplit("\n", 1)[-1]
    if code.startswith("%%"):
        return bool(last.strip())
    try:
        return _compiled(code) is None or (last[:1].isspace() and bool(last.strip()) and _ends_in_block(code))
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return False


def indent_after(message: str) -> str:
    """Return the indent of the line after `>>> code`."""
    last = code_of(message).rsplit("\n", 1)[-1]
    indent = last[: len(last) - len(last.lstrip())]
    if _COMMENT.sub("", last).endswith(":"):
        return indent + INDENT
    return indent.removesuffix(INDENT) if _LEAVES.match(last) else indent


def at_indent(message_before: str) -> bool:
    """Return True if only white space is before the cursor on this line of `>>> code`."""
    return is_code(message_before) and not _TYPED_PROMPT.sub("", message_before.rsplit("\n", 1)[-1]).strip()


def pasted_code(pasted: str, before: str) -> str:
    """Return the text that a paste inserts after `before`: code without the prompts of a console.

    Output between several prompts is removed too, and output that is no Python.
    """
    lines = pasted.split("\n")
    starts_code = not before.strip() and is_code(pasted.lstrip())
    if not (starts_code or (is_code(before) and any(map(_PROMPT.match, lines)))):
        return pasted
    code = _without_prompts(lines)
    typed = _without_prompts([line for line in lines if _PROMPT.match(line)])
    if _is_python(typed) and (sum(is_code(line.lstrip()) for line in lines) > 1 or not _is_python(code)):
        code = typed
    return f"{MARK} {code}" if starts_code else code


def _without_prompts(lines: Sequence[str]) -> str:
    return "\n".join(_PROMPT.sub("", line, count=1) for line in lines).rstrip("\n")


def _is_python(code: str) -> bool:
    try:
        _tree(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _ends_in_block(code: str) -> bool:
    body = _tree(code).body
    return bool(body) and (hasattr(body[-1], "body") or hasattr(body[-1], "cases"))


def _tree(code: str) -> "ast.Module":
    import ast  # noqa: PLC0415  (the prompt is shown before any code)

    return ast.parse(_MAGIC_LINE.sub(r"\1pass", code))


def _compiled(code: str) -> object:
    import codeop  # noqa: PLC0415  (see above)
    from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT  # noqa: PLC0415

    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compiler(code, symbol="exec")
