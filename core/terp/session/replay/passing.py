"""Lines that say the same although they are not the same text: what passes with each run is told apart."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

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


@dataclass(frozen=True, slots=True)
class Line:
    """A line taken apart: `frame` is what must be the same, `tokens` are what may pass, by their kinds."""

    frame: str
    tokens: tuple[tuple[str, str], ...]


def taken_apart(text: str) -> Line:
    """The line as a frame, with blanks of any width in it as one, and what may differ in it."""
    tokens: list[tuple[str, str]] = []

    def put(found: re.Match[str]) -> str:
        kind = found.lastgroup or ""
        tokens.append((kind, found.group()))
        return f"\0{kind}\0"

    return Line(" ".join(_TOKENS.sub(put, text).split()), tuple(tokens))


def alike(then: str, now: str, at: datetime) -> bool:
    """Whether a line of a run that ended at `at` says what one of an earlier run said.

    Addresses, unique ids, temporary paths, timings and process ids are passed over. Dates and times since
    the epoch are so where the later one is the time of its run: those of data must be the same. Numbers
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
    """What one in the last place of a number is worth; 0 for one with few decimals."""
    mantissa, _, exponent = written.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals) if decimals >= _LEAST_DIGITS else 0.0
