"""Code that runs in this kernel: its outputs appear in the notebook as usual, and are copied for terp."""

import asyncio
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

# Characters of a run's outputs that are copied.
MOST = 20_000_000
INSIDE = "terp_inside"


def inside(name: str) -> Any:
    """Import a module of `terp.kernels.inside` without its `__init__`, which needs ipykernel."""
    if INSIDE not in sys.modules:
        package = types.ModuleType(INSIDE)
        package.__path__ = [str(Path(__file__).parents[1] / "kernels/inside")]
        sys.modules[INSIDE] = package
    return import_module(f"{INSIDE}.{name}")


class OutputCopy:
    """Copies what code puts out, from now until `end`, as messages of Jupyter's protocol."""

    def __init__(self, shell: Any) -> None:
        self._messages: list[dict[str, Any]] = []
        self._room, self._omitted = MOST, [0, 0]
        self._stream, self._pieces = "", list[str]()
        self._prints = False
        self._undo = ExitStack()
        for name in ("stdout", "stderr"):
            # Not the names in `sys`: loggers hold the stream itself.
            self._wrap(getattr(sys, name), "write", partial(self._text, name))
        self._wrap(shell.display_pub, "publish", self._display)
        self._wrap(shell.display_pub, "clear_output", lambda wait=False: self._add("clear_output", wait=wait))
        self._wrap(shell.displayhook, "write_format_data", partial(self._data, "execute_result"))
        self._wrap(shell, "_showtraceback", self._error)

    def end(self) -> dict[str, Any]:
        """End, and return the messages and what was left out of them."""
        self._undo.close()
        self._flush()
        return {"messages": self._messages, "omitted": self._omitted}

    def _wrap(self, thing: Any, name: str, seen: Callable[..., None]) -> None:
        """Call `seen` before the method of one object, which keeps it otherwise."""
        before, is_own = getattr(thing, name), name in getattr(thing, "__dict__", {})

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if self._prints:
                # At a terminal IPython prints displays, results and tracebacks.
                return before(*args, **kwargs)
            # No output of the user's may be lost by a failure to copy it.
            with suppress(Exception):
                seen(*args, **kwargs)
            self._prints = name != "write"
            try:
                return before(*args, **kwargs)
            finally:
                self._prints = False

        setattr(thing, name, wrapped)
        self._undo.callback(setattr, thing, name, before) if is_own else self._undo.callback(
            delattr, thing, name
        )

    def _text(self, name: str, text: str) -> None:
        kept, rest = text[: self._room], text[self._room :]
        self._room -= len(kept)
        self._omitted[0] += len(rest)
        self._omitted[1] += rest.count("\n")
        if name != self._stream:
            self._flush()
        self._stream = name
        self._pieces.append(kept)

    def _display(
        self, data: Any, metadata: Any = None, *, transient: Any = None, update: bool = False, **_: Any
    ) -> None:
        kind = "update_display_data" if update else "display_data"
        self._data(kind, data, metadata, transient=transient or {})

    def _data(self, kind: str, data: Any, metadata: Any = None, **facts: Any) -> None:
        fits = {}
        for mime, value in data.items():
            size = len(value) if isinstance(value, str | bytes) else 0
            if size <= self._room:
                fits[mime] = value
                self._room -= size
        self._add(kind, data=fits, metadata=metadata or {}, **facts)

    def _error(self, etype: Any, evalue: Any, stb: Any) -> None:
        lines = [stb] if isinstance(stb, str) else [str(line) for line in stb]
        name = getattr(etype, "__name__", str(etype))
        self._add("error", ename=name, evalue=str(evalue), traceback=lines)

    def _flush(self) -> None:
        text, self._pieces = "".join(self._pieces), []
        if text:
            self._messages.append({"msg_type": "stream", "content": {"name": self._stream, "text": text}})

    def _add(self, kind: str, **content: Any) -> None:
        self._flush()
        self._messages.append({"msg_type": kind, "content": content})


class CellRunner:
    """Runs code of terp's in `shell`, and reports its outputs and its changes of the namespace."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._home = types.SimpleNamespace(
            shell=shell, streams=(), in_cell=False, cwd="", number=0, typed_unseen=set()
        )
        self._namespace = inside("namespace").Namespace(self._home)
        self._listing = inside("listing").VariableListing(self._home, self._namespace.kinds)
        self._copy: OutputCopy

    def variables(self) -> list[Any]:
        """Return name, type, shape, size and preview of each variable."""
        rows: list[Any] = self._listing.variables()
        return rows

    def bound(self) -> list[tuple[str, str, str]]:
        """Return each name with the package and the class of its value; a module with its name and ""."""
        hidden = self._shell.user_ns_hidden
        return [
            (name, value.__name__, "")
            if isinstance(value, types.ModuleType)
            else (name, str(getattr(type(value), "__module__", "")).partition(".")[0], type(value).__name__)
            for name, value in dict(self._shell.user_ns).items()
            if not (name.startswith("_") or hidden.get(name) is value)
        ]

    def value(self, asked: str) -> Any:
        """Return the text of a value that an answer refers to, or why there is none."""
        return inside("referring").value_text(self._shell, asked)

    def begin(self, code: str) -> None:
        """Prepare for code that is about to run."""
        self._home.cwd = str(Path.cwd())
        # Changes by the user's own cells are not changes of this one.
        self._namespace.before = None
        self._namespace.begin(code)
        self._copy = OutputCopy(self._shell)

    def end(self, error: BaseException | None) -> dict[str, Any]:
        """Return the report on code that has ended."""
        stopped = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
        status = "interrupted" if stopped else "ok" if error is None else "error"
        report = {**self._copy.end(), "status": status, "cwd": str(Path.cwd())}
        with suppress(Exception):
            self._namespace.compare()
            report |= self._namespace.found
            if error is not None:
                self._home.number = self._number()
                facts = inside("failed")
                name, of = ("failed", facts.facts_of) if status == "error" else ("stopped", facts.place_of)
                report[name] = of(error, self._home, self._namespace.kinds)
        return report

    def broken(self, conditions: list[str]) -> list[Any]:
        """Return the watched conditions that the run has broken, each with the reason."""
        with interrupts(signal.default_int_handler):
            self._namespace.evaluate(conditions)
        broken: list[Any] = self._namespace.broken
        return broken

    async def run(self, code: str, *, can_await: bool) -> dict[str, Any]:
        """Run code within the current cell, whose number it shares; return the report on it.

        Code that awaits fails, unless it `can_await`.
        """
        self.begin(code)
        error: BaseException | None
        compiler, number = self._shell.compile, self._number()
        cache = compiler.cache
        # Tracebacks name the cell; the shell counts the next one already.
        compiler.cache = lambda code, _=0, raw_code=None: cache(code, number, raw_code)
        try:
            error = error_of(await self._run(code, can_await=can_await))
        except (KeyboardInterrupt, asyncio.CancelledError) as stop:
            error = stop
        finally:
            del compiler.cache
        return self.end(error)

    def _number(self) -> int:
        """Return the number of the current cell: the last that was compiled."""
        return max(getattr(self._shell.compile, "_filename_map", {}).values(), default=0)

    async def _run(self, code: str, *, can_await: bool) -> Any:
        shell = self._shell
        if not (can_await and loop_runs() and awaits(shell, code)):
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
