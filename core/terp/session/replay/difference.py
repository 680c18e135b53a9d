"""Differences between the outputs of two runs of the same code, as a diff."""

import base64
import binascii
import difflib
import hashlib
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from terp.events.outputs import Display, Error, Omitted, Output, Text
from terp.text import pictures
from terp.text.dataclasses import dataclass
from terp.text.plain import mended, settled

_MOST_LINES = 200
_PNG = b"\x89PNG\r\n\x1a\n"
# What a PNG says of itself besides its pixels: the version of a library, a date (PNG 1.2, 4.2.3).
_ABOUT = (b"tEXt", b"zTXt", b"iTXt", b"tIME", b"eXIf")
# Ids in matplotlib's SVG are random for each file, and so is its date.
_IN_SVG = re.compile(r"<metadata>.*?</metadata>|\b[a-z][0-9a-f]{10}\b", re.DOTALL)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_EPOCH = r"1[5-9]\d{8}(?:\d{3})?"
_TOKENS = re.compile(
    rf"""
      (?P<place> (?:/private)?(?:/tmp|/var/tmp|/var/folders/\w+/\w+/T)/[^\s'"`<>|:;,()\[\]{{}}]+ )
    | (?P<uuid> \b[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}\b )
    | (?P<address> \b0x[0-9a-fA-F]{{6,}}\b )
    | (?P<date> \b\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[ ]?[+-]\d\d:?\d\d)?)?\b
              | \b{_MONTH}\s+\d{{1,2}}\s+\d\d:\d\d:\d\d\s+\d{{4}}\b )
    | (?P<clock> \b\d{{1,2}}:\d\d:\d\d(?:[.,]\d+)?\b | (?<=[\[<])\d\d:\d\d(?=[<,\]]) )
    | (?P<epoch> \b{_EPOCH}\b(?!\.\d) )
    | (?P<rate> \b\d+(?:\.\d+)?\s?(?:[kMG]?B/s|it/s|s/it)(?!\w) )
    | (?P<loops> \b\d[\d,]*\ loops?\ each\b )
    | (?P<duration> \b(?:\d+h\ )?(?:\d+min\ )?\d+(?:[.,]\d+)?\s?(?:[nu\u00b5\u03bc]s|ms|s|secs?|seconds?)\b )
    | (?P<process> (?<=\bpid[ =:])\d+ | (?<=\bPID[ =:])\d+ )
    | (?P<number> [+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)? )
    """,
    re.VERBOSE,
)
_LEAST_DIGITS = 6
"""A number that is written with so many decimals was rounded by who printed it: its last digit may flip."""


def difference(
    then: Iterable[Output],
    now: Iterable[Output],
    name: str,
    *,
    as_kept: Callable[[str], str] = str,
    at: datetime | None = None,
) -> str:
    """Return a unified diff of the outputs of two runs of `name`; "" if only passing values differ.

    `as_kept` redacts a text as the stored one was redacted; `at` is the time of the later run.
    """
    old, new = lines_of(then), lines_of(now, as_kept)
    if old == new:
        return ""
    calm = list(_calmed(old, new, at or datetime.now(UTC)))
    lines = list(difflib.unified_diff(old, calm, f"{name} then", f"{name} now", lineterm="", n=1))
    left_out = len(lines) - _MOST_LINES
    more = [f"… {left_out:,} more lines"] if left_out > 0 else []
    return "\n".join([*lines[:_MOST_LINES], *more])


def _calmed(old: Sequence[str], new: Sequence[str], at: datetime) -> Iterator[str]:
    """Return the new lines; a line that differs only in volatile values is replaced by its counterpart."""
    counterparts = _counterparts(old, new)
    for number, line in enumerate(new):
        before = old[counterparts[number]] if number in counterparts else None
        yield before if before is not None and alike(before, line, at) else line


