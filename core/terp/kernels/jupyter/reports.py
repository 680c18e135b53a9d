"""Reports of the bootstrap about a run, checked on reading: code in the kernel can forge them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from terp.analysis.effects.secret_names import is_secret_name
from terp.events.kernel import Variable
from terp.events.outputs import (
    BackCall,
    FileAction,
    FileChange,
    Held,
    StoppedAt,
    ToolWorking,
    VariableAction,
    VariableChange,
)
from terp.kernels.jupyter.files import with_moves

_FILE_ACTIONS: Mapping[str, FileAction] = {"created": "created", "modified": "modified", "deleted": "deleted"}
_ACTIONS: Mapping[str, VariableAction] = {"new": "new", "changed": "changed", "removed": "removed"}
_MOST_ROWS = 500
_MOST, _LONGEST, _LONGEST_PATH, _LONGEST_HINT = 100, 300, 4_096, 3_000
_LONGEST_DIFF = 20_000
_MOST_FACTS, _LONGEST_FACT = 8, 160
_FRAME = re.compile(r'^ *File "(.*)", line (\d+) in (.+)$', re.MULTILINE)
_CELL = re.compile(r"[/\\]ipykernel_\d+[/\\]")


def back_call_in(text: str) -> BackCall:
    """Return the service call in JSON text; a call of the service "" if it is invalid."""
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        call = None
    service, arguments = (call.get("service"), call.get("arguments")) if isinstance(call, dict) else ("", {})
    if not (isinstance(service, str) and isinstance(arguments, dict)):
        return BackCall("", {})
    return BackCall(service, arguments)


def tool_in(report: Mapping[str, Any]) -> ToolWorking | None:
    """Return the tool named in a report, or None."""
    name = _text(report.get("tool"))
    return ToolWorking(name, over=report.get("over") is True) if name.isidentifier() else None


def changes_in(report: Mapping[str, Any]) -> tuple[VariableChange, ...]:
    """Return the namespace changes in a report; none if it is malformed."""
    rows = report.get("changes")
    found = [_change(row) for row in rows[:_MOST]] if isinstance(rows, list) else []
    return tuple(change for change in found if change is not None)


def more_in(report: Mapping[str, Any]) -> int:
    """Return the number of changes that a report leaves out."""
    return _number(report.get("more")) or 0


def files_in(report: Mapping[str, Any], host: str) -> tuple[FileChange, ...]:
    """Return the changed files of `host` in a report; none if it is malformed."""
    changes, states = [], {}
    for path, kind, *numbers in rows_in(report.get("files"), 5)[:_MOST_ROWS]:
        action = _FILE_ACTIONS.get(_text(kind))
        if action is None or not isinstance(path, str) or len(path) > _LONGEST_PATH:
            continue
        size, time_ns, inode = (_number(part) or 0 for part in numbers)
        changes.append(FileChange(path, action, 0 if action == "deleted" else size, host))
        states[path] = (size, time_ns, inode)
    return tuple(with_moves(changes, states))[:_MOST]


def with_diffs(changes: Sequence[FileChange], report: Mapping[str, Any]) -> tuple[FileChange, ...]:
    """Return the changes, those of modified text files with the lines and the diff in a report."""
    found = {
        path: (added, removed, diff)
        for path, added, removed, diff in rows_in(report.get("diffs"), 4)[:_MOST]
        if isinstance(path, str) and isinstance(diff, str)
    }
    return tuple(
        replace(
            one,
            added=_number(found[one.path][0]) or 0,
            removed=_number(found[one.path][1]) or 0,
            diff=found[one.path][2][:_LONGEST_DIFF],
        )
        if one.action == "modified" and one.path in found
        else one
        for one in changes
    )


def stopped_in(report: Mapping[str, Any]) -> StoppedAt | None:
    """Return the place of an interrupt in a report, or None."""
    part_of_report = report.get("stopped")
    line = _number(part_of_report.get("line")) if isinstance(part_of_report, Mapping) else None
    if not isinstance(part_of_report, Mapping) or line is None:
        return None
    function, source, inside, file = (
        _text(part_of_report.get(key)) for key in ("function", "source", "inside", "file")
    )
    values = _held(part_of_report.get("values"))
    return StoppedAt(line, function, source, inside, _number(part_of_report.get("run")) or 0, file, values)


def failed_in(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return fields of `RunEnded`: values at the place of an error, a hint, and broken conditions."""
    failed = report.get("failed")
    part_of_report = failed if isinstance(failed, Mapping) else {}
    hint, held = part_of_report.get("hint"), _held(part_of_report.get("values"))
    hint = hint[:_LONGEST_HINT] if isinstance(hint, str) else ""
    return {"held": held, "hint": hint, "broken": _held(report.get("broken"))}


