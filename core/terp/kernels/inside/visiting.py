"""Visits: terp in a kernel that another program started, where it changes nothing for other clients.

Streams, figures and formatters are not replaced, files are not watched, and no process ends with another. The
added hooks report on cells of guest sessions, and are removed with the last guest.
"""

from __future__ import annotations

import builtins
import sys
from importlib import import_module
from typing import Any

from .files import cwd
from .home import Home
from .known import Kinds
from .namespace import Namespace

COMM = "terp"
# The key in a request's metadata for the conditions to evaluate after the cell.
WATCH = "terp_watch"


class Visit:
    """The hooks that terp has added to this kernel."""

    def __init__(self, shell: Any) -> None:
        self.home = home = Home(shell, "")
        self.namespace = Namespace(home)
        self.ours = False
        self.show = shell._showtraceback
        self.ask = home.kernel._input_request
        shell._showtraceback = self.show_traceback
        home.kernel._input_request = self.input_request
        self.begin, self.end = home.guarded(self.begin_cell), home.guarded(self.end_cell)
        shell.events.register("pre_run_cell", self.begin)
        shell.events.register("post_run_cell", self.end)

    def begin_cell(self, *about: Any) -> None:
        """Prepare for a cell of any client."""
        home = self.home
        self.ours = home.kernel.get_parent()["header"].get("session") in home.tokens
        if self.ours:
            home.begin()
            home.cwd = cwd()
            # Changes by cells of other clients are not changes of this cell.
            self.namespace.before = None
            self.namespace.begin(code_of(about))

    def end_cell(self, *_: Any) -> None:
        """Report on a finished cell if a guest sent it."""
        if not self.ours:
            return
        sent = self.home.kernel.get_parent().get("metadata") or {}
        self.home.guarded(self.namespace.evaluate)(sent.get(WATCH))
        self.home.in_cell = False
        self.home.guarded(self.namespace.compare)()
        now = cwd()
        report_facts(self.home, self.namespace, cwd=now if now != self.home.cwd else "")

    def show_traceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        """Show an error as usual, after noting where an interrupt hit terp's cell."""
        if self.ours and self.home.in_cell:
            self.home.guarded(self.note)(evalue)
        self.show(etype, evalue, stb)

    def note(self, error: BaseException) -> None:
        """Note the line that an interrupt hit, or the values at the line that failed."""
        # The cell that runs is the last that was compiled; the shell may count the next one already.
        cells = getattr(self.home.shell.compile, "_filename_map", {})
        self.home.number = max(cells.values(), default=0)
        note_error(error, self.home, self.namespace.kinds)

    def input_request(self, *args: Any, **kwargs: Any) -> Any:
        """Ask as usual, after reporting that all output before the question of terp's cell is sent."""
        if self.ours and self.home.in_cell:
            sys.stdout.flush()
            self.home.report(asks=True)
        return self.ask(*args, **kwargs)

    def undo(self) -> None:
        """Remove everything that was added."""
        shell, kernel = self.home.shell, self.home.kernel
        shell.events.unregister("pre_run_cell", self.begin)
        shell.events.unregister("post_run_cell", self.end)
        for thing, name, before in (
            (shell, "_showtraceback", self.show),
            (kernel, "_input_request", self.ask),
        ):
            # Another program may have wrapped ours since.
            if getattr(getattr(thing, name), "__self__", None) is self:
                setattr(thing, name, before)
        kernel.comm_manager.targets.pop(COMM, None)
        for name, value in list(vars(builtins).items()):
            if is_of_terp(value):
                delattr(builtins, name)
        sys.meta_path[:] = [finder for finder in sys.meta_path if not is_of_terp(finder)]
        for name in [name for name in sys.modules if name.partition(".")[0] == "terp_home"]:
            del sys.modules[name]
        self.home.log.close()


def code_of(about: Any) -> str:
    """Return the code of a cell from the arguments of IPython's `pre_run_cell`; "" without it."""
    code = getattr(about[0], "raw_cell", "") if about else ""
    return code if type(code) is str else ""


def error_facts() -> Any:
    """Import and return the module about failed and interrupted code."""
    # 5 ms of the start, and most cells do not fail.
    return import_module(".failed", __package__)


def note_error(error: BaseException, home: Home, kinds: Kinds) -> None:
    """Note the line that an interrupt hit, and the values at the line that failed."""
    home.stopped = error_facts().place_of(error, home, kinds)
    if isinstance(error, Exception):
        home.failed = error_facts().facts_of(error, home, kinds)


def report_facts(home: Home, namespace: Namespace, **more: Any) -> None:
    """Report facts about the finished cell, if there are any."""
    facts = {
        "hidden": home.hidden,
        "stopped": home.stopped,
        "failed": home.failed,
        # A variable of that name hides `out` of this package.
        "shadowed": "out" in home.shell.user_ns,
        **more,
        **namespace.found,
    }
    report = {name: fact for name, fact in facts.items() if fact or fact == ""}
    if any(fact or name == "hidden" for name, fact in report.items()):
        home.report(**report)


def is_of_terp(value: Any) -> bool:
    """Return True if a value or its class is defined in this package."""
    modules = (getattr(value, "__module__", None), type(value).__module__)
    return any(type(module) is str and module.partition(".")[0] == "terp_home" for module in modules)
