"""The client of terp's process: it shows what that sends, runs code, and asks the user."""

import difflib
import getpass
import os
import platform
import sys
import traceback
from collections.abc import Coroutine
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from IPython.display import display

import terp
from terp.notebook.beside import Ended, TerpProcess
from terp.notebook.running import CellRunner, awaits, error_of, inside, interrupts, loop_runs

WAYS = ("input", "button", "cell")
YES, CELL, NO = ("y", "yes"), ("c", "cell"), ("n", "no", "")
PROMPT = "Run it?  y: here · c: as the next cell · n, or why not: "
WAITS = "Run the next cell to approve it, as it is or edited. Or answer here: %terp y, %terp n, %terp WHY NOT"
# A cell that has so much in common with proposed code is an edit of it, judged by its beginning.
ALIKE, LONGEST_COMPARED = 0.6, 5_000
MOST_CELLS, LONGEST_ERROR = 50, 500
MOST_INTERRUPTS = 3


class Stopped(Exception):
    """A turn without an answer: the cells after it in "Run All" do not run. The message is for the user."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class NotebookClient:
    """The conversation of one notebook, in the kernel of `shell`.

    `asks_by` is how the user approves code: one of `WAYS`, or "" for input if that is possible, else cell.
    """

    def __init__(self, shell: Any) -> None:
        self.asks_by = ""
        self._shell = shell
        self._runner = CellRunner(shell)
        self._process: TerpProcess | None = None
        self._pending: dict[str, Any] | None = None
        self._busy = self._can_await = False
        # False in the handler of a button: there is no cell that could ask.
        self._in_cell = True
        # Messages about an approved cell: while it runs, and until they are sent.
        self._noting: list[dict[str, Any]] | None = None
        self._noted: list[dict[str, Any]] = []
        before = shell.history_manager.input_hist_raw[1:-1]
        self._cells: list[Any] = [(number, code, "") for number, code in enumerate(before, 1)]

    async def ask(self, prompt: str, *, can_await: bool) -> None:
        """Run a turn with this prompt, or answer the question that waits.

        Raises:
            Ended: there is no process.
            Stopped: there is no answer.
        """
        self._check_idle()
        self._can_await = can_await
        if self._pending is not None:
            if not self._decide(self._taken(), prompt.strip()):
                return
        else:
            cells, self._cells = self._cells[-MOST_CELLS:], []
            variables = self._runner.variables()
            self._send(do="turn", prompt=prompt, cells=cells, variables=variables, cwd=str(Path.cwd()))
        await self._pump()

    async def order(self, **message: Any) -> dict[str, Any]:
        """Send a message that begins no turn, and return the last of its answer; a turn that waits ends."""
        self._check_idle()
        if self._pending is not None:
            self._taken()
            self._send(do="interrupt")
            await self._pump()
        self._send(**message)
        return await self._pump() or {}

    def close(self) -> None:
        """End the conversation. Harmless when called twice."""
        process, self._process, self._pending = self._process, None, None
        if process is not None:
            process.close()

    def before_cell(self, info: Any) -> None:
        """Note that a cell runs: one that is, or was made of, the proposed code is its approval."""
        if self._pending is None or self._busy:
            return
        code, cell = self._pending["code"], info.raw_cell
        alike = difflib.SequenceMatcher(None, code[:LONGEST_COMPARED], cell[:LONGEST_COMPARED])
        if not is_of_terp(cell) and (code.strip() == cell.strip() or alike.ratio() >= ALIKE):
            noting: list[dict[str, Any]] = []
            self._noting = noting
            self._runner.begin(cell, lambda **message: noting.append(message))

    def after_cell(self, result: Any) -> None:
        """Note a cell of the user's; after an approved one the turn continues below its output."""
        if self._busy or result is None:
            return
        cell = result.info.raw_cell
        if self._noting is None:
            if not is_of_terp(cell):
                error = _error_text(error_of(result), self._shell)
                self._cells = [*self._cells[-MOST_CELLS:], (result.execution_count, cell, error)]
            return
        self._runner.end(error_of(result))
        self._noted, self._noting, message = self._noting, None, self._taken()
        code = message["code"]
        if message["do"] == "ask":
            self._send(do="answer", id=message["id"], run=code if code.strip() == cell.strip() else cell)
        self._continue()

    def call(self, service: str, **arguments: Any) -> Any:
        """Call a service of terp's own process from running code."""
        if not self._busy or self._process is None:
            raise RuntimeError("terp has not sent this cell, so it cannot answer it")
        with interrupts(self._process.on_interrupt):
            self._send(do="call", service=service, arguments=arguments)
            while (message := self._process.receive())["do"] != "reply":
                self._answer(message)
        if message["error"]:
            raise RuntimeError(message["error"])
        return message["value"]

    def _check_idle(self) -> None:
        if self._busy:
            raise Ended("a turn is running; its code cannot begin another.")

    def _taken(self) -> dict[str, Any]:
        assert self._pending is not None
        message, self._pending = self._pending, None
        return message

    def _send(self, **message: Any) -> None:
        if self._process is None:
            self._process = TerpProcess()
            self._process.send(
                do="open",
                rich=hasattr(self._shell, "kernel"),
                pid=os.getpid(),
                cwd=str(Path.cwd()),
                python=platform.python_version(),
                version=terp.__version__,
            )
        self._process.send(**message)

    def _continue(self) -> None:
        """Continue a turn where no code awaits it, and whose end therefore raises nothing."""
        self._can_await = False
        try:
            finished(self._pump())
        except (Ended, Stopped) as stop:
            sys.stderr.write(f"{stop}\n")

    async def _pump(self) -> dict[str, Any] | None:
        """Handle messages to the end of the turn; return the last one, None if the turn waits."""
        assert self._process is not None
        process, presses, self._busy = self._process, 0, True
        try:
            with interrupts(process.on_interrupt):
                while True:
                    try:
                        message = process.receive()
                    except KeyboardInterrupt:
                        presses += 1
                        if presses == MOST_INTERRUPTS:
                            raise Ended("it did not stop, so the conversation was ended.") from None
                        process.send(do="interrupt")
                        continue
                    if message["do"] == "done":
                        if message.get("stopped"):
                            raise Stopped(message["stopped"])
                        return message
                    if not await self._act(message):
                        return None
        except Ended:
            self.close()
            raise
        finally:
            self._busy = False

    async def _act(self, message: dict[str, Any]) -> bool:
        """Handle one message; return False if the turn waits for the user."""
        match message["do"]:
            case "run":
                return await self._run(message)
            case "ask":
                with interrupts(_raise_interrupt):
                    return self._ask(message)
            case _:
                self._answer(message)
        return True

    def _answer(self, message: dict[str, Any]) -> None:
        match message["do"]:
            case "show":
                self._show(message["data"], message.get("id"), update=message.get("update", False))
            case "write":
                sys.stdout.write(message["text"])
                sys.stdout.flush()
            case "variables":
                self._send(do="answer", id=message["id"], value=self._runner.variables())
            case "value":
                self._send(do="answer", id=message["id"], value=self._runner.value(message["asked"]))

    def _show(self, data: Any, display_id: str | None = None, *, update: bool = False) -> None:
        transient = {"display_id": display_id} if display_id else {}
        self._shell.display_pub.publish(data=data, metadata={}, transient=transient, update=update)

    async def _run(self, message: dict[str, Any]) -> bool:
        """Run code, or send what was noted of the cell that ran it."""
        code = message["code"]
        if self._noted:
            for noted in self._noted:
                self._send(**noted)
            self._noted = []
            return True
        if self._needs_cell(code):
            self._wait_for_cell(message)
            return False
        inside("recall").provide(self.call)
        await self._runner.run(code, self._send)
        return True

    def _needs_cell(self, code: str) -> bool:
        """Return True if code awaits, and only a cell of its own could do that."""
        return not self._can_await and loop_runs() and awaits(self._shell, code)

    def _ask(self, message: dict[str, Any]) -> bool:
        """Ask the user; return False if the answer comes later."""
        try:
            if message["kind"] != "approval":
                self._type(message)
                return True
            way = self.asks_by or ("input" if self._can_type() else "cell")
            if self._needs_cell(message["code"]) or (way == "input" and not self._can_type()):
                way = "cell"
            if way == "input":
                return self._decide(message, input(PROMPT))
        except KeyboardInterrupt:
            self._send(do="interrupt")
            return True
        except EOFError:
            return self._decide(message, "")
        if way == "cell":
            self._wait_for_cell(message)
        else:
            self._show_buttons(message)
        return False

    def _can_type(self) -> bool:
        kernel = getattr(self._shell, "kernel", None)
        return self._in_cell and (kernel is None or bool(kernel._allow_stdin))

    def _type(self, message: dict[str, Any]) -> None:
        if not self._can_type():
            self._send(do="answer", id=message["id"], nobody=True)
            return
        ask = getpass.getpass if message.get("secret") else input
        self._send(do="answer", id=message["id"], text=ask(message["text"]))

    def _decide(self, message: dict[str, Any], text: str) -> bool:
        """Send the answer that the user typed; return False if it comes later."""
        word = text.strip().lower()
        if word in CELL:
            self._wait_for_cell(message)
            return False
        if message["do"] == "run":
            self._send(do="interrupt")
        elif word in YES:
            self._send(do="answer", id=message["id"], run=message["code"])
        else:
            self._send(do="answer", id=message["id"], decline="" if word in NO else text.strip())
        return True

    def _wait_for_cell(self, message: dict[str, Any]) -> None:
        self._shell.set_next_input(message["code"])
        self._pending = message
        sys.stdout.write(f"{WAITS}\n")

    def _show_buttons(self, message: dict[str, Any]) -> None:
        """Show a button for each answer; the turn continues below the cell of the question."""
        ipywidgets = import_module("ipywidgets")

        self._pending = message
        parent = self._shell.get_parent()
        rows = (("Run here", "y"), ("As the next cell", "c"), ("Do not run", "n"))
        buttons = [ipywidgets.Button(description=label) for label, _ in rows]
        row = ipywidgets.HBox(buttons)

        def pressed(answer: str, _: Any) -> None:
            if self._pending is not message:
                return
            row.close()
            now, self._in_cell = self._shell.get_parent(), False
            self._shell.set_parent(parent)
            try:
                if self._decide(self._taken(), answer):
                    self._continue()
            finally:
                self._in_cell = True
                self._shell.set_parent(now)

        for button, (_, answer) in zip(buttons, rows, strict=True):
            button.on_click(partial(pressed, answer))
        display(row)  # type: ignore[no-untyped-call]


def finished(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that waits for nothing but blocking calls."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    work.close()
    raise RuntimeError("it waits")


def is_of_terp(cell: str) -> bool:
    """Return True for a cell that is a magic of terp's."""
    return cell.lstrip().startswith(("%terp", "%%terp", "%load_ext terp", "%reload_ext terp"))


def _raise_interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _error_text(error: BaseException | None, shell: Any) -> str:
    """Return the error of a cell with its line: `ValueError: no (line 3)`."""
    if error is None:
        return ""
    text = "".join(traceback.format_exception_only(error)).strip()[:LONGEST_ERROR]
    cells = getattr(shell.compile, "_filename_map", {})
    steps = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in steps if frame.f_code.co_filename in cells]
    return f"{text} (line {lines[-1]})" if lines else text
