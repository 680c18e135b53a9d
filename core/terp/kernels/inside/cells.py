"""Hooks around a cell: its number, its last value, and imports from the working directory."""

from __future__ import annotations

import ast
import os
import sys
from importlib.machinery import PathFinder
from itertools import islice
from typing import Any

from .home import Home

# The value None of a call of one of these is not reported: the call shows its own output.
SPEAKING = {"print", "pprint", "display", "show", "run_line_magic", "run_cell_magic", "system"}

BRACKETS: dict[Any, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", dict: "{}"}


def last_call(code: str) -> str:
    """Return the name of the function that the last expression of `code` calls; "" if it calls none."""
    try:
        last = ast.parse(code).body[-1]
    except (SyntaxError, IndexError, ValueError):
        return ""
    value = getattr(last, "value", None)
    function = getattr(value, "func", None)
    return getattr(function, "id", "") or getattr(function, "attr", "")


def short(value: Any, limit: int = 100, depth: int = 2) -> str:
    """Return a repr that is fast and short for any value, and never raises."""
    try:
        text = _short(value, limit, depth)
    except (Exception, SystemExit) as error:  # noqa: BLE001
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _short(value: Any, limit: int, depth: int) -> str:
    kind: Any = type(value)
    if kind in (str, bytes, bytearray):
        return repr(value[:limit]) + ("…" if len(value) > limit else "")
    brackets = BRACKETS.get(kind)
    if brackets is None:
        return repr(value)
    if not depth:
        return f"{brackets[0]}…{brackets[1]}"
    some = [short(item, limit // 2, depth - 1) for item in islice(value, 12)]
    if kind is dict:
        values = [short(item, limit // 2, depth - 1) for item in islice(value.values(), 12)]
        some = [f"{key}: {item}" for key, item in zip(some, values)]  # noqa: B905 - not in Python 3.8
    return brackets[0] + ", ".join(some) + (", …" if len(value) > len(some) else "") + brackets[1]


class Hook:
    """Mixed into the kernel's display hook: notes a value that Jupyter does not show."""

    home: Home

    def __call__(self, result: Any = None) -> None:
        """Handle the value of an expression statement."""
        home = self.home
        if result is None:
            code = home.shell.history_manager.input_hist_parsed[-1]
            home.hidden = None if last_call(code) in SPEAKING else "None"
        else:
            home.hidden = short(result, 500) if self.quiet() else None  # type: ignore[attr-defined]
        super().__call__(result)  # type: ignore[misc]

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Write the value's display data, truncated to the cell's output limit."""
        super().write_format_data(self.home.fit(format_dict), md_dict)  # type: ignore[misc]

    def finish_displayhook(self) -> None:
        """Send the value after all text."""
        self.home.flush()
        super().finish_displayhook()  # type: ignore[misc]


# The key in a request's metadata for the number of the run in its session.
NUMBER = "terp_run"


def count_with_session(home: Home) -> None:
    """Use the session's number of the run in `In [N]` and in "Cell In[N]" of tracebacks."""
    kernel, shell = home.kernel, home.shell
    publish = kernel._publish_execute_input

    def numbered(code: Any, parent: Any, count: int) -> None:
        wanted = (parent.get("metadata") or {}).get(NUMBER)
        if type(wanted) is int and wanted > count:
            shell.execution_count = count = wanted
            for past in (shell.history_manager.input_hist_parsed, shell.history_manager.input_hist_raw):
                # Inputs are found by their place.
                past.extend([""] * (wanted - len(past)))
        home.number = count
        publish(code, parent, count)

    kernel._publish_execute_input = numbered


class Directory:
    """Adds the working directory to the import path once; removes it before the `kernel` ends."""

    def __init__(self, kernel: Any) -> None:
        self._there = False
        end = kernel.do_shutdown

        def do_shutdown(*args: Any, **kwargs: Any) -> Any:
            sys.path[:] = [one for one in sys.path if one]
            return end(*args, **kwargs)

        kernel.do_shutdown = do_shutdown

    def join(self, *_: object) -> None:
        """Add the working directory to the import path, in IPython's place."""
        if self._there:
            return
        self._there = True
        from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415 - a kernel that never runs code does without

        app: Any = IPKernelApp.instance()
        app.ignore_cwd = False
        app.init_path()
        sys.meta_path[:] = [LocalFinder if one is PathFinder else one for one in sys.meta_path]


# Frames between an import and the code that asks for it.
PASSING = ("importlib", "terp_home.cells", "terp_home.figures")
# Code that imports by a name that it was given: that of a cell, of a pickled object, of a configured tool.
NAMED_BY_OTHERS = {"__main__", "pickle", "runpy", "IPython.core.extensions", "terp_home", "terp_home.tools"}


class LocalFinder(PathFinder):
    """Finds modules of the working directory only for cells and for modules that lie in it.

    An installed package that tries to import an optional one (as pandas does with pyarrow) would otherwise
    run a file of that name from whatever folder a cell runs in.
    """

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a module; a reload finds what was found before."""
        if path is None and target is None and "" in sys.path and not is_local(sys._getframe(1)):
            path = [one for one in sys.path if one]
        return super().find_spec(fullname, path, target)


def is_local(frame: Any) -> bool:
    """Return True if the code that imports at `frame` may import modules of the working directory."""
    while frame and str(frame.f_globals.get("__name__")).startswith(PASSING):
        frame = frame.f_back
    if frame is None or frame.f_globals.get("__name__") in NAMED_BY_OTHERS:
        return frame is not None
    here, file = os.path.join(os.getcwd(), ""), os.path.abspath(frame.f_code.co_filename)  # noqa: PTH100, PTH109, PTH118
    # A virtual environment, or a whole Python, may lie in the directory.
    installed = "-packages" + os.sep in file or file.startswith(os.path.dirname(os.__file__))  # noqa: PTH120
    return file.startswith(here) and not installed
