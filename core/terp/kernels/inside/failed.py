"""Facts about failed and interrupted code: its line with values, and a hint which name was meant."""

from __future__ import annotations

import ast
import asyncio
import builtins
import difflib
import linecache
import os
import re
import traceback
import types
from collections.abc import Iterator
from typing import Any

from .home import Home
from .known import CONTAINERS, Kinds, printable, type_name

LONGEST_LINE, LONGEST_TEXT, MOST_VALUES = 160, 40, 6
LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python3|^<")
# Packages whose frames below the user's line are not shown: `input()` has five.
OURS = ("terp_home", "ipykernel", "IPython")
WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def place_of(error: BaseException, home: Home, kinds: Kinds) -> Any:
    """Return the place of an interrupt for a report; None if `error` is not an interrupt."""
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
    """Return the interrupt that an error is or was caused by; an awaiting cell is cancelled instead."""
    for _ in range(10):
        if error is None or isinstance(error, (KeyboardInterrupt, asyncio.CancelledError)):
            return error
        error = error.__cause__ or error.__context__
    return None


def walk(step: Any) -> Iterator[Any]:
    """Yield the steps of a traceback, the outermost first."""
    while step is not None:
        yield step
        step = step.tb_next


def cell_of(filename: str, home: Home) -> Any:
    """Return the number of the cell with this file name, or None."""
    return getattr(home.shell.compile, "_filename_map", {}).get(filename)


def is_own(step: Any, home: Home) -> bool:
    """Return True if a frame is of a cell, or of a file below the working directory outside libraries."""
    filename = step.tb_frame.f_code.co_filename
    if cell_of(filename, home):
        return True
    # Compiled modules name files that are not there.
    return filename.startswith(os.path.join(home.cwd, "")) and not LIBRARY.search(filename)  # noqa: PTH118


def name_of(code: types.CodeType) -> str:
    """Return a function's name, with its class since Python 3.11."""
    return getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")


def inside(step: Any, below: Any) -> str:
    """Return the function that the user's line was calling, in a library or in C."""
    called = call_at(step)
    module = below.f_globals.get("__name__") if below is not None else None
    if type(module) is str and module.partition(".")[0] not in OURS:
        return f"{module}.{name_of(below.f_code)}"
    # The line itself shows a bare name without a frame, such as `sum`.
    return called if below is not None or "." in called else ""


def call_at(step: Any) -> str:
    """Return the name that a step calls, as it is written; "" if it calls none, or before Python 3.11."""
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
    """Yield the small values of names on the line, in the loops around it, and on the lines beside it.

    For a str, its type and length are added: terp shows only these if the text may be a secret.
    """
    file = frame.f_code.co_filename
    lines = [linecache.getline(file, number) for number in (line, line - 1, line + 1) if number > 0]
    names: dict[str, Any] = dict.fromkeys(WORD.findall(lines[0]))
    names.update(dict.fromkeys(loop_names(file, line)))
    held = frame.f_locals
    # A line beside it may be of other code.
    names.update(dict.fromkeys(word for word in WORD.findall(" ".join(lines[1:])) if word in held))
    count = 0
    for name in names:
        where = held if name in held else frame.f_globals
        text = small(where[name], kinds) if name in where and name[:1] != "_" else ""
        if text and count < MOST_VALUES:
            count += 1
            yield (name, *value_texts(where[name], text, home, kinds))


def value_texts(value: Any, text: str, home: Home, kinds: Kinds) -> tuple[str, ...]:
    """Return the text of a value; for str also type and length, and only these for a typed password."""
    kind = type(value)
    if kind is not str and kind is not bytes:
        return (text,)
    alone = measured(value, kinds)
    content = value if kind is str else value.decode(errors="replace")
    return (alone,) if any(typed in content for typed in home.typed_unseen) else (text, alone)


def loop_names(filename: str, line: int) -> Iterator[str]:
    """Yield the target names of the loops around a line."""
    code = "".join(linecache.getlines(filename)[:2_000])
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AsyncFor)) and node.lineno <= line <= (node.end_lineno or 0):
            yield from (part.id for part in ast.walk(node.target) if isinstance(part, ast.Name))


def small(value: Any, kinds: Kinds) -> str:
    """Return a plain value in a few characters, or the type and length of another; "" if it has no length."""
    kind = type(value)
    if value is None or kind is bool or kind is float:
        return repr(value)
    if kind is int:
        return repr(value) if value.bit_length() <= 128 else f"int of {value.bit_length()} bits"
    if (kind is str or kind is bytes) and len(value) <= LONGEST_TEXT:
        return printable(repr(value), LONGEST_TEXT * 2)
    return measured(value, kinds)


