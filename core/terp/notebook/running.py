"""Code that runs in this kernel: its outputs appear in the notebook as usual, and are copied to terp."""

import asyncio
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

Send = Callable[..., None]
# Characters of a run's text that are copied, and pieces that are sent together; bytes of a display.
MOST, TOGETHER, LARGEST = 4_000_000, 32_000, 20_000_000
INSIDE = "terp_inside"


def inside(name: str) -> Any:
    """Import a module of `terp.kernels.inside` without its `__init__`, which needs ipykernel."""
    if INSIDE not in sys.modules:
        package = types.ModuleType(INSIDE)
        package.__path__ = [str(Path(__file__).parents[1] / "kernels/inside")]
        sys.modules[INSIDE] = package
    return import_module(f"{INSIDE}.{name}")


class OutputCopy:
    """Copies what code puts out to `send`, from `begin` to `end`."""

    def __init__(self, shell: Any, send: Send) -> None:
        self._shell = shell
        self._send = send
        self._undo: list[Callable[[], Any]] = []
        self._text, self._stream, self._traceback = "", "", ""
        self._room, self._dropped = MOST, [0, 0]

    def begin(self) -> None:
        """Begin to copy."""
        for name in ("stdout", "stderr"):
            # Not the names in `sys`: loggers hold the stream itself.
            self._wrap(getattr(sys, name), "write", partial(self._written, name))
        self._wrap(self._shell.display_pub, "publish", self._published)
        self._wrap(self._shell.display_pub, "clear_output", self._cleared)
        self._wrap(self._shell.displayhook, "write_format_data", self._result)
        self._wrap(self._shell, "_showtraceback", self._error)

    def end(self) -> None:
        """End, and send the rest."""
        while self._undo:
            self._undo.pop()()
        self._flush()
        if self._dropped[0]:
            self._put("omitted", characters=self._dropped[0], lines=self._dropped[1], spooled=False)

    def _wrap(self, thing: Any, name: str, seen: Callable[..., None]) -> None:
        """Call `seen` before the method of one object, which keeps it otherwise."""
        before, is_own = getattr(thing, name), name in getattr(thing, "__dict__", {})

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            # No output of the user's may be lost by a failure to copy it.
            with suppress(Exception):
                seen(*args, **kwargs)
            return before(*args, **kwargs)

        setattr(thing, name, wrapped)
        self._undo.append(partial(setattr, thing, name, before) if is_own else partial(delattr, thing, name))

    def _written(self, name: str, text: str) -> None:
        # At a terminal IPython prints the traceback of an error, which was sent already.
        if text and text == self._traceback:
            return
        kept, rest = text[: self._room], text[self._room :]
        self._room -= len(kept)
        self._dropped[0] += len(rest)
        self._dropped[1] += rest.count("\n")
        if name != self._stream or len(self._text) > TOGETHER:
            self._flush()
        self._stream = name
        self._text += kept

    def _flush(self) -> None:
        text, self._text = self._text, ""
        if text:
            self._put("text", stream=self._stream, text=text)

    def _published(
        self, data: Any, metadata: Any = None, *, transient: Any = None, update: bool = False, **_: Any
    ) -> None:
        kind = "display_update" if update else "display"
        self._display(kind, data, metadata, display_id=(transient or {}).get("display_id"))

    def _result(self, format_dict: Any, md_dict: Any = None) -> None:
        self._display("display", format_dict, md_dict, is_result=True)

    def _display(self, kind: str, data: Any, metadata: Any, **facts: Any) -> None:
        large = [
            mime for mime, value in data.items() if isinstance(value, str | bytes) and len(value) > LARGEST
        ]
        small = {mime: value for mime, value in data.items() if mime not in large}
        self._flush()
        self._put(kind, data=small, metadata=metadata or {}, **facts)

    def _cleared(self, wait: bool = False) -> None:
        self._flush()
        self._put("clear", wait=wait)

    def _error(self, etype: Any, evalue: Any, stb: Any) -> None:
        self._flush()
        lines = [stb] if isinstance(stb, str) else [str(line) for line in stb]
        self._traceback = "\n".join(lines)
        self._put("error", name=getattr(etype, "__name__", str(etype)), value=str(evalue), traceback=lines)

    def _put(self, kind: str, **fields: Any) -> None:
        self._send(do="output", output={"kind": kind, **fields})


