"""What is at hand where code failed: the values of its line, and what could have been meant by a name."""

from __future__ import annotations

import builtins
import difflib
import os
import re
import traceback
from collections.abc import Iterator
from typing import Any

from .home import Home
from .known import Kinds, printable
from .stopped import is_own, values, walk

MOST_NAMES, LONGEST_NAME, MOST_FRAMES, MOST_FILES = 30, 60, 50, 20_000
# What a library calls the thing that it works for.
HOLDERS = ("self", "obj", "df", "frame", "data")
# How seaborn and plotly say that a table lacks a column.
NO_COLUMN = re.compile(
    r"interpret (?:value|input) [`'](.+?)[`']"
    r"|is not the name of a column in 'data_frame'.*received: (\S.*?)\s*$",
    re.DOTALL,
)


def facts_of(error: Exception, home: Home, kinds: Kinds) -> Any:
    """The values at hand and a hint, as a report tells them; None when there are neither."""
    kinds.renew()
    steps = list(walk(error.__traceback__))
    own = [number for number, step in enumerate(steps) if is_own(step, home)]
    if not own:
        return None
    step = steps[own[-1]]
    held = list(values(step.tb_frame, step.tb_lineno, home, kinds))
    told = hint(error, [one.tb_frame for one in steps[own[-1] :][:MOST_FRAMES]], kinds)
    return {"values": held, "hint": told} if held or told else None


def group_told(error: Any, home: Home) -> str:
    """The traceback of an error that has a group of errors in it, from the cell on; "" for any other.

    IPython would print it, with its own frames.
    """
    group, one = getattr(builtins, "BaseExceptionGroup", ()), error
    while one is not None and not isinstance(one, group):
        one = one.__context__
    if one is None:
        return ""
    own = next((step for step in walk(error.__traceback__) if is_own(step, home)), None)
    told = "".join(traceback.format_exception(type(error), error, own or error.__traceback__)).rstrip()
    for filename, number in home.shell.compile._filename_map.items():
        told = told.replace(f'File "{filename}"', f"Cell In[{number}]")
    return told


def hint(error: Exception, frames: list[Any], kinds: Kinds) -> str:
    """What there is in place of what was not found."""
    if isinstance(error, (KeyError, AttributeError)):
        return about_columns(error, frames, kinds) or about_keys(error, frames)
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return about_files(error.filename)
    if isinstance(error, UnicodeDecodeError):
        from .encodings import looks_like  # noqa: PLC0415 - few files are of another encoding

        return looks_like(error, frames)
    named = type(error).__name__ == "ColumnNotFoundError" or asked_for(error)
    return about_columns(error, frames, kinds) if named else ""


def about_columns(error: Exception, frames: list[Any], kinds: Kinds) -> str:
    """The columns of the table that has not the one that was asked for."""
    for value in held_by(frames):
        if kinds.library(type(value)) == "DataFrame":
            # What a person has named is told by their line.
            return f"The columns are: {listed(columns(value))}." + near(error, columns(value))
    return ""


def columns(table: Any) -> list[str]:
    """The names of the columns of a table."""
    manager = getattr(table, "_mgr", None)
    names = manager.axes[0] if manager is not None else table.columns
    return [name if type(name) is str else repr(name) for name in list(names)[: MOST_NAMES * 10]]


def about_keys(error: Exception, frames: list[Any]) -> str:
    """The keys of the dict that has not the one that was asked for, if one dict of the line is it."""
    if not isinstance(error, KeyError):
        return ""
    names = [value for name, value in frames[0].f_locals.items() if name in frames[0].f_code.co_names]
    names += [value for name, value in frames[0].f_locals.items() if name in frames[0].f_code.co_varnames]
    dicts = list({id(value): value for value in names if type(value) is dict and value}.values())
    if len(dicts) != 1:
        return ""
    keys = [key if type(key) is str else repr(key) for key in list(dicts[0])[: MOST_NAMES * 10]]
    return f"The keys are: {listed(keys)}." + near(error, keys)


def held_by(frames: list[Any]) -> Iterator[Any]:
    """The things that the failing line, and the library below it, were about; the innermost first."""
    for frame in reversed(frames[1:]):
        yield from (frame.f_locals[name] for name in HOLDERS if name in frame.f_locals)
    named = frames[0].f_code.co_names + frames[0].f_code.co_varnames
    yield from (frames[0].f_locals[name] for name in named if name in frames[0].f_locals)


def about_files(name: Any) -> str:
    """What is in the folder in which a file was looked for."""
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
    """The column that the words of a ValueError say is missing; "" where they say nothing of one."""
    found = NO_COLUMN.search(str(error)[:5_000]) if isinstance(error, ValueError) else None
    return next(filter(None, found.groups()), "") if found else ""


def near(error: Exception, names: list[str]) -> str:
    """The name that is most like the one that was asked for."""
    wanted = asked_for(error) or getattr(error, "name", None) or (error.args[0] if error.args else None)
    if type(wanted) is not str or wanted in names:
        return ""
    lower = {name.lower(): name for name in names}
    found = difflib.get_close_matches(wanted.lower(), list(lower), n=1, cutoff=0.6)
    return f" Did you mean {printable(lower[found[0]], LONGEST_NAME)!r}?" if found else ""


def listed(names: list[str]) -> str:
    """Names in words, the first of many."""
    more = len(names) - MOST_NAMES
    told = ", ".join(printable(name, LONGEST_NAME) for name in names[:MOST_NAMES])
    return f"{told} and {more} more" if more > 0 else told
