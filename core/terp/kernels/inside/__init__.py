"""terp's code in a Python kernel. Runs inside the kernel, as the package `terp_home`.

It works with any Python from 3.8 that has ipykernel, imports nothing of terp, binds no name in the user's
namespace and never changes their code. Its reports are display data of a private MIME type. The user's code,
and tools that terp defines, call terp's own process with `terp_home.call`.
"""

from __future__ import annotations

import ast
import faulthandler
import gc
import importlib.util
import os
import signal
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from ipykernel.connect import get_connection_file

from .cells import Directory, Hook, count_with_session
from .checkpoints import Checkpoints
from .differences import TextDifferences
from .figures import After, Figures
from .files import Changed, Touched, cwd, read, write
from .home import Home, call, homes
from .libraries import Charts, draw_bars_as_text, prepare_frames, show_at_once
from .namespace import Namespace
from .recall import provide
from .stored import StoredNames
from .text import CellStream, Parented, Pipes, mark_threads, packing
from .visiting import WATCH, Visit, code_of, error_facts, note_error, report_facts

# The key in a request's metadata for the turn of its code, a number that grows.
TURN = "terp_moment"

_visit: Any = None


def answer_questions(
    home: Home,
    namespace: Namespace,
    directory: Directory | None = None,
    checkpoints: Checkpoints | None = None,
    stored: StoredNames | None = None,
) -> None:
    """Answer requests of the adapter through a comm, without running a cell.

    A kernel that terp visits has no `directory` to join, no `checkpoints` and no `stored` values.
    """

    # Imported and made at their first use: see `value_text`.
    @lru_cache(None)
    def handing_out() -> Any:
        return import_module(".handing_out", __package__).HandingOut(stored, checkpoints)

    @lru_cache(None)
    def transfers() -> Any:
        return import_module(".values", __package__).Transfers(home.shell)

    @lru_cache(None)
    def listing() -> Any:
        return import_module(".listing", __package__).VariableListing(home, namespace.kinds)

    def opened(comm: Any, message: Any) -> None:
        asked = message["content"]["data"].get("ask")
        about = message["content"]["data"].get("about") or []
        answers: dict[str, Callable[[], Any]] = {
            "variables": lambda: listing().variables(),
            "names": lambda: listing().names(),
            "missing": lambda: missing(about, directory),
            "cwd": cwd,
            "value": lambda: value_text(home.shell, *about),
            "difference": lambda: namespace.difference(*about),
            "value_out": lambda: transfers().out(*about),
            "value_in": lambda: renewed(namespace, transfers().into(*about)),
            "packages": packages,
            "read": lambda: read(*about),
            "write": lambda: write(*about),
            "written": lambda: checkpoints.written(*about) if checkpoints else [],
            "hand_out": lambda: handing_out().run(*about) if stored else {},
            "bind": lambda: stored.bind(*about) if stored else {},
            "load_all": lambda: stored.load_mentioned("globals()") if stored else None,
            "rewind": lambda: restored(namespace, checkpoints, *about) if checkpoints else {},
        }
        data = {asked: answers[asked]()} if asked in answers else {}
        content = {"comm_id": comm.comm_id, "data": data}
        home.kernel.session.send(home.kernel.iopub_socket, "comm_msg", content, parent=message)
        home.kernel.comm_manager.unregister_comm(comm)

    home.kernel.comm_manager.register_target("terp", opened)


def missing(modules: list[str], directory: Directory | None) -> list[str]:
    """Return the top-level modules that an import would not find, before code runs."""
    if directory is not None:
        directory.join()
    importlib.invalidate_caches()
    return [name for name in modules if name not in sys.modules and importlib.util.find_spec(name) is None]


def value_text(shell: Any, asked: str) -> dict[str, str]:
    """Return the text of a value that an answer refers to, or the reason why it has none."""
    from . import referring  # noqa: PLC0415 - 1.3 ms of the start, and most sessions never ask

    return referring.value_text(shell, asked)


def renewed(namespace: Namespace, answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer after which a name may have another value: that is no change of the next cell."""
    namespace.before = None
    return answer


def packages() -> dict[str, str]:
    """Return the versions of the installed distributions by their names."""
    from importlib.metadata import distributions  # noqa: PLC0415 - see `value_text`

    found = [(one.metadata["Name"], one.version) for one in distributions()]
    # The first of a name is the one that is imported.
    return {name: version for name, version in reversed(found) if name}


def restored(namespace: Namespace, checkpoints: Checkpoints, number: int, *paths: str) -> dict[str, Any]:
    """Restore the state before a turn; return a report."""
    report = checkpoints.restore(number, *paths)
    # The next cell is compared with the restored state, and a condition may have held in that.
    namespace.before = namespace.watches = None
    return report


def register_sample(home: Home) -> None:
    """Have SIGUSR1 write the stack into a file beside the connection file, whatever the code is doing.

    The kernel gets the signal right before it is killed, so replacing the code's own handler does no harm.
    """
    if sys.platform != "win32":
        folder = os.path.dirname(get_connection_file())  # noqa: PTH120
        home.stack = open(os.path.join(folder, "stack"), "w")  # noqa: PTH118, PTH123, SIM115
        faulthandler.register(signal.SIGUSR1, home.stack, all_threads=False)


def end_with_parent() -> None:
    """Have the kernel killed when terp dies (Linux): C code that never yields would keep it alive."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415

        pr_set_pdeathsig, sigkill = 1, 9
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, sigkill)


