"""What a run put out now that an earlier one of the same code did not, as a diff."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from terp.events.outputs import Output
from terp.session.replay.lines import lines_of
from terp.session.replay.passing import alike, taken_apart

_MOST_LINES = 200


def difference(
    then: Iterable[Output],
    now: Iterable[Output],
    name: str,
    *,
    as_kept: Callable[[str], str] = str,
    at: datetime | None = None,
) -> str:
    """A unified diff of what two runs of `name` put out; "" where it is the same but for what passes.

    `as_kept` gives a text as the earlier one was kept, without secrets; `at` is when the later one ran.
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
    """The new lines, each that says what its counterpart said in the words of that one."""
    counterparts = _counterparts(old, new)
    for number, line in enumerate(new):
        before = old[counterparts[number]] if number in counterparts else None
        yield before if before is not None and alike(before, line, at) else line


def _counterparts(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """For lines of the new text, which line of the old one stands in their place."""
    if len(old) == len(new):
        return {number: number for number in range(len(new))}
    frames = [taken_apart(line).frame for line in old], [taken_apart(line).frame for line in new]
    blocks = difflib.SequenceMatcher(None, *frames).get_matching_blocks()
    return {block.b + at: block.a + at for block in blocks for at in range(block.size)}