def measured(value: Any, kinds: Kinds) -> str:
    """Return the type of a value and its length or shape; "" if it has none."""
    shape = kinds.shape(value)
    if not shape:
        return ""
    of = "of " if any(type(value) is known for known in (str, bytes, bytearray, *CONTAINERS)) else ""
    return f"{type_name(value)} {of}{'×'.join(f'{size:,}' for size in shape)}"


MOST_NAMES, LONGEST_NAME, MOST_FRAMES, MOST_FILES = 30, 60, 50, 20_000
# Names of parameters by which libraries refer to the object that they work on.
HOLDERS = ("self", "obj", "df", "frame", "data")
# The messages of seaborn and plotly about a missing column.
NO_COLUMN = re.compile(
    r"interpret (?:value|input) [`'](.+?)[`']"
    r"|is not the name of a column in 'data_frame'.*received: (\S.*?)\s*$",
    re.DOTALL,
)


def facts_of(error: Exception, home: Home, kinds: Kinds) -> Any:
    """Return values and hint for a report; None if there are neither."""
    kinds.renew()
    steps = list(walk(error.__traceback__))
    own = [number for number, step in enumerate(steps) if is_own(step, home)]
    if not own:
        return None
    step = steps[own[-1]]
    held = list(values(step.tb_frame, step.tb_lineno, home, kinds))
    advice = hint(error, [one.tb_frame for one in steps[own[-1] :][:MOST_FRAMES]], kinds)
    return {"values": held, "hint": advice} if held or advice else None


def group_traceback(error: Any, home: Home) -> str:
    """Return the traceback, from the cell on, of an error that contains an exception group; "" for others.

    IPython would print it, with its own frames.
    """
    group, one = getattr(builtins, "BaseExceptionGroup", ()), error
    while one is not None and not isinstance(one, group):
        one = one.__context__
    if one is None:
        return ""
    own = next((step for step in walk(error.__traceback__) if is_own(step, home)), None)
    text = "".join(traceback.format_exception(type(error), error, own or error.__traceback__)).rstrip()
    for filename, number in home.shell.compile._filename_map.items():
        text = text.replace(f'File "{filename}"', f"Cell In[{number}]")
    return text


def hint(error: Exception, frames: list[Any], kinds: Kinds) -> str:
    """Return a hint that lists the existing names where one was not found."""
    if isinstance(error, (KeyError, AttributeError)):
        return about_columns(error, frames, kinds) or about_keys(error, frames)
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return about_files(error.filename)
    if isinstance(error, UnicodeDecodeError):
        return looks_like(error, frames)
    named = type(error).__name__ == "ColumnNotFoundError" or asked_for(error)
    return about_columns(error, frames, kinds) if named else ""


def about_columns(error: Exception, frames: list[Any], kinds: Kinds) -> str:
    """Return a hint with the columns of the table that lacks the wanted one."""
    for value in held_by(frames):
        if kinds.library(type(value)) == "DataFrame":
            # The user's line names the table already.
            return f"The columns are: {listed(columns(value))}." + near(error, columns(value))
    return ""


def columns(table: Any) -> list[str]:
    """Return the names of a table's columns."""
    manager = getattr(table, "_mgr", None)
    names = manager.axes[0] if manager is not None else table.columns
    return [name if type(name) is str else repr(name) for name in list(names)[: MOST_NAMES * 10]]


def about_keys(error: Exception, frames: list[Any]) -> str:
    """Return a hint with the keys of the dict that lacks the wanted one, if the line uses only one dict."""
    if not isinstance(error, KeyError):
        return ""
    used = frames[0].f_code.co_names + frames[0].f_code.co_varnames
    values = [value for name, value in frames[0].f_locals.items() if name in used]
    dicts = list({id(value): value for value in values if type(value) is dict and value}.values())
    if len(dicts) != 1:
        return ""
    keys = [key if type(key) is str else repr(key) for key in list(dicts[0])[: MOST_NAMES * 10]]
    return f"The keys are: {listed(keys)}." + near(error, keys)


def held_by(frames: list[Any]) -> Iterator[Any]:
    """Yield the objects that the failing line and the library below it used, the innermost first."""
    for frame in reversed(frames[1:]):
        yield from (frame.f_locals[name] for name in HOLDERS if name in frame.f_locals)
    named = frames[0].f_code.co_names + frames[0].f_code.co_varnames
    yield from (frames[0].f_locals[name] for name in named if name in frames[0].f_locals)


