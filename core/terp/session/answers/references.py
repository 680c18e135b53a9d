"""References in an answer, such as `{{total:.2f}}`: found as text streams, and filled in by the kernel.

A reference is a name, keys written as literals, and a format of limited width. Calls, attributes and
operators are not in the grammar, so nothing is ever evaluated.
"""

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from terp.errors import UnknownLanguage
from terp.events.kernel import Kernels, WrittenValue
from terp.text.dataclasses import dataclass, field
from terp.text.fences import Fence, opening_fence
from terp.text.plain import mended

MAX_CHARS = 200
"""The longest reference, without its braces."""
_ESCAPED = r"""\\[\\'"nt]"""
_STRING = rf"""(?:"(?:[^"\\]|{_ESCAPED})*"|'(?:[^'\\]|{_ESCAPED})*')"""
_KEY = rf"(?:{_STRING}|[-+]?\d[\d_]*(?:\.\d+)?|True|False|None)"
_KEYS = rf"\[\s*{_KEY}(?:\s*,\s*{_KEY})*\s*,?\s*\]"
_REFERENCE = re.compile(rf"\s*(?P<name>[^\W\d]\w*)(?P<keys>(?:\s*{_KEYS})*)\s*(?::(?P<spec>[^{{}}]*))?")
_EACH_KEYS = re.compile(rf"{_KEYS}")
# Width and precision have two digits at most: ten digits of them would be gigabytes of text.
_NUMBER_FORMAT = re.compile(r"(?:.?[<>=^])?[-+ ]?z?#?0?\d{0,2}[,_]?(?:\.\d{1,2})?[bcdeEfFgGnosxX%]?")
_DATE_FORMAT = re.compile(r"(?=.*%)(?:%-?[A-Za-z%]|[^%]){1,40}")

_BEGUN = re.compile(rf"\{{\{{?|\{{\{{[^{{}}\r\n]{{1,{MAX_CHARS}}}\}}{{0,2}}")
_WHOLE = re.compile(rf"\{{\{{[^{{}}\r\n]{{1,{MAX_CHARS}}}\}}\}}")

# The marks of block quotes and list items, behind which a fence may stand.
_CONTAINERS = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*")
_BACKTICKS = re.compile(r"(\\*)(`+)")
# Before any of these, braces are something else: a template, a formula, the address of a link, an escape.
_NOT_AFTER = re.compile(r"(?:[\\${}^]|[^\s*_(]_|\]\([^()\s]*|\\[A-Za-z]{1,30})\Z")

_UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MARKUP = re.compile(
    r"[\\`*\[\]|~$]|<(?=[A-Za-z/!?])|&(?=#|\w+;)|(?<![^\W_])_|_(?![^\W_])"
    r"|\A(?:[>#=]|[-+](?![\d.]))"
)
_NUMBERED = re.compile(r"\A(\d{1,9})([.)])(?=\s|\Z)")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference as it is `written`, and its parts. A key is a literal, or a list of them for a tuple."""

    written: str
    name: str
    keys: tuple[Any, ...] = ()
    spec: str = ""


@dataclass(frozen=True, slots=True)
class InvalidReference:
    """Text in double braces that is no reference; `why` is a clause."""

    written: str
    why: str


Piece = str | Reference | InvalidReference


def parse_reference(written: str) -> Reference | InvalidReference:
    """Return the parts of `{{…}}`; none of it is evaluated."""
    found = _REFERENCE.fullmatch(written[2:-2])
    if found is None:
        return InvalidReference(
            written, "only a name, keys that are written out, and a format can be filled in"
        )
    spec = (found["spec"] or "").rstrip()
    if found["name"].startswith("_"):
        return InvalidReference(written, "names that begin with _ are not filled in")
    if not (_NUMBER_FORMAT.fullmatch(spec) or _DATE_FORMAT.fullmatch(spec)):
        return InvalidReference(written, f"{spec!r} is no format, or one for more than 99 characters")
    try:
        keys = tuple(_keys(one) for one in _EACH_KEYS.findall(found["keys"]))
    except (SyntaxError, ValueError):
        return InvalidReference(written, "a key is not written as Python writes it")
    return Reference(written, found["name"], keys, spec)


def _keys(written: str) -> Any:
    """Return one key, or the list of several. The grammar admits only literals."""
    keys = ast.literal_eval(written)
    is_tuple = len(keys) > 1 or written.rstrip("] \t").endswith(",")
    return keys if is_tuple else keys[0]


class MarkdownPosition:
    """The end of a Markdown text that grows by pieces: in prose, or in code."""

    def __init__(self) -> None:
        self._fence: Fence | None = None
        # The paragraph so far, in which code may have been begun, with its last line.
        self._paragraph = ""
        self._line = ""

    def feed(self, text: str) -> None:
        """Move to the end of this further piece."""
        *ended, rest = text.split("\n")
        for piece in ended:
            self._end(self._line + piece)
            self._line = ""
        self._line += rest

    @property
    def takes_references(self) -> bool:
        """True where a reference can begin: not in code, and not where braces have another meaning."""
        if self._fence or _fence_in(self._line) or _NOT_AFTER.search(self._line[-40:]):
            return False
        return not _in_code(self._paragraph + self._line)

    def _end(self, line: str) -> None:
        line = line.rstrip("\r")
        if self._fence:
            closes = self._fence.is_closed_by(_CONTAINERS.sub("", line, count=1))
            self._fence = None if closes else self._fence
        elif fence := _fence_in(line):
            self._fence, self._paragraph = fence, ""
        else:
            self._paragraph = self._paragraph + line + "\n" if line.strip(" \t>") else ""


def _fence_in(line: str) -> Fence | None:
    return opening_fence(_CONTAINERS.sub("", line, count=1))


def _in_code(text: str) -> bool:
    """Return True if a code span was begun that has not ended, or may still be one."""
    opened = ""
    for backslashes, run in _BACKTICKS.findall(text):
        if not opened:
            # A backslash takes the first backtick's meaning away.
            opened = run[len(backslashes) % 2 :]
        elif run == opened:
            opened = ""
    return bool(opened)


class ReferenceScanner:
    """Splits streamed text into plain text and the references in it, at places where a value can stand.

    Only text that may still become a reference is held back. A third brace at either end makes it none.
    """

    def __init__(self) -> None:
        self._position = MarkdownPosition()
        self._held = ""

    def feed(self, text: str) -> Iterator[Piece]:
        """Yield the pieces that are final after this text, in order."""
        text, self._held = self._held + text, ""
        at = 0
        while (start := text.find("{", at)) >= 0:
            if passed := text[at:start]:
                yield self._passed(passed)
            at = start
            if _BEGUN.fullmatch(text, start):
                self._held = text[start:]
                return
            found = _WHOLE.match(text, start)
            end = found.end() if found else start + 1
            if found and text[end] != "}" and self._position.takes_references:
                yield self._taken(found[0])
            else:
                yield self._passed(text[start:end])
            at = end
        if passed := text[at:]:
            yield self._passed(passed)

    def finish(self) -> Iterator[Piece]:
        """Yield what was held back: the text has ended."""
        held, self._held = self._held, ""
        if _WHOLE.fullmatch(held) and self._position.takes_references:
            yield self._taken(held)
        elif held:
            yield self._passed(held)

    def _passed(self, text: str) -> str:
        self._position.feed(text)
        return text

    def _taken(self, written: str) -> Reference | InvalidReference:
        found = parse_reference(written)
        # The value that replaces it ends no word and begins no code.
        self._position.feed("0" if isinstance(found, Reference) else written)
        return found


def split_references(text: str) -> Iterator[Piece]:
    """Yield the pieces of a whole text."""
    scanner = ReferenceScanner()
    yield from scanner.feed(text)
    yield from scanner.finish()


@dataclass(slots=True)
class ReferenceFiller:
    """Fills in the references of one reply. Equal references get one value, wherever they stand in it.

    `scanner` splits the text of the reply as it streams in. `redacted` returns a value without secrets.
    """

    kernels: Kernels
    redacted: Callable[[str], str]
    scanner: ReferenceScanner = field(default_factory=ReferenceScanner)
    _known: dict[str, WrittenValue] = field(default_factory=dict)

    async def value(self, found: Reference | InvalidReference) -> str | None:
        """Return the Markdown that replaces a reference; None, with an entry in `failed`, if there is none.

        The kernel runs no code during a reply, so the value is the same when the reply is complete.
        """
        if found.written not in self._known:
            self._known[found.written] = await self._asked(found)
        return self._filled(found.written)

    def whole(self, text: str) -> str:
        """Return a text with all values that `value` has returned."""
        parts = []
        for piece in split_references(text):
            written = piece if isinstance(piece, str) else piece.written
            value = None if isinstance(piece, str) else self._filled(written)
            parts.append(written if value is None else value)
        return "".join(parts)

    @property
    def failed(self) -> str:
        """The references without a value, each with the reason, in the order of the text; or ""."""
        return "; ".join(f"{written} ({value.why})" for written, value in self._known.items() if value.why)

    def _filled(self, written: str) -> str | None:
        value = self._known.get(written)
        return None if value is None or value.why else as_markdown(self.redacted(value.text))

    async def _asked(self, found: Reference | InvalidReference) -> WrittenValue:
        if isinstance(found, InvalidReference):
            return WrittenValue(why=found.why)
        try:
            kernel = self.kernels.get("python")
        except UnknownLanguage:
            return WrittenValue(why="there is no Python here")
        if kernel.running:
            return WrittenValue(why="code in the background may still change it")
        return await kernel.value(found.name, found.keys, found.spec)


def as_markdown(text: str) -> str:
    """Return a value as text on one line, with all markup escaped."""
    line = _UNPRINTED.sub(" ", mended(text)).strip()
    return _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", line))
