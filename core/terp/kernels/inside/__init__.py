"""What terp adds to a Python kernel. Runs inside the kernel, as the package `terp_home`.

It works with any Python from 3.8 that has ipykernel, imports nothing of terp, touches no name of the
person and never changes their code. What it has to tell goes out as display data of a private type.
The person's code, and tools that terp defines, reach terp's own process with `terp_home.call`.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import sys
import warnings
from typing import Any

from . import frames
from .figures import After, Figures
from .files import Touched
from .home import Home
from .text import Parented, Pipes, Stream, mark_threads
from .values import Hook, variables

_home: Home


def call(service: str, **arguments: Any) -> Any:
    """The answer of one of terp's services, which runs in terp's own process.

    Raises RuntimeError with terp's message when the service fails or there is none of that name.
    """
    with _home.calling:
        prompt = f"terp:{_home.token}:" + json.dumps({"service": service, "arguments": arguments})
        answer = json.loads(_home.kernel.raw_input(prompt))
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["value"]


def answer_questions(home: Home) -> None:
    """Answer what the adapter asks beside the cells, through a comm: that runs no code of a cell."""

    def opened(comm: Any, message: Any) -> None:
        asked = message["content"]["data"].get("ask")
        data = {"variables": variables(home.shell)} if asked == "variables" else {}
        content = {"comm_id": comm.comm_id, "data": data}
        home.kernel.session.send(home.kernel.iopub_socket, "comm_msg", content, parent=message)
        home.kernel.comm_manager.unregister_comm(comm)

    home.kernel.comm_manager.register_target("terp", opened)


def end_with_parent() -> None:
    """Have the kernel killed when terp is: C code that never yields would keep it alive (Linux)."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415

        pr_set_pdeathsig, sigkill = 1, 9
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, sigkill)


def install(shell: Any, token: str) -> None:
    """Prepare the kernel of `shell`; `token` marks the calls home."""
    global _home  # noqa: PLW0603
    home = _home = Home(shell, token)
    pipes = prepare_text(home)
    figures = prepare_figures(home)
    touched = Touched(home, pipes)
    sys.addaudithook(touched.audit)
    prepare_display(home, figures)
    frames.prepare(home)
    prepare_input(home)
    answer_questions(home)

    def begin(*_: Any) -> None:
        home.begin()
        touched.begin()
        pipes.renew()

    def end(*_: Any) -> None:
        try:
            figures.finish()
        finally:
            pipes.drain_all()
            home.flush()
            home.in_cell = False
            # IPython 9 keeps every displayed picture there.
            getattr(shell.history_manager, "outputs", {}).clear()
            home.report_dropped()
            moved = touched.moved_to()
            if home.hidden is not None or touched.before or moved:
                home.report(hidden=home.hidden, touched=touched.before, cwd=moved)

    shell.events.register("pre_run_cell", home.guarded(begin))
    shell.events.register("post_run_cell", home.guarded(end))
    # `sys.exit()` is told as an error anyway.
    warnings.filterwarnings("ignore", message="To exit: use 'exit'")
    faulthandler.enable(home.log, all_threads=False)
    end_with_parent()
    # What is there before the first cell lives to the end. Looking through it for garbage is most of
    # the time a kernel takes to end (measured: 150 ms of 175); what cells make is collected as ever.
    gc.freeze()


def prepare_text(home: Home) -> Pipes:
    """Replace the class of the streams, and put pipes behind the file descriptors."""
    pipes = Pipes(home)
    out: Any = sys.stdout
    err: Any = sys.stderr
    home.streams = [out, err]
    for stream, other, number in ((out, err, 1), (err, out, 2)):
        stream.__class__ = Stream
        stream.prepare(home, pipes, other, number)
    if sys.__stdout__ is not None:
        # Code that puts it back after a redirection would print into a buffer that nobody empties.
        sys.__stdout__.reconfigure(line_buffering=True)
    pipes.renew()
    pipes.start()
    # With the default limit of 1000 messages a busy reader loses output and even the end of a run
    # (measured); what may wait here is limited by the room of a cell.
    thread = home.kernel.iopub_thread
    thread.schedule(lambda: setattr(thread.socket, "sndhwm", 0))
    mark_threads(home)
    return pipes


def prepare_figures(home: Home) -> Figures:
    """Wait for the import of matplotlib."""
    figures = Figures(home)
    wanted = {
        "matplotlib.backend_bases": figures.watch_managers,
        "matplotlib.figure": figures.watch_figure,
        "matplotlib.pyplot": figures.watch_pyplot,
        "matplotlib_inline.backend_inline": figures.watch_inline,
    }
    sys.meta_path.insert(0, After(wanted))
    return figures


def prepare_display(home: Home, figures: Figures) -> None:
    """Keep displays in order with text and within the room, and tracebacks free of our frames."""
    shell = home.shell
    hook = shell.displayhook
    hook.__class__ = type("TerpDisplayHook", (Hook, type(hook)), {"home": home})
    publisher = shell.display_pub
    if hasattr(publisher, "_parent_header_global"):
        publisher.__class__ = type("TerpDisplayPublisher", (Parented, type(publisher)), {"home": home})
    publish, show = publisher.publish, shell._showtraceback
    shell.display_formatter.format = figures.format(shell.display_formatter.format)

    def bounded_publish(data: Any, *args: Any, **kwargs: Any) -> None:
        home.flush()
        fits = home.fit(data)
        if fits:
            publish(fits, *args, **kwargs)

    def show_traceback(etype: Any, evalue: Any, stb: Any) -> None:
        home.flush()
        ours = isinstance(stb, list) and [part for part in stb if "<terp_home" not in part]
        show(etype, evalue, ours or stb)

    publisher.publish = bounded_publish
    shell._showtraceback = show_traceback


def prepare_input(home: Home) -> None:
    """Tell, on the channel of the output, that all output before a question is sent."""
    ask = home.kernel._input_request

    def input_request(*args: Any, **kwargs: Any) -> Any:
        home.flush()
        home.report(asks=True)
        return ask(*args, **kwargs)

    home.kernel._input_request = input_request
