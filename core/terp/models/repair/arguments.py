"""The code inside a tool call's arguments, decoded while the model writes them.

Only code that will not change any more is decoded here: the string under `code` in a flat
object, and code that is not in JSON. Every other shape is shown when it is complete and proposed,
because only `terp.models.tool.understand` decides the meaning of a call.

Parsing all of the text again at every piece is quadratic, even with jiter (250 kB in pieces of
4 characters: 7.2 s against 0.1 s here), so the string is decoded piece by piece.
"""

import json
import re
from collections.abc import Callable, Sequence

from terp.models.tool import first_wins, implied_language, reads_as_json
from terp.text.dataclasses import dataclass
from terp.text.fences import BEGINS_BLOCK, MAY_BEGIN_BLOCK
from terp.text.languages import language_of

# `{`, any members before `code` that hold no object or list, and the quote that opens the code.
_CODE_OPENING = re.compile(
    r"""\s*\{
    (?P<members>(?: \s* (?!"code") "[^"\\]*" \s*:\s* (?: "(?:[^"\\]|\\.)*+" | [\w.+-]++ ) \s*, )*+)
    \s* "code" \s*:\s* ["]""",
    re.DOTALL | re.VERBOSE,
)
_HEAD_LIMIT = 2000
_UNDECIDED = re.compile(r'\s*(?:"{0,2}|\[\s*)')
# Whole escapes only: half of one stays behind for the next piece.
_STRING = re.compile(r'[^"\\]*+(?:\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])[^"\\]*+)*+', re.DOTALL)
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")


@dataclass(frozen=True, slots=True)
class CodePiece:
    """The next piece of a call's code; `language` is "" as long as the model has not written it."""

    language: str
    text: str


class ArgumentsDecoder:
    """Decoder of the arguments of one call of the tool `name`, which come piece by piece.

    Cost grows linearly with the length of the arguments, whatever the size of the pieces.
    """

    def __init__(self, name: str, languages: Sequence[str]) -> None:
        self._languages = languages
        self._implied = implied_language(name, languages)
        self._language = self._implied or ""
        self._json = json.JSONDecoder(strict=False, object_pairs_hook=first_wins)
        self._step: Callable[[str], str] = self._head if self._implied is not None else self._nothing
        self._waiting = ""
        self._unsaid = ""
        self._begun = False

    def feed(self, piece: str) -> CodePiece | None:
        """Return the code that `piece` adds to what can be shown, or None."""
        text = self._step(piece)
        return CodePiece(self._language, text) if text else None

    def _head(self, piece: str) -> str:
        self._waiting += piece
        head = self._waiting
        if _UNDECIDED.fullmatch(head) and len(head) <= _HEAD_LIMIT:
            return ""
        if not reads_as_json(head):
            self._language = self._implied or self._languages[0]
            return self._go(self._unless_fenced, head)
        if not head.lstrip().startswith("{"):
            return self._go(self._nothing)
        # The code can open only where a quote has come.
        opening = _CODE_OPENING.match(head) if '"' in piece else None
        if opening is None:
            return "" if len(head) <= _HEAD_LIMIT else self._go(self._nothing)
        self._language = self._language_in(opening["members"])
        return self._go(self._string, head[opening.end() :])

    def _go(self, step: Callable[[str], str], text: str = "") -> str:
        self._step, self._waiting = step, ""
        return step(text)

    def _language_in(self, members: str) -> str:
        try:
            pairs = self._json.decode(f"{{{members.rstrip().removesuffix(',')}}}")
        except json.JSONDecodeError:
            return self._language
        word = str(pairs.get("language") or pairs.get("lang") or "")
        return language_of(word, self._languages) or word or self._language

    def _string(self, piece: str) -> str:
        text = self._waiting + piece
        whole = _STRING.match(text)
        end = whole.end() if whole else 0
        decoded, self._waiting = self._decoded(text[:end]), text[end:]
        if self._waiting and not _HALF_ESCAPE.fullmatch(self._waiting):  # the closing quote, or no JSON
            self._step = self._nothing
        elif text[end - 6 : end - 4] == "\\u" and "\ud800" <= decoded[-1:] <= "\udbff":
            # The second half of the pair is still to come.
            decoded, self._waiting = decoded[:-1], text[end - 6 :]
        if not decoded.isascii() and any("\ud800" <= character <= "\udfff" for character in decoded):
            return self._go(self._nothing)
        return self._unless_fenced(decoded)

    def _decoded(self, raw: str) -> str:
        return str(self._json.decode(f'"{raw}"')) if "\\" in raw else raw

    def _unless_fenced(self, text: str) -> str:
        # Code that is one fenced block loses its fences in the end.
        if self._begun:
            return text
        self._unsaid += text
        if MAY_BEGIN_BLOCK.fullmatch(self._unsaid):
            return ""
        if BEGINS_BLOCK.match(self._unsaid):
            return self._go(self._nothing)
        self._begun = True
        return self._unsaid

    def _nothing(self, _: str = "") -> str:
        return ""