class CellRunner:
    """Runs code of terp's in `shell`, and reports its changes of the namespace."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._home = types.SimpleNamespace(
            shell=shell, streams=(), in_cell=False, cwd="", number=0, typed_unseen=set()
        )
        self._namespace = inside("namespace").Namespace(self._home)
        self._listing = inside("listing").VariableListing(self._home, self._namespace.kinds)
        self._send: Send = print
        self._copy = OutputCopy(shell, self._send)

    def variables(self) -> list[Any]:
        """Return name, type, shape, size and preview of each variable."""
        rows: list[Any] = self._listing.variables()
        return rows

    def value(self, asked: str) -> Any:
        """Return the text of a value that an answer refers to, or why there is none."""
        return inside("referring").value_text(self._shell, asked)

    def begin(self, code: str, send: Send) -> None:
        """Prepare for code that is about to run."""
        self._send = send
        self._home.cwd = str(Path.cwd())
        # Changes by the user's own cells are not changes of this one.
        self._namespace.before = None
        self._namespace.begin(code)
        send(do="started", count=self._number())
        self._copy = OutputCopy(self._shell, send)
        self._copy.begin()

    def end(self, error: BaseException | None) -> None:
        """Report the end of the code."""
        self._copy.end()
        facts: dict[str, Any] = {}
        failed = inside("failed")
        self._home.number = self._number()
        with suppress(Exception):
            self._namespace.compare()
            facts = {**self._namespace.found}
            if isinstance(error, Exception):
                facts["failed"] = failed.facts_of(error, self._home, self._namespace.kinds)
            elif error is not None:
                facts["stopped"] = failed.place_of(error, self._home, self._namespace.kinds)
        stopped = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
        status = "interrupted" if stopped else "ok" if error is None else "error"
        self._send(do="ended", status=status, cwd=str(Path.cwd()), **facts)

    async def run(self, code: str, send: Send) -> None:
        """Run code within the current cell, whose number it shares."""
        self.begin(code, send)
        error: BaseException | None = None
        try:
            error = error_of(await self._run(code))
        except (KeyboardInterrupt, asyncio.CancelledError) as stop:
            error = stop
        except BaseException as stop:
            error = stop
            raise
        finally:
            self.end(error)

    def _number(self) -> int:
        """Return the number of the current cell: the last that was compiled."""
        return max(getattr(self._shell.compile, "_filename_map", {}).values(), default=0)

    async def _run(self, code: str) -> Any:
        shell = self._shell
        compiler, number = shell.compile, self._number()
        cache = compiler.cache
        # Tracebacks name the cell; the shell counts the next one already.
        compiler.cache = lambda code, _=0, raw_code=None: cache(code, number, raw_code)
        try:
            return await self._run_cell(code)
        finally:
            del compiler.cache

    async def _run_cell(self, code: str) -> Any:
        shell = self._shell
        if not (loop_runs() and awaits(shell, code)):
            with interrupts(signal.default_int_handler):
                return shell.run_cell(code, store_history=False)
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        # ipykernel's own handler does not wake the loop: its interrupt may come with the next event only.
        with interrupts(lambda *_: loop.call_soon_threadsafe(task.cancel)):
            result = await shell.run_cell_async(
                code, store_history=False, transformed_cell=shell.transform_cell(code)
            )
        shell.events.trigger("post_execute")
        shell.events.trigger("post_run_cell", result)
        return result


def loop_runs() -> bool:
    """Return True within an event loop, as in a cell of a kernel."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def awaits(shell: Any, code: str) -> bool:
    """Return True if code has a top-level `await`."""
    try:
        return bool(shell.should_run_async(code, transformed_cell=shell.transform_cell(code)))
    except Exception:  # noqa: BLE001  # it is no Python; running it shows why
        return False


@contextmanager
def interrupts(handler: Any) -> Iterator[None]:
    """Have `handler` handle SIGINT during the block; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def error_of(result: Any) -> BaseException | None:
    """Return the error of a cell, or None."""
    if result is None:
        return None
    error: BaseException | None = result.error_before_exec or result.error_in_exec
    return error
