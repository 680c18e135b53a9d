"""A reply with fenced blocks of code, read as one with tool calls.

The rules follow CommonMark:

- A fence is a line of three or more backticks or tildes, at any indentation. The first word after it
  names the language. Blocks in a language that cannot run, or in none, are prose and stay verbatim.
- A bare fence of the same character closes a block, if it is at least as long and not indented four
  columns deeper than the opening. A longer opening fence therefore protects fences in the code.
- Inside a triple-quoted Python string, or a here-document of the shell, a closing fence may belong to the
  code. The block then continues to the next closing fence outside a string. If there is none, the first
  one closed it after all, and the text behind it is read again without this rule.
- Lines of code lose the indentation of their opening fence. The line end before the closing fence is
  no part of the code.
- A block that is nothing but `tool_call(…)` is how some models print a call: it is prose here.

The result does not depend on how the text is cut into pieces.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from enum import Enum, auto
from typing import Protocol

from terp.events.messages import Assistant, ToolCall
from terp.events.model import CallDelta, Chunk, Replied, Retrying, TextChunk
from terp.models.repair.control_tokens import ControlTokenFilter
from terp.models.tool import NAME, tool_call
from terp.text.dataclasses import dataclass
from terp.text.fences import LONGEST_FENCE_LINE, MAY_BECOME_CLOSING, MAY_BECOME_OPENING, Fence, opening_fence
from terp.text.languages import language_of

_CUT_OFF = ("length", "max_tokens")
_PYTHON_TOKEN = re.compile(r"""\#.* | '{3} | "{3} | '(?:\\.|[^'\\])*+'? | "(?:\\.|[^"\\])*+"? """, re.VERBOSE)
_PYTHON_STRING_END = {mark: re.compile(rf"(?:\\.?|(?!{mark})[^\\])*+{mark}") for mark in ("'''", '"""')}
_HEREDOC = re.compile(r"""(?<!<)<<(?P<dash>-?)[ \t]*(?P<quote>['"\\]?)(?P<word>[A-Za-z_][\w.-]*)""")
_PRINTED_CALL = "tool_call("
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class OpenString(Protocol):
    """Tracks, line by line, whether code is inside a string."""

    @property
    def is_open(self) -> bool:
        """Return True if the lines so far end inside a string."""

    def add(self, line: str) -> None:
        """Follow one more line, given without its end."""


class PythonString:
    """Python's triple-quoted strings."""

    def __init__(self) -> None:
        self._mark = ""

    @property
    def is_open(self) -> bool:
        """Return True if a triple quote has not been closed."""
        return bool(self._mark)

    def add(self, line: str) -> None:
        """Follow one more line."""
        at = 0
        while True:
            pattern = _PYTHON_STRING_END[self._mark] if self._mark else _PYTHON_TOKEN
            token = pattern.match(line, at) if self._mark else pattern.search(line, at)
            if token is None:
                return
            at = token.end()
            self._mark = "" if self._mark else token[0] if token[0] in _PYTHON_STRING_END else ""


class ShellHeredoc:
    """The shell's here-documents, as in `cat > README.md <<'END'`."""

    def __init__(self) -> None:
        self._ends: tuple[tuple[str, bool], ...] = ()

    @property
    def is_open(self) -> bool:
        """Return True until the line that ends a here-document."""
        return bool(self._ends)

    def add(self, line: str) -> None:
        """Follow one more line."""
        if not self._ends:
            self._ends = tuple((found["word"], bool(found["dash"])) for found in _HEREDOC.finditer(line))
            return
        word, indented = self._ends[0]
        if (line.lstrip("\t") if indented else line).rstrip("\r") == word:
            self._ends = self._ends[1:]


class NoString:
    """A language whose strings are not followed: a closing fence always closes."""

    is_open = False

    def add(self, line: str) -> None:
        """Ignore the line."""


def open_string(language: str) -> OpenString:
    """Return the tracker for the strings of a language."""
    match language_of(language, ("python", "shell")):
        case "python":
            return PythonString()
        case "shell":
            return ShellHeredoc()
        case _:
            return NoString()