def _counterparts(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Return for lines of the new text their counterparts in the old one."""
    if len(old) == len(new):
        return {number: number for number in range(len(new))}
    frames = [taken_apart(line).frame for line in old], [taken_apart(line).frame for line in new]
    blocks = difflib.SequenceMatcher(None, *frames).get_matching_blocks()
    return {block.b + at: block.a + at for block in blocks for at in range(block.size)}


def lines_of(outputs: Iterable[Output], as_kept: Callable[[str], str] = str) -> list[str]:
    """Return the lines of settled outputs in order, those of stderr last: its order is not that of the rest.

    An error is its last line; a display is its plain text, else the names of its types.
    `as_kept` redacts a text as a stored one is redacted.
    """
    lines: list[str] = []
    aside: list[str] = []
    for output in outputs:
        match output:
            case Text(stream=stream, text=text):
                (aside if stream == "stderr" else lines).extend(_settled(as_kept(text)))
            case Display(data=data):
                lines += _display(data, as_kept)
            case Error(name=name, value=value):
                lines += _settled(as_kept(f"{name}: {value}"))
            case Omitted():
                lines.append("[… left out …]")
            case _:
                continue
    return [*lines, *aside]


def _settled(text: str) -> Iterator[str]:
    # What ends a line here ends it for the diff as well.
    return (settled(line).rstrip() for line in mended(text).removesuffix("\n").split("\n"))


def _display(data: Mapping[str, Any], as_kept: Callable[[str], str]) -> Iterator[str]:
    for mime, value in sorted(data.items()):
        if mime.startswith("image/"):
            yield _picture(mime, value)
    shown = data.get("text/plain")
    if isinstance(shown, str):
        yield from _settled(as_kept(shown))
    elif not any(mime.startswith("image/") for mime in data):
        yield from (
            f"[{mime} {_digest(as_kept(str(value)).encode('utf-8', 'replace'))}]"
            for mime, value in sorted(data.items())
        )


def _picture(mime: str, value: Any) -> str:
    if not isinstance(value, str):
        return f"[{mime}]"
    if mime.endswith("xml"):
        return f"[{mime} {_digest(_IN_SVG.sub('', value).encode('utf-8', 'replace'))}]"
    try:
        content = base64.b64decode(value)
    except (binascii.Error, ValueError):
        return f"[{mime} {_digest(value.encode('utf-8', 'replace'))}]"
    size = pictures.size(content)
    sized = f" {size[0]}×{size[1]}" if size else ""
    return f"[{mime}{sized} {_digest(b''.join(_pixels(content)))}]"


def _pixels(content: bytes) -> Iterator[bytes]:
    """Yield a picture without the metadata of a PNG."""
    if not content.startswith(_PNG):
        yield content
        return
    at = len(_PNG)
    while at + 8 <= len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        end = at + length + 12
        if content[at + 4 : at + 8] not in _ABOUT:
            yield content[at:end]
        at = end


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Line:
    """A line in parts: `frame` must be the same, `tokens` may differ, by their kinds."""

    frame: str
    tokens: tuple[tuple[str, str], ...]


def taken_apart(text: str) -> Line:
    """Return the frame of a line, with runs of blanks as one blank, and its tokens."""
    tokens: list[tuple[str, str]] = []

    def put(found: re.Match[str]) -> str:
        kind = found.lastgroup or ""
        tokens.append((kind, found.group()))
        return f"\0{kind}\0"

    return Line(" ".join(_TOKENS.sub(put, text).split()), tuple(tokens))


def alike(then: str, now: str, at: datetime) -> bool:
    """Return True if a line of a run that ended at `at` is alike to that of an earlier run.

    Addresses, unique ids, temporary paths, timings and process ids are ignored. Dates and times since
    the epoch are ignored if the later one is the time of its run: those of data must be the same. Numbers
    with a fraction may differ by a billionth, or by one in the last of six and more decimals.
    """
    if then == now:
        return True
    before, after = taken_apart(then), taken_apart(now)
    return before.frame == after.frame and all(
        _same(kind, old, new, at)
        for (kind, old), (_, new) in zip(before.tokens, after.tokens, strict=True)
        if old != new
    )


def _same(kind: str, old: str, new: str, at: datetime) -> bool:
    match kind:
        case "number":
            # Seconds since the epoch with a fraction stand beside data of that size.
            return _near(old, new) or (_is_epoch(old) and _is_epoch(new) and _is_time(new, at))
        case "date":
            return _is_now(new[:10], at)
        case "epoch":
            return _is_time(new, at)
    return True


def _is_epoch(number: str) -> bool:
    return re.fullmatch(rf"{_EPOCH}(?:\.\d+)?", number) is not None


def _is_time(number: str, at: datetime) -> bool:
    seconds = float(number) / (1000 if len(number.partition(".")[0]) > 10 else 1)
    return abs(seconds - at.timestamp()) < timedelta(days=1).total_seconds()


def _is_now(date: str, at: datetime) -> bool:
    try:
        day = datetime.strptime(date, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        # As `ctime` writes it: no column of data looks like that.
        return True
    # A clock of another zone may have another day.
    return abs(day - at) <= timedelta(days=2)


def _near(old: str, new: str) -> bool:
    if math.isclose(float(old), float(new), rel_tol=1e-9, abs_tol=1e-12):
        return True
    last = _last_digit(old), _last_digit(new)
    if last[0] != last[1] or not last[0]:
        return False
    return abs(float(old) - float(new)) < 1.5 * last[0]


def _last_digit(written: str) -> float:
    """Return the unit of the last place of a number; 0 for few decimals."""
    mantissa, _, exponent = written.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals) if decimals >= _LEAST_DIGITS else 0.0
