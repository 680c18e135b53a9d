"""Redaction of secrets: in a whole text or JSON value, and in a text or events that come in pieces.

A secret can begin in one piece and end in another, so that neither holds it whole. If a secret may
begin at the end of a piece, that end is held back until the next piece of the same text: at most 20,000
characters, usually none. Text that is held back when the process is killed is lost.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from os.path import exists
from typing import Any
from urllib.parse import quote, unquote

from terp.analysis.effects.secret_names import is_secret_name
from terp.events import (
    CodeDelta,
    CodeFinished,
    Event,
    LateOutput,
    Printed,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
)
from terp.events.log import Record
from terp.events.outputs import Text
from terp.text.dataclasses import dataclass, field, replace
from terp.text.pictures import is_picture

REDACTED = "[redacted]"
_Stream = tuple[str, ...]
_OF_MODEL = ("text", "reasoning", "code")
# A secret can follow an escape in JSON text: the "n" of "\n" is no part of a word.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]))"
_SECRET = re.compile(
    rf"""
      {_START} (?: sk-[\w-]{{16,}} | (?:xai|nvapi|pplx|csk)-[\w-]{{20,}}
                 | gh[opsur]_\w{{20,}} | github_pat_\w{{20,}} | (?:AKIA|ASIA)[A-Z0-9]{{16}}
                 | xox[a-z]-[\w-]{{10,}} | AIza[\w-]{{35}} | (?:hf|gsk)_\w{{20,}}
                 | glpat-[\w-]{{20,}} | npm_\w{{30,}} | [rs]k_live_\w{{16,}}
                 | hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{{8,}}
                 | (?i:aws_secret_access_key|secretaccesskey)\W{{1,6}}[A-Za-z0-9/+]{{40}}
                 | (?i:bearer)\s+[\w.~+/=-]{{8,}} )
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
# What each shape begins with: to look for these takes a tenth of the time that the expression takes.
# Shapes of the first kind have no end of their own: one that begins inside another ends with it.
_ENDLESS_MARKS = (
    "sk-", "xai-", "nvapi-", "pplx-", "csk-", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "xox",
    "hf_", "gsk_", "glpat-", "npm_", "sk_live_", "rk_live_", "hooks.slack.com/", "-----BEGIN ",
)  # fmt: skip
_AWS_MARKS = ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey")
_MARKS = (*_ENDLESS_MARKS, "AKIA", "ASIA", "AIza", "bearer", "Bearer", "BEARER", *_AWS_MARKS)
# A web token: three parts, of which the first begins as JSON does in base64. Each word is looked at once,
# however often it could begin one.
_JWT_PARTS = re.compile(r"(?<![\w-])(?=([\w-]++)(\.[\w-]{8,}\.[\w-]*))", re.ASCII)
_JWT_MARK = "eyJ"
_JWT = re.compile(rf"{_START}{_JWT_MARK}[\w-]{{8}}", re.ASCII)
# The password of an address; not the name of a variable that stands in its place.
_URL_MARK = "://"
_URL_PASSWORD = re.compile(r"://[^\s/@:'\"\\{}$<>]*:([^\s/@'\"\\{}$<>]+)@")
# The key in the address of a storage account or a queue of Azure.
_ACCOUNT_MARKS = ("AccountKey=", "SharedAccessKey=")
_ACCOUNT_KEY = re.compile(r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9/+]{20,}={0,2})")
_SHORTEST_SECRET = 8
# A long word of mixed letters and digits, or of hexadecimal digits, that has no extension as a file has.
_BETWEEN_WORDS = re.compile(r"[^\w+=.~-]+")
_RANDOM = re.compile(
    r"(?!.*\.[a-zA-Z]\w{0,4}$)(?:(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{20,}|(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{24,})"
)
# Prefixes of secrets that two pieces of a text can cut in two.
_PARTED_MARKS = (*_MARKS, *_ACCOUNT_MARKS, _JWT_MARK, _URL_MARK)
# Most text has no word as long as most secrets are, and is then not searched for them.
_LONG_WORD = 15
_IN_SHORT_WORDS = ("bearer", "Bearer", "BEARER", "-----BEGIN ")
# In so much of the end of a text a secret is looked for that goes on behind it.
_LONGEST_BEGUN = 4_096
# The same for a private key: one of RSA with 16,384 bits has 13,000 characters.
_LONGEST_BLOCK = 20_000

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_PLACES = (
    (r"(?:/private)?(?:/tmp|/var/tmp|/var/folders/\w+/\w+/T)/[^\s'\"`<>|:;,()\[\]{}]+", "<temporary>"),
    (r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<uuid>"),
    (r"\b0x[0-9a-fA-F]{6,}\b", "<address>"),
)
_TIMES = (
    (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b", "<date>"),
    (rf"\b(?:\d{{1,2}} {_MONTH}|{_MONTH}\s+\d{{1,2}})\b(?:,? \d{{4}}\b)?", "<date>"),
    (r"\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?\b", "<time>"),
    (r"\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b", "<time>"),
    (r"\b\d+(?:\.\d+)?\s?(?:[nµu]s|ms|s|secs?|seconds?|mins?|minutes?|h|hours?)\b", "<duration>"),
)
# The last word, read backwards, with the "bearer" or the name of a key of Amazon's before it.
_LAST_WORD = re.compile(
    r"[\w.~+/=-]*(?:\s+reraeb|\W{1,6}(?:yek_ssecca_terces_swa|yeksseccaterces))?",
    re.ASCII | re.IGNORECASE,
)
# The part of an address in which a password can stand.
_USER = re.compile(r"://[^\s/@'\"\\{}$<>]*\Z")
_BLOCK_BEGINS, _BLOCK_ENDS = "-----BEGIN ", re.compile(r"-----END [A-Z ]*-----")
# In the value of a secret variable: the key or password of a connection string, and a key as the user of an
# address, as Sentry has it.
_IN_CONNECTION = re.compile(
    r"(?:^|;)\s*(?:AccountKey|SharedAccessKey|SharedAccessSignature|Password|Pwd)\s*=\s*([^;]+)",
    re.IGNORECASE,
)
_URL_USER = re.compile(r"://([^\s/@:]+)@")
_ANY_URL_PASSWORD = re.compile(r"://[^\s/@:]*:([^\s/@]+)@")
# This many characters depend on the bytes before a value in base64, by the bytes of that in its last group.
_BEFORE = (0, 2, 3)


class Prefixes:
    """Texts indexed by their beginnings; each has two characters or more."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_first: dict[str, list[str]] = {}
        for text in texts:
            self._by_first.setdefault(text[0], []).append(text)
        # Most pieces that a model sends hold none of the beginnings, which one search shows.
        self._begins = re.compile(
            "|".join(
                rf"{re.escape(first)}(?=[{re.escape(''.join({text[1] for text in texts}))}]|\Z)"
                for first, texts in self._by_first.items()
            )
        )
        self._longest = max(len(text) for texts in self._by_first.values() for text in texts)

    def may_be_in(self, text: str) -> bool:
        """Return False if no two characters, and not the last one, are the beginning of one of them."""
        return self._begins.search(text) is not None

    def at_the_end_of(self, text: str) -> int:
        """Return the position from which the rest of `text` is the beginning of one of them; else its end."""
        for begin in self._begins.finditer(text, max(0, len(text) - self._longest + 1)):
            rest = text[begin.start() :]
            if any(one.startswith(rest) and one != rest for one in self._by_first[rest[0]]):
                return begin.start()
        return len(text)


@lru_cache(maxsize=4)
def _indexed(texts: tuple[str, ...]) -> Prefixes:
    """Return the texts as `Prefixes`, made once for the many redactors that know no secrets."""
    return Prefixes(texts)


def start_of_open_secret(text: str, prefixes: Prefixes) -> int:
    """Return the start of an incomplete secret at the end of `text`; the end of `text` without one.

    `prefixes` are those of known secrets, and of texts that words have, or begin with, if they are secrets.
    """
    found = [prefixes.at_the_end_of(text)]
    last = _LAST_WORD.match(text[::-1])
    word = text[len(text) - (last.end() if last else 0) :]
    if word and any(mark in word for mark in _PARTED_MARKS):
        found.append(len(text) - len(word))
    found.append(start_of_open_block(text))
    if user := _USER.match(text, max(0, text.rfind("://"))):
        found.append(user.start())
    first = min(found)
    if text.endswith("\\"):
        first = min(first, len(text) - 1)
    # A letter behind a backslash is no part of a word, which shows only with the backslash there.
    return first - (first < len(text) and text[first - 1 : first] == "\\")


def start_of_open_block(text: str) -> int:
    """Return the start of an unfinished block, as of a private key; the end of `text` without one."""
    block = text.rfind(_BLOCK_BEGINS)
    return block if block >= 0 and not _BLOCK_ENDS.search(text, block) else len(text)


@dataclass(frozen=True, slots=True)
class Redactor:
    """Redactor of secrets, and of text that changes from run to run, in recorded texts.

    `secrets` are exact values; `cwd`, `home` and `temporary` directories, as absolute paths ("" for
    none), so that a recording made elsewhere answers here.
    """

    secrets: tuple[str, ...] = ()
    cwd: str = ""
    home: str = ""
    temporary: str = ""
    _written: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _short: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _beginnings: Prefixes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        forms = (form for secret in self.secrets for form in written_forms(secret))
        written = tuple(dict.fromkeys(forms))
        object.__setattr__(self, "_written", written)
        short = (form for form in written if max(map(len, form.split()), default=0) < _LONG_WORD)
        object.__setattr__(self, "_short", tuple(short))
        object.__setattr__(self, "_beginnings", _indexed((*written, *_PARTED_MARKS)))

    def redacted(self, text: str) -> str:
        """Return the text with every secret replaced."""
        return "".join(self.redacted_pieces([text]))

    def redacted_pieces(self, pieces: Sequence[str]) -> list[str]:
        """Return the redacted pieces of one text, as many as given; a secret may span several pieces."""
        text = "".join(pieces)
        spans = self._spans(text)
        if not spans:
            return list(pieces)
        clean, at = [], 0
        for piece in pieces:
            clean.append(_without(text, at, at + len(piece), spans))
            at += len(piece)
        return clean

    def is_clean(self, text: str) -> bool:
        """Return True if no secret is in the text or begins at its end; False if that needs a closer look."""
        return not self._beginnings.may_be_in(text) and not text.endswith("\\")

    def settled(self, text: str) -> int:
        """Return the length that can be redacted before more of the text has come.

        A secret may begin in the rest, which is mostly empty and has 20,000 characters at most.
        """
        if self.is_clean(text):
            return len(text)
        first, longest = (max(0, len(text) - most) for most in (_LONGEST_BEGUN, _LONGEST_BLOCK))
        settled = min(
            first + start_of_open_secret(text[first:], self._beginnings),
            longest + start_of_open_block(text[longest:]),
        )
        if settled == len(text):
            return settled
        # What is a secret already, and may go on, is not cut in two.
        cut = (start for start, end in self._spans(text) if longest <= start < settled < end)
        return next(cut, settled)

    def redacted_fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return a JSON object in which every text is redacted, as `redacted_value` does it."""
        return {key: self.redacted_value(value, key) for key, value in fields.items()}

    def redacted_value(self, value: Any, key: str = "") -> Any:
        """Return a JSON value in which every text is redacted; `key` is its name in the object around it.

        Pictures are not changed: a secret in their base64 is a coincidence. `arguments` of a call stay JSON.
        """
        match value:
            case str() if is_picture(key):
                return value
            case str():
                return self._redacted_arguments(value) if key == "arguments" else self.redacted(value)
            case {"mime": str(mime), "data": str()} | {"mimeType": str(mime), "data": str()} if is_picture(
                mime
            ):
                return value
            case Mapping():
                return self.redacted_fields(value)
            case [*parts]:
                return [self.redacted_value(part, key) for part in parts]
        return value

    def _redacted_arguments(self, text: str) -> str:
        clean = self.redacted(text)
        if clean == text:
            return text
        # A secret without an end of its own may take in the JSON behind it.
        try:
            return json.dumps(self.redacted_value(json.loads(text)), ensure_ascii=False)
        except ValueError:
            return clean

    def steady(self, text: str, *, times: bool = False) -> str:
        """Return the text without secrets, places, ids and addresses; with `times` also without times."""
        text = self.redacted(text)
        for place, name in ((self.cwd, "<cwd>"), (self.temporary, "<temporary>"), (self.home, "~")):
            if len(place) > 1:
                text = re.sub(rf"{re.escape(place.rstrip('/'))}(?![\w-])", name, text)
        for pattern, name in (*_PLACES, *(_TIMES if times else ())):
            text = re.sub(pattern, name, text)
        return text

    def _spans(self, text: str) -> list[tuple[int, int]]:
        if len(text) < _SHORTEST_SECRET or not self._beginnings.may_be_in(text):
            return []
        long = max(map(len, text.split()), default=0) >= _LONG_WORD
        written = (form for form in (self._written if long else self._short) if form in text)
        found = [
            *_shapes(text, _MARKS if long else _IN_SHORT_WORDS),
            *(span for form in written for span in _every(form, text)),
        ]
        spans: list[tuple[int, int]] = []
        for start, end in sorted(found):
            if spans and start < spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((start, end))
        return spans


def looks_secret(text: str) -> bool:
    """Return True if a short text has the form of a key, or a word in it that seems to be made at random."""
    words = _BETWEEN_WORDS.split(text)
    return any(map(_RANDOM.fullmatch, words)) or Redactor().redacted(text) != text


def _shapes(text: str, marks: Sequence[str]) -> Iterator[tuple[int, int]]:
    for mark in (mark for mark in marks if mark in text):
        known = 0
        for start, _ in _every(mark, text):
            if start >= known and (match := _SECRET.match(text, start)):
                yield match.span()
                known = match.end() if mark in _ENDLESS_MARKS else 0
    if marks is _MARKS and _JWT_MARK in text:
        for parts in _JWT_PARTS.finditer(text):
            if begun := _JWT.search(text, *parts.span(1)):
                yield begun.start(), parts.end(2)
    if any(mark in text for mark in _ACCOUNT_MARKS):
        yield from (found.span(1) for found in _ACCOUNT_KEY.finditer(text))
    if _URL_MARK in text:
        yield from (found.span(1) for found in _URL_PASSWORD.finditer(text))


def _every(part: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(part)
    while at >= 0:
        yield at, at + len(part)
        at = text.find(part, at + len(part))


def _without(text: str, start: int, end: int, spans: Sequence[tuple[int, int]]) -> str:
    """Return text[start:end] without the spans; a mark replaces each span that begins in it."""
    kept, at = [], start
    for begin, stop in spans:
        if stop <= start or begin >= end:
            continue
        kept.append(text[at : max(at, begin)])
        if begin >= start:
            kept.append(REDACTED)
        at = min(stop, end)
    return "".join([*kept, text[at:end]])


def secrets_in(environment: Mapping[str, str], *others: str) -> tuple[str, ...]:
    """Return values of variables with secret names, passwords in addresses, and `others`.

    Short ones are left out: they would match anything.
    """
    # One that names a file or socket says where a secret is; `Path.exists` raises for a long value.
    named = [value for name, value in environment.items() if is_secret_name(name) and not exists(value)]  # noqa: PTH110
    parts = [found.strip() for value in named for found in _IN_CONNECTION.findall(value)]
    parts += [found for value in named for found in _URL_USER.findall(value) if _RANDOM.fullmatch(found)]
    in_addresses = [found for value in environment.values() for found in _ANY_URL_PASSWORD.findall(value)]
    values = {*named, *parts, *others, *in_addresses, *map(unquote, in_addresses)}
    long = {value for value in values if len(value) >= _SHORTEST_SECRET}
    return tuple(sorted(long, key=lambda value: (-len(value), value)))


def written_forms(secret: str) -> Iterator[str]:
    """Yield the forms of a value: plain, in JSON, in URLs, and in base64 of a text around it."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(secret, safe="", errors="replace")
    content = secret.encode("utf-8", "replace")
    for before, lost in enumerate(_BEFORE):
        whole = (before + len(content)) * 8 // 6
        encoded = base64.b64encode(bytes(before) + content)[lost:whole].decode()
        yield encoded
        yield encoded.replace("+", "-").replace("/", "_")


class TextRedactor:
    """Redacts one text that comes in pieces."""

    def __init__(self, redactor: Callable[[], Redactor]) -> None:
        self._redactor = redactor
        self.held = ""

    def passed(self, piece: str) -> str:
        """Return the part that can be written now, redacted."""
        redactor, text = self._redactor(), self.held + piece
        settled = redactor.settled(text)
        self.held = text[settled:]
        return redactor.redacted(text[:settled])

    def rest(self) -> str:
        """Return the held-back part, redacted, at the end of the text."""
        held, self.held = self.held, ""
        return self._redactor().redacted(held)


class StreamRedactor:
    """Redacts the pieces of text among the records of one session; other records pass unchanged.

    Text that is held back passes before whatever follows it in the same text's place: the model's text
    before its code and before any other event; a run's output before a display of that run and before its
    end; late output before a display of its run and at the end of a turn. Events beside a run do not part
    its output. Every outlet of events uses this rule: the log, stream-json and the server.
    """

    def __init__(self, redactor: Callable[[], Redactor]) -> None:
        """Call `redactor` for each piece: the secrets may change with the settings."""
        self._redactor = redactor
        self._held: dict[_Stream, tuple[TextRedactor, Record]] = {}

    def passed(self, record: Record) -> Iterator[Record]:
        """Yield the redacted records that replace this one, all with its number, without empty pieces."""
        piece = piece_of(record.event)
        if piece is None:
            for stream in [stream for stream in self._held if _comes_before(stream, record.event)]:
                yield from self._released(stream, record.number)
            yield record
            return
        stream, text = piece
        if not self._held and text and self._redactor().is_clean(text):
            yield record
            return
        if self._held and stream[0] in _OF_MODEL:
            for other in [one for one in self._held if one[0] in _OF_MODEL and one != stream]:
                yield from self._released(other, record.number)
        pieces = self._held.pop(stream)[0] if stream in self._held else TextRedactor(self._redactor)
        clean = pieces.passed(text)
        if pieces.held:
            self._held[stream] = pieces, record
        yield from _with(record, clean)

    def rest(self) -> Iterator[Record]:
        """Yield all held-back text, when no other record follows."""
        for stream, (_, record) in list(self._held.items()):
            yield from self._released(stream, record.number)

    def _released(self, stream: _Stream, number: int) -> Iterator[Record]:
        pieces, record = self._held.pop(stream)
        yield from _with(replace(record, number=number), pieces.rest())


def piece_of(event: Event) -> tuple[_Stream, str] | None:
    """Return the text that an event is a piece of, and the piece; None for any other event."""
    match event:
        case TextDelta(text=text, reference=""):
            return ("text",), text
        case ReasoningDelta(text=text):
            return ("reasoning",), text
        case CodeDelta(call_id=call_id, text=text):
            return ("code", call_id), text
        case Printed(call_id=call_id, output=Text(stream=stream, text=text)):
            return ("printed", call_id, stream), text
        case LateOutput(call_id=call_id, output=Text(stream=stream, text=text)):
            return ("late", call_id, stream), text
    return None


def _comes_before(stream: _Stream, event: Event) -> bool:
    """Return True if held text of `stream` comes before an event that is no piece of text."""
    match stream, event:
        case ("printed", call_id, _), CodeFinished(call_id=other) | Printed(call_id=other):
            return call_id == other
        case ("late", call_id, _), LateOutput(call_id=other):
            return call_id == other
        case ("late", *_), _:
            return isinstance(event, TurnFinished)
        case ("printed", *_), _:
            return False
    return True


def _with(record: Record, text: str) -> Iterator[Record]:
    """Yield the record with its text replaced; nothing for an empty text."""
    if not text:
        return
    match record.event:
        case TextDelta(text=before) | ReasoningDelta(text=before) | CodeDelta(text=before) as event:
            # Nearly always nothing is to be changed.
            yield record if text == before else replace(record, event=replace(event, text=text))
        case Printed(output=Text() as output) | LateOutput(output=Text() as output) as event:
            whole = replace(output, text=text)
            yield record if text == output.text else replace(record, event=replace(event, output=whole))