@dataclass(frozen=True, slots=True)
class ProsePiece:
    """Text outside of code that can run."""

    text: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A block of code begins."""

    language: str


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of the block's code."""

    text: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The block is complete."""


Piece = ProsePiece | Opened | Code | Closed


class _Mode(Enum):
    PROSE = auto()
    QUOTED = auto()  # inside a block that cannot run
    OPENING = auto()  # after the fence of a block that can, before its first code
    CODE = auto()
    DOUBTFUL = auto()  # after a closing fence that may be part of a string


class FenceScanner:
    """Splits text into prose and blocks of code. `language_of` returns the language of a word, or ""."""

    def __init__(self, language_of: Callable[[str], str]) -> None:
        self._language_of = language_of
        self._mode = _Mode.PROSE
        self._fence = Fence("", "```")
        self._language = ""
        self._pieces: list[Piece] = []
        self._line: list[str] = []  # the begun line, as long as it may be a fence
        self._passing = False  # the rest of the line is known to be none
        self._kept: list[str] = []  # OPENING, DOUBTFUL: the lines from the fence on
        self._first_line = True
        self._code_line: list[str] = []
        self._string: OpenString = open_string("")
        self._trial: OpenString = open_string("")
        self._strings_count = True

    @property
    def in_code(self) -> bool:
        """Return True if a block of code is open; after `finish`, if its closing fence is missing."""
        return self._mode in (_Mode.CODE, _Mode.DOUBTFUL)

    def feed(self, text: str) -> list[Piece]:
        """Return the pieces that `text` completes."""
        self._read(text)
        pieces, self._pieces = self._pieces, []
        return pieces

    def finish(self) -> list[Piece]:
        """Return the pieces that were held back; a block still open after it is the reply's last."""
        self._end_line()
        if self._mode is _Mode.OPENING:
            code = "".join(self._kept[1:])
            self._begin(_Mode.CODE if code.strip() else _Mode.PROSE, code)
            self._end_line()
        if self._mode is _Mode.DOUBTFUL:
            # No later fence made the string whole: the first one closed the block.
            self._pieces.append(Closed())
            self._mode, self._strings_count = _Mode.PROSE, False
            self._read("".join(self._kept[1:]))
            return self.finish()
        return self.feed("")

    def _read(self, text: str) -> None:
        for part in _LINE.findall(text):
            if self._mode is _Mode.OPENING:
                self._kept.append(part)
                self._look_at_first_code()
            elif self._passing:
                self._pass(part)
            else:
                self._line.append(part)
                self._look_at_line(part)

    def _look_at_line(self, part: str) -> None:
        if part.endswith("\n"):
            self._end_line()
        elif self._mode is not _Mode.DOUBTFUL:
            begun = "".join(self._line)
            pattern = MAY_BECOME_OPENING if self._mode is _Mode.PROSE else MAY_BECOME_CLOSING
            if len(begun) > LONGEST_FENCE_LINE or not pattern.fullmatch(begun):
                self._line = []
                self._pass(begun)

    def _end_line(self) -> None:
        """Handle the line that was held back: it is complete, or the reply's last."""
        line, self._line = "".join(self._line), []
        if not line:
            return
        bare = line.removesuffix("\n")
        match self._mode:
            case _Mode.PROSE if (opening := opening_fence(bare)) is not None:
                self._open(opening, line)
            case _Mode.DOUBTFUL:
                self._doubt(line)
            case _Mode.CODE if self._fence.is_closed_by(bare):
                self._close(line)
            case _Mode.QUOTED if self._fence.is_closed_by(bare):
                self._pass(line)
                self._mode = _Mode.PROSE
            case _:
                self._pass(line)

    def _open(self, opening: Fence, line: str) -> None:
        self._fence = opening
        self._language = self._language_of(opening.language) if opening.language else ""
        if self._language:
            self._mode, self._kept = _Mode.OPENING, [line]
        else:
            self._mode = _Mode.QUOTED
            self._pass(line)

    def _look_at_first_code(self) -> None:
        code = "".join(self._kept[1:])
        begun = code.lstrip()
        if len(code) - len(begun) <= LONGEST_FENCE_LINE and _PRINTED_CALL.startswith(begun):
            return
        printed = begun.startswith(_PRINTED_CALL) and len(code) - len(begun) <= LONGEST_FENCE_LINE
        self._begin(_Mode.QUOTED if printed else _Mode.CODE, code)

    def _begin(self, mode: _Mode, code: str) -> None:
        """Begin the opened block, whose language is now known; `code` is the received part."""
        self._mode = mode
        self._pieces.append(Opened(self._language) if mode is _Mode.CODE else ProsePiece(self._kept[0]))
        self._first_line, self._code_line = True, []
        self._string = open_string(self._language if self._strings_count else "")
        self._read(code)

    def _close(self, line: str) -> None:
        if not self._string.is_open:
            self._pieces.append(Closed())
            self._mode = _Mode.PROSE
            return
        self._mode, self._kept, self._trial = _Mode.DOUBTFUL, [line], copy(self._string)
        self._trial.add(self._dedented(line.removesuffix("\n")))

    def _doubt(self, line: str) -> None:
        bare = line.removesuffix("\n")
        if not self._fence.is_closed_by(bare) or self._trial.is_open:
            self._kept.append(line)
            self._trial.add(self._dedented(bare))
            return
        self._mode = _Mode.CODE
        for kept in self._kept:
            self._pass(kept)
        self._pieces.append(Closed())
        self._mode = _Mode.PROSE

    def _pass(self, part: str) -> None:
        """Pass on a line, or a part of one, that is no fence."""
        begins, self._passing = not self._passing, not part.endswith("\n")
        if self._mode is not _Mode.CODE:
            self._pieces.append(ProsePiece(part))
            return
        text = part.removesuffix("\n")
        self._code_line.append(text)
        if begins:
            text = ("" if self._first_line else "\n") + self._dedented(text)
            self._first_line = False
        if not self._passing:
            self._string.add(self._dedented("".join(self._code_line)))
            self._code_line = []
        if text:
            self._pieces.append(Code(text))

    def _dedented(self, line: str) -> str:
        indent = self._fence.indent
        if line.startswith(indent):
            return line[len(indent) :]
        return line[min(len(indent), len(line) - len(line.lstrip(" \t"))) :]