def stopped_in_stack(stack: str, code: str) -> StoppedAt | None:
    """Return the place of the code in a stack that faulthandler wrote; None if no frame is of a cell.

    The innermost frame comes first, the code of the run is the outermost cell, and values are not known.
    """
    frames = _FRAME.findall(stack)
    cells = [at for at, (file, _, _) in enumerate(frames) if _CELL.search(file)]
    if not cells:
        return None
    file, number, function = frames[cells[0]]
    inside = _text(frames[cells[0] - 1][2]) if cells[0] else ""
    # IPython counts, as tracebacks do, from the first line that is not empty.
    lines = re.sub(r"\A(?:[ \t]*\n)+", "", code).splitlines()
    line = int(number)
    is_this = file == frames[cells[-1]][0] and 0 < line <= len(lines)
    named = "" if function == "<module>" else _text(function)
    if not is_this:
        return StoppedAt(line, named, inside=inside, file="an earlier run")
    return StoppedAt(line, named, lines[line - 1].strip()[:_LONGEST], inside)


def shape_in(value: Any) -> tuple[int, ...]:
    """Return a shape; () if it is malformed."""
    numbers = [_number(length) for length in value[:_MOST]] if isinstance(value, Sequence) else [None]
    return () if None in numbers else tuple(number for number in numbers if number is not None)


def rows_in(value: Any, length: int) -> list[list[Any]]:
    """Return the rows of a list that have this length; none if it is no list."""
    rows = value if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, list) and len(row) == length]


def texts_in(value: Any, length: int) -> list[list[str]]:
    """Return the rows of a list that have this length, as texts."""
    return [[str(part) for part in row] for row in rows_in(value, length)]


def variable_of(row: Sequence[Any]) -> Variable:
    """Return the variable in a row of a list."""
    name, kind, shape, size, head = row
    return Variable(str(name), str(kind), shape_in(shape), size if isinstance(size, int) else None, str(head))


def _change(row: Any) -> VariableChange | None:
    if not isinstance(row, list) or len(row) < 5 or not isinstance(row[1], str):
        return None
    action, name, kind, shape, size = _ACTIONS.get(_text(row[0])), *row[1:5]
    if action is None:
        return None
    was, now, facts = row[5:] if len(row) == 8 else ("", "", ())
    if is_secret_name(name) or (kind == "str" and _are_secret(was, now)):
        was = now = ""
    texts = [_text(one)[:_LONGEST_FACT] for one in facts[:_MOST_FACTS]] if isinstance(facts, list) else []
    # "pin 1 → 2" is an item of a dict.
    told = tuple(one for one in texts if one and not is_secret_name(one.partition(" ")[0]))
    about = _text(name), action, _text(kind), shape_in(shape), _number(size)
    return VariableChange(*about, _text(was)[:_LONGEST_FACT], _text(now)[:_LONGEST_FACT], told)


def _are_secret(*texts: Any) -> bool:
    """Return True if a text looks like a secret."""
    # 2 ms of the start, and few runs show a text.
    from terp.secrets.redactor import looks_secret  # noqa: PLC0415

    return any(looks_secret(_text(text).strip("'\"")) for text in texts)


def _held(rows: Any) -> tuple[Held, ...]:
    """Return names with their values; for text that may be a secret, only its type and length."""
    read = [
        [_text(part) for part in row]
        for row in (rows[:_MOST] if isinstance(rows, list) else ())
        if isinstance(row, list) and len(row) in (2, 3)
    ]
    texts = [row for row in read if len(row) == 3]
    if not texts:
        return tuple(Held(*row) for row in read)
    # 2 ms of the start, and few runs fail.
    from terp.secrets.redactor import looks_secret  # noqa: PLC0415

    secret = {text for name, text, _ in texts if is_secret_name(name) or looks_secret(text)}
    return tuple(Held(row[0], row[-1] if row[1] in secret else row[1]) for row in read)


def _text(value: Any) -> str:
    return value[:_LONGEST] if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