def visit(shell: Any, token: str, session: str) -> None:
    """Add a session of terp as a guest of the kernel of `shell`; `token` marks its service calls."""
    global _visit  # noqa: PLW0603
    if not homes:
        _visit = Visit(shell)
        homes.append(_visit.home)
        answer_questions(_visit.home, _visit.namespace)
        provide(call)
    homes[0].tokens[session] = token


def leave(session: str) -> None:
    """Remove a guest session; after the last one, remove all that terp has added."""
    homes[0].tokens.pop(session, None)
    if _visit is not None and not homes[0].tokens:
        _visit.undo()


def is_at_home() -> bool:
    """Return True if an earlier terp process has prepared this kernel as its own."""
    return bool(homes and homes[0].token)


def adopt(token: str) -> None:
    """Serve a terp process that reconnects to its kernel; a new `token` marks the calls of its services."""
    homes[0].token = token


def install(shell: Any, token: str, away: bool) -> None:
    """Prepare the kernel of `shell`; `token` marks the calls of terp's services.

    A kernel that is `away` runs on another machine: it reports which files a cell has changed, and does not
    end with its parent.
    """
    home = Home(shell, token)
    homes[:] = [home]
    hooks = CellHooks(home, away)
    sys.addaudithook(hooks.touched.audit)
    prepare_display(home, hooks.figures)
    prepare_errors(home, hooks.namespace)
    prepare_frames(home)
    prepare_input(home)
    directory = Directory(home.kernel)
    answer_questions(home, hooks.namespace, directory, hooks.checkpoints, hooks.stored)
    count_with_session(home)
    provide(call)
    for before in (directory.join, hooks.begin, hooks.load, hooks.save):
        shell.events.register("pre_run_cell", home.guarded(before))
    shell.events.register("post_run_cell", home.guarded(hooks.end))
    prepare_end(home, away)


class StoppedCell:
    """Replaces the code of one cell by an interrupt, which came while its values were loading."""

    done = False

    def visit(self, code: Any) -> Any:
        """Return the code to run."""
        done, self.done = self.done, True
        return code if done else ast.parse("raise KeyboardInterrupt")


class CellHooks:
    """The work before and after each cell, in a kernel that terp has started."""

    def __init__(self, home: Home, away: bool) -> None:
        self.home = home
        self.pipes = prepare_text(home)
        self.figures = prepare_figures(home)
        self.touched = Touched(home, self.pipes)
        self.namespace = Namespace(home)
        self.checkpoints = Checkpoints(home.shell, self.namespace.kinds)
        self.stored = StoredNames(home, self.namespace)
        self.touched.watch = self.before_writing
        self.differences = TextDifferences()
        self.changed = Changed(self.touched) if away else None
        self.watched: Any = None

    def begin(self, *about: Any) -> None:
        """Reset what is recorded about a cell."""
        self.home.begin()
        self.touched.begin()
        if self.changed:
            self.changed.begin()
        self.pipes.renew()
        self.differences.begin()
        self.namespace.begin(code_of(about))

    def before_writing(self, path: str) -> None:
        """Copy a file that the cell is about to write to."""
        self.checkpoints.before_writing(path)
        self.differences.keep(path)

    def load(self, *about: Any) -> None:
        """Load the values of a checkpoint that the cell mentions."""
        changes = self.home.shell.ast_transformers
        changes[:] = [one for one in changes if type(one) is not StoppedCell]
        try:
            self.stored.load_mentioned(code_of(about))
        except KeyboardInterrupt:
            # IPython catches it here, and would run the cell.
            changes.append(StoppedCell())

    def save(self, *about: Any) -> None:
        """Save the state that the cell can change."""
        sent = self.home.kernel.get_parent().get("metadata") or {}
        self.watched = sent.get(WATCH)
        self.checkpoints.begin(sent.get(TURN), code_of(about))

    def end(self, *_: Any) -> None:
        """Send all output of the cell, and report facts about it."""
        home = self.home
        try:
            self.figures.finish()
            self.namespace.evaluate(self.watched)
        finally:
            self.pipes.drain_all()
            home.flush()
            home.in_cell = False
            # IPython 9 keeps every displayed picture there.
            getattr(home.shell.history_manager, "outputs", {}).clear()
            home.report_dropped()
            home.guarded(self.namespace.compare)()
            home.guarded(self.note_changes)()
            report_facts(
                home,
                self.namespace,
                touched=self.touched.before,
                cwd=self.touched.moved_to(),
                files=self.changed.rows() if self.changed else [],
                diffs=self.differences.rows(),
            )

    def note_changes(self) -> None:
        """Note the changes of the cell in the checkpoint."""
        self.checkpoints.end(self.namespace.changed, self.touched.before)