class FencedReply:
    """Converter of the chunks of one reply: fenced blocks become tool calls."""

    def __init__(self, languages: Sequence[str], ids: Iterator[str]) -> None:
        self._languages = languages
        self._ids = ids
        self._begin()

    def _begin(self) -> None:
        self._tokens = ControlTokenFilter()
        self._scanner = FenceScanner(lambda word: language_of(word, self._languages))
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._theirs: dict[int, _Call] = {}

    def take(self, chunk: Chunk) -> Iterator[Chunk]:
        """Yield the chunks for one chunk of the wrapped model."""
        match chunk:
            case TextChunk(text=text):
                yield from self._translated(self._scanner.feed(self._tokens.feed(text)))
            case CallDelta():
                yield self._their_call(chunk)
            case Replied():
                yield from self._translated(self._scanner.feed(self._tokens.finish()))
                yield from self._translated(self._scanner.finish())
                yield from self._ended(chunk)
            case Retrying():
                self._begin()
                yield chunk
            case _:
                yield chunk

    def _translated(self, pieces: Sequence[Piece]) -> Iterator[Chunk]:
        for piece in pieces:
            match piece:
                case ProsePiece(text=text):
                    self._text.append(text)
                    yield TextChunk(text)
                case Opened(language=language):
                    self._calls.append(_Call(len(self._calls), NAME))
                    yield self._calls[-1].add(f'{{"language": {_quoted(language)}, "code": "')
                case Code(text=code):
                    yield self._calls[-1].add(_quoted(code)[1:-1])
                case Closed():
                    yield self._calls[-1].add('"}')

    def _their_call(self, delta: CallDelta) -> Chunk:
        if delta.position not in self._theirs:
            self._theirs[delta.position] = _Call(len(self._calls), delta.name)
            self._calls.append(self._theirs[delta.position])
        return self._theirs[delta.position].add(delta.arguments)

    def _ended(self, replied: Replied) -> Iterator[Chunk]:
        # A reply that simply stops has forgotten the fence; one that was cut off has not said it all.
        if self._scanner.in_code and replied.finish_reason not in _CUT_OFF:
            yield from self._translated([Closed()])
        message = replied.message
        for position, call in self._theirs.items():
            call.complete = message.calls[position]
        calls = tuple(call.complete or call.built(next(self._ids)) for call in self._calls)
        ended = Assistant("".join(self._text), calls, message.reasoning, message.extras)
        yield Replied(ended, replied.finish_reason)


class _Call:
    """One call of the reply while its pieces arrive."""

    def __init__(self, position: int, name: str) -> None:
        self._position = position
        self._name = name
        self._arguments: list[str] = []
        self.complete: ToolCall | None = None

    def add(self, arguments: str) -> CallDelta:
        """Return the chunk for the next piece of the arguments."""
        self._arguments.append(arguments)
        return CallDelta(self._position, self._name if len(self._arguments) == 1 else "", arguments)

    def built(self, call_id: str) -> ToolCall:
        """Return the call for the history; one that was cut off keeps its text, and is refused later."""
        return tool_call(call_id, self._name, "".join(self._arguments))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