def about_files(name: Any) -> str:
    """Return a hint with the files in the folder of a missing file."""
    if not isinstance(name, str):
        return ""
    folder, file = os.path.split(os.path.abspath(name))  # noqa: PTH100
    try:
        with os.scandir(folder) as entries:
            there = [entry.name for entry, _ in zip(entries, range(MOST_FILES)) if entry.name[:1] != "."]  # noqa: B905
    except OSError:
        return f"There is no folder {printable(folder, 300)}."
    alike = difflib.get_close_matches(file, there, n=5, cutoff=0.5)
    alike += [one for one in there if one.lower() == file.lower() and one not in alike]
    if alike:
        return f"In {printable(folder, 300)} there is: {listed(alike)}."
    return (
        f"{printable(folder, 300)} has: {listed(sorted(there))}."
        if there
        else f"{printable(folder, 300)} is empty."
    )


def asked_for(error: Exception) -> str:
    """Return the column that the message of a ValueError names as missing; "" if none."""
    found = NO_COLUMN.search(str(error)[:5_000]) if isinstance(error, ValueError) else None
    return next(filter(None, found.groups()), "") if found else ""


def near(error: Exception, names: list[str]) -> str:
    """Return a "Did you mean" with the name most similar to the wanted one."""
    wanted = asked_for(error) or getattr(error, "name", None) or (error.args[0] if error.args else None)
    if type(wanted) is not str or wanted in names:
        return ""
    lower = {name.lower(): name for name in names}
    found = difflib.get_close_matches(wanted.lower(), list(lower), n=1, cutoff=0.6)
    return f" Did you mean {printable(lower[found[0]], LONGEST_NAME)!r}?" if found else ""


def listed(names: list[str]) -> str:
    """Return names as a list in a sentence, truncated."""
    more = len(names) - MOST_NAMES
    text = ", ".join(printable(name, LONGEST_NAME) for name in names[:MOST_NAMES])
    return f"{text} and {more} more" if more > 0 else text


# Names of parameters for the file that a function reads.
FILES = ("filepath_or_buffer", "file", "path", "filename", "fname", "name", "f")
SAMPLE = 1 << 16
HIGH = re.compile(rb"[\x80-\xff]+")
EASTERN = ("shift_jis", "euc_jp", "euc_kr", "big5", "gb18030")
KANA = range(0x3040, 0x3100)


def looks_like(error: UnicodeDecodeError, frames: list[Any]) -> str:
    """Return a sentence with the probable encoding; "" if none fits."""
    found = encoding_of(sample(frames) or bytes(error.object[:SAMPLE]))
    return f'The text looks like {found}: try encoding="{found}".' if found else ""


def sample(frames: list[Any]) -> bytes:
    """Return the beginning of the file that was read, if one of the frames names it."""
    for frame in frames:
        for name in FILES:
            value = frame.f_locals.get(name)
            path = value if isinstance(value, (str, os.PathLike)) else getattr(value, "name", None)
            if isinstance(path, (str, os.PathLike)) and os.path.isfile(path):  # noqa: PTH113
                with open(path, "rb") as file:  # noqa: PTH123
                    return file.read(SAMPLE)
    return b""


def encoding_of(data: bytes) -> str:
    """Guess an encoding: by a byte order mark, by byte pairs of East Asian scripts, else a Western one."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    runs = HIGH.findall(data)
    if not runs or decodes(data, "utf-8"):
        return ""
    if max(map(len, runs)) < 4:
        return "cp1252" if decodes(data, "cp1252") else "latin-1"
    return next((name for name in EASTERN if decodes(data, name) and is_usual(data, name)), "")


def is_usual(data: bytes, name: str) -> bool:
    """Return True if bytes that decode in an East Asian encoding look like usual text in it."""
    high = [byte for byte in data if byte > 127]
    if name in ("shift_jis", "euc_jp"):
        return sum(ord(char) in KANA for char in data.decode(name, "ignore")) * 8 > len(high)
    if name == "euc_kr":
        # Hangul begin with these bytes; of Chinese characters a good half does not.
        return len(high) > 20 and all(0xB0 <= byte <= 0xC8 for byte in high[::2])
    return name != "big5" or not decodes(data, "gb2312")


def decodes(data: bytes, encoding: str) -> bool:
    """Return True if bytes decode in an encoding, except for a character truncated at their end."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return len(data) >= SAMPLE and error.start >= len(data) - 4
    return True
