"""Where code stood when it was interrupted: the innermost line of the person's own, and what it held."""

from __future__ import annotations

import ast
import asyncio
import linecache
import os
import re
import types
from collections.abc import Iterator
from typing import Any

from .home import Home
from .known import CONTAINERS, Kinds, printable, type_name

LONGEST_LINE, LONGEST_TEXT, MOST_VALUES = 160, 40, 6
LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python3|^<")
# Frames between the person's line and the system that say nothing of it: `input()` has five.
OURS = ("terp_home", "ipykernel", "IPython")
WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def place_of(error: BaseException, home: Home, kinds: Kinds) -> Any:
    """Where an interrupt hit, as a report tells it; None when `error` is of another kind."""
    found = interrupt_in(error)
    if found is None:
        return None
    steps = list(walk(found.__traceback__))
    own = [number for number, step in enumerate(steps) if is_own(step, home)]
    if not own:
        return None
    step, below = steps[own[-1]], steps[own[-1] + 1 : own[-1] + 2]
    frame, line = step.tb_frame, step.tb_lineno
    filename, name = frame.f_code.co_filename, name_of(frame.f_code)
    source = linecache.getline(filename, line).strip()
    run = cell_of(filename, home)
    return {
        "line": line,
        "function": "" if name == "<module>" else printable(name, LONGEST_TEXT),
        "source": printable(source, LONGEST_LINE),
        "inside": printable(inside(step, below[0].tb_frame if below else None), LONGEST_TEXT * 2),
        "run": 0 if run in (None, home.number) else run,
        "file": filename if run is None else "",
        "values": list(values(frame, line, home, kinds)),
    }


def interrupt_in(error: Any) -> Any:
    """The interrupt that an error is, or that it came of; an awaiting cell is cancelled instead."""
    for _ in range(10):
        if error is None or isinstance(error, (KeyboardInterrupt, asyncio.CancelledError)):
            return error
        error = error.__cause__ or error.__context__
    return None


def walk(step: Any) -> Iterator[Any]:
    """The steps of a traceback, from the outermost on."""
    while step is not None:
        yield step
        step = step.tb_next


def cell_of(filename: str, home: Home) -> Any:
    """The number of the cell that a file name stands for; None when it stands for none."""
    return getattr(home.shell.compile, "_filename_map", {}).get(filename)


def is_own(step: Any, home: Home) -> bool:
    """Whether a frame is of a cell, or of a file below the working directory that is no library's."""
    filename = step.tb_frame.f_code.co_filename
    if cell_of(filename, home):
        return True
    # Compiled modules name files that are not there.
    return filename.startswith(os.path.join(home.cwd, "")) and not LIBRARY.search(filename)  # noqa: PTH118


def name_of(code: types.CodeType) -> str:
    """A function's name, with its class where Python knows it."""
    return getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")


def inside(step: Any, below: Any) -> str:
    """What the person's line was calling: a function of a library, or one that is written in C."""
    called = call_at(step)
    module = below.f_globals.get("__name__") if below is not None else None
    if type(module) is str and module.partition(".")[0] not in OURS:
        return f"{module}.{name_of(below.f_code)}"
    # Without a frame of its own a bare name, such as `sum`, is told by the line.
    return called if below is not None or "." in called else ""


def call_at(step: Any) -> str:
    """The name that a step calls, as it is written there; "" when it calls none, or before Python 3.11."""
    code = step.tb_frame.f_code
    if not hasattr(code, "co_positions"):
        return ""
    first, last, start, end = list(code.co_positions())[step.tb_lasti // 2]
    if first is None or last is None or last - first > 20:
        return ""
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(first, last + 1)]
    try:
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][start:]
        called = ast.parse(b"".join(lines).strip().decode(), mode="eval").body
    except (SyntaxError, ValueError, IndexError):
        return ""
    function = called.func if isinstance(called, ast.Call) else None
    whole = ast.unparse(function) if isinstance(function, (ast.Name, ast.Attribute)) else ""
    return whole if re.fullmatch(r"[\w.]+", whole) else ""


def values(frame: Any, line: int, home: Home, kinds: Kinds) -> Iterator[tuple[str, ...]]:
    """The small values of the names on the line, of the loops around it, and of the lines beside it.

    Of text, its type and length follow: terp shows these alone where the text may be a secret.
    """
    file = frame.f_code.co_filename
    lines = [linecache.getline(file, number) for number in (line, line - 1, line + 1) if number > 0]
    names: dict[str, Any] = dict.fromkeys(WORD.findall(lines[0]))
    names.update(dict.fromkeys(loop_names(file, line)))
    held = frame.f_locals
    # A line beside it may be of other code.
    names.update(dict.fromkeys(word for word in WORD.findall(" ".join(lines[1:])) if word in held))
    told = 0
    for name in names:
        where = held if name in held else frame.f_globals
        text = small(where[name], kinds) if name in where and name[:1] != "_" else ""
        if text and told < MOST_VALUES:
            told += 1
            yield (name, *told_of(where[name], text, home, kinds))


def told_of(value: Any, text: str, home: Home, kinds: Kinds) -> tuple[str, ...]:
    """The value in words; of text its type and length too, which are all where it was typed unseen."""
    kind = type(value)
    if kind is not str and kind is not bytes:
        return (text,)
    alone = measured(value, kinds)
    content = value if kind is str else value.decode(errors="replace")
    return (alone,) if any(typed in content for typed in home.typed_unseen) else (text, alone)


def loop_names(filename: str, line: int) -> Iterator[str]:
    """The names that the loops around a line give values to."""
    code = "".join(linecache.getlines(filename)[:2_000])
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AsyncFor)) and node.lineno <= line <= (node.end_lineno or 0):
            yield from (part.id for part in ast.walk(node.target) if isinstance(part, ast.Name))


def small(value: Any, kinds: Kinds) -> str:
    """A value in a few characters, when it is a plain one or has a length; "" for anything else."""
    kind = type(value)
    if value is None or kind is bool or kind is float:
        return repr(value)
    if kind is int:
        return repr(value) if value.bit_length() <= 128 else f"int of {value.bit_length()} bits"
    if (kind is str or kind is bytes) and len(value) <= LONGEST_TEXT:
        return printable(repr(value), LONGEST_TEXT * 2)
    return measured(value, kinds)


def measured(value: Any, kinds: Kinds) -> str:
    """The type of a value and its length or shape; "" when it has none."""
    shape = kinds.shape(value)
    if not shape:
        return ""
    of = "of " if any(type(value) is known for known in (str, bytes, bytearray, *CONTAINERS)) else ""
    return f"{type_name(value)} {of}{'×'.join(map(grouped, shape))}"


def grouped(number: int) -> str:
    """A number in groups of three."""
    return f"{number:,}".replace(",", " ")