def prepare_end(home: Home, away: bool) -> None:
    """Have the kernel end quickly, and with terp unless it is `away`."""
    # `sys.exit()` is reported as an error anyway.
    warnings.filterwarnings("ignore", message="To exit: use 'exit'")
    faulthandler.enable(home.log, all_threads=False)
    if not away:
        register_sample(home)
        end_with_parent()
    # Objects made before the first cell live to the end. Collecting them as garbage is most of the time that
    # a kernel takes to end (measured: 150 ms of 175). Objects made by cells are collected as usual.
    gc.freeze()
    if not away:
        # terp's command line has turned it off.
        gc.enable()


def prepare_text(home: Home) -> Pipes:
    """Replace the class of the streams, and put pipes behind the file descriptors."""
    pipes = Pipes(home)
    out: Any = sys.stdout
    err: Any = sys.stderr
    home.streams = [out, err]
    for stream, other, number in ((out, err, 1), (err, out, 2)):
        stream.__class__ = CellStream
        stream.prepare(home, pipes, other, number)
    if sys.__stdout__ is not None:
        # Code that restores it after a redirection would print into a buffer that is never flushed.
        sys.__stdout__.reconfigure(line_buffering=True)
    pipes.renew()
    pipes.start()
    home.kernel.session.pack = packing(home.kernel.session.pack)
    # With the default limit of 1000 messages a busy reader loses output and even the end of a run
    # (measured). Messages queue here instead; a cell's output limit bounds them.
    thread = home.kernel.iopub_thread
    thread.schedule(lambda: setattr(thread.socket, "sndhwm", 0))
    mark_threads(home)
    return pipes


def prepare_figures(home: Home) -> Figures:
    """Install hooks that run after the import of matplotlib and chart libraries."""
    figures = Figures(home)
    wanted: dict[str, Callable[[Any], None]] = {
        "matplotlib.backend_bases": figures.watch_managers,
        "matplotlib._text_helpers": figures.glyphs.watch_helpers,
        "matplotlib.figure": figures.watch_figure,
        "matplotlib.font_manager": figures.glyphs.watch_fonts,
        "matplotlib.pyplot": figures.watch_pyplot,
        "matplotlib_inline.backend_inline": figures.watch_inline,
        "tqdm.notebook": draw_bars_as_text,
        "ipywidgets.widgets.widget_output": partial(show_at_once, home.shell),
        **Charts(home).wanted(),
    }
    sys.meta_path.insert(0, After(wanted))
    return figures


def prepare_display(home: Home, figures: Figures) -> None:
    """Keep displays in order with text and within the cell's output limit."""
    shell = home.shell
    hook = shell.displayhook
    hook.__class__ = type("TerpDisplayHook", (Hook, type(hook)), {"home": home})
    publisher = shell.display_pub
    if hasattr(publisher, "_parent_header_global"):
        publisher.__class__ = type("TerpDisplayPublisher", (Parented, type(publisher)), {"home": home})
    publish = publisher.publish
    shell.display_formatter.format = figures.format(shell.display_formatter.format)

    def bounded_publish(data: Any, *args: Any, **kwargs: Any) -> None:
        home.flush()
        fits = home.fit(data)
        if fits:
            publish(fits, *args, **kwargs)

    publisher.publish = bounded_publish


def prepare_errors(home: Home, namespace: Namespace) -> None:
    """Remove terp's frames, and ipykernel's below `input()`, from tracebacks; record where code stopped."""
    show = home.shell._showtraceback

    def show_traceback(etype: Any, evalue: Any, stb: Any) -> None:
        home.flush()
        home.guarded(note_error)(evalue, home, namespace.kinds)
        theirs = isinstance(stb, list) and [part for part in stb if not of_ours(part)]
        show(etype, evalue, theirs or stb)

    home.shell._showtraceback = show_traceback
    # IPython would print the usage error of a magic; the reply contains it as an error already.
    home.shell.show_usage_error = lambda _: home.flush()
    show_one = home.shell.showtraceback

    def show_any(exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        error = (exc_tuple or sys.exc_info())[1]
        if text := error_facts().group_traceback(error, home):
            home.shell._showtraceback(type(error), error, [text])
        else:
            show_one(exc_tuple, *args, **kwargs)

    home.shell.showtraceback = show_any


def of_ours(part: str) -> bool:
    """Return True if a frame of a traceback is terp's, or the kernel's wait for input."""
    place = part.partition("\n")[0]
    waits = "ipykernel" in place and any(name in place for name in ("raw_input", "getpass", "_input_request"))
    return waits or "<terp_home" in part


def prepare_input(home: Home) -> None:
    """Report on IOPub, before a question, that all earlier output is sent; record typed passwords."""
    ask = home.kernel._input_request

    def input_request(*args: Any, **kwargs: Any) -> Any:
        home.flush()
        home.report(asks=True)
        answer = ask(*args, **kwargs)
        if answer and (kwargs.get("password") or args[3:4] == (True,)):
            home.typed_unseen.add(answer)
        return answer

    home.kernel._input_request = input_request
