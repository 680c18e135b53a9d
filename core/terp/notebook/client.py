"""The client of terp's process: it shows what that sends, runs code, and asks the user."""

import difflib
import getpass
import os
import platform
import signal
import sys
import threading
import traceback
from collections.abc import Coroutine
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from IPython.display import display

import terp
from terp.notebook.beside import Stopped, TerpProcess
from terp.notebook.running import CellRunner, awaits, error_of, inside, interrupts, loop_runs

WAYS = ("input", "button", "cell")
YES, CELL, NO = ("y", "yes"), ("c", "cell"), ("n", "no")
PROMPT = "Run it?  y: here · c: as the next cell · n, or why not: "
WAITS = "Run the next cell to approve it, as it is or edited. Or answer here: %terp y, %terp n, %terp WHY NOT"
# A cell that has so much in common with proposed code is an edit of it, judged by its beginning.
ALIKE, LONGEST_COMPARED = 0.6, 5_000
MOST_CELLS, LONGEST_ERROR = 50, 500


class NotebookClient:
    """The conversation of one notebook, in the kernel of `shell`.

    `asks_by` is how the user approves code: one of `WAYS`, or "" for input if that is possible, else cell.
    """

    def __init__(self, shell: Any) -> None:
        self.asks_by = ""
        self._shell = shell
        self._runner = CellRunner(shell)
        self._process: TerpProcess | None = None
        # The question about code that the next cell, a button or `%terp y` answers.
        self._pending: dict[str, Any] | None = None
        self._busy = self._can_await = self._approves = False
        # It is loaded in a cell. In the handler of a button there is none, which could ask.
        self.in_cell = True
        # The report on an approved cell, until terp runs its code.
        self._ran: dict[str, Any] | None = None
        self._calling = threading.Lock()
        before = shell.history_manager.input_hist_raw[1:-1]
        self._cells: list[Any] = [(number, code, "") for number, code in enumerate(before, 1)]

    async def ask(self, prompt: str, *, can_await: bool) -> None:
        """Run a turn with this prompt, or answer the question that waits.

        Raises:
            Stopped: there is no answer.
        """
        self._check_idle()
        self._can_await = can_await
        if self._pending is not None:
            if not self._decide(self._taken(), prompt.strip()):
                return
        elif prompt.strip().lower() in (*YES, *CELL, *NO):
            raise Stopped("terp: no code waits for an answer, so nothing was sent.")
        else:
            cells, self._cells = self._cells[-MOST_CELLS:], []
            facts = {"variables": self._runner.variables(), "bound": self._runner.bound()}
            self._send(do="turn", prompt=prompt, cells=cells, cwd=str(Path.cwd()), **facts)
        await self._pump()

    async def order(self, **message: Any) -> None:
        """Send a message that begins no turn; a turn that waits ends."""
        self._check_idle()
        if self._pending is not None and self._process is not None:
            self._taken()
            self._process.interrupt()
            await self._pump()
        self._send(**message)
        await self._pump()

    def close(self) -> None:
        """End the conversation. Harmless when called twice."""
        process, self._process, self._pending = self._process, None, None
        if process is not None:
            process.close()

    def before_cell(self, info: Any) -> None:
        """Prepare for a cell: one that is, or was made of, the code that waits is its approval."""
        if not self._busy:
            self.in_cell = True
        if self._pending is None or self._busy or is_of_terp(info.raw_cell):
            return
        code, cell = self._pending["code"], info.raw_cell
        alike = difflib.SequenceMatcher(None, code[:LONGEST_COMPARED], cell[:LONGEST_COMPARED])
        if code.strip() == cell.strip() or alike.ratio() >= ALIKE:
            self._approves = True
            self._runner.begin(cell)

    def after_cell(self, result: Any) -> None:
        """Note a cell of the user's; after an approved one the turn continues below its output."""
        if self._busy:
            return
        if result is not None:
            self._ended(result)
        self.in_cell = False

    def _ended(self, result: Any) -> None:
        cell, error = result.info.raw_cell, error_of(result)
        if self._approves:
            self._approves, self._ran = False, self._runner.end(error)
            message = self._taken()
            code = message["code"]
            self._answer(message, run=code if code.strip() == cell.strip() else cell)
            self._continue()
        elif not is_of_terp(cell):
            text = _error_text(error, self._shell)
            self._cells = [*self._cells[-MOST_CELLS:], (result.execution_count, cell, text)]

    def call(self, service: str, **arguments: Any) -> Any:
        """Call a service of terp's own process from running code."""
        process = self._process
        if not self._busy or process is None:
            raise RuntimeError("terp has not sent this cell, so it cannot answer it")
        with self._calling, interrupts(process.interrupt):
            process.send(do="call", service=service, arguments=arguments)
            while (message := process.receive())["do"] != "reply":
                self._show(message)
        if message["error"] == "interrupted":
            raise KeyboardInterrupt
        if message["error"]:
            raise RuntimeError(message["error"])
        return message["value"]

    def _check_idle(self) -> None:
        if self._busy:
            raise Stopped("terp: a turn is running; its code cannot begin another.")

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

    def _answer(self, message: dict[str, Any], **answer: Any) -> None:
        self._send(do="answer", id=message["id"], **answer)

    def _continue(self) -> None:
        """Continue a turn where no code awaits it, and whose end therefore raises nothing."""
        self._can_await = False
        try:
            finished(self._pump())
        except Stopped as stop:
            sys.stderr.write(f"{stop}\n")

    async def _pump(self) -> None:
        """Handle messages to the end of the turn, or until it waits for the user."""
        assert self._process is not None
        process, self._busy = self._process, True
        process.interrupts = 0
        try:
            with interrupts(process.interrupt):
                while (message := process.receive())["do"] != "done":
                    if message["do"] == "run":
                        await self._run(message["code"], message["watch"])
                    elif message["do"] != "ask":
                        self._show(message)
                    elif not self._ask(message):
                        return
        except BaseException:
            # Nothing more can be received in step.
            self.close()
            raise
        finally:
            self._busy = False
        if message.get("stopped"):
            raise Stopped(message["stopped"])

    def _show(self, message: dict[str, Any]) -> None:
        """Show a message, or answer one that asks for no decision."""
        match message["do"]:
            case "show":
                transient = {"display_id": message["id"]} if message["id"] else {}
                bundle = {name: message[name] for name in ("data", "metadata", "update")}
                self._shell.display_pub.publish(**bundle, transient=transient)
            case "variables":
                self._answer(message, value=self._runner.variables())
            case "value":
                self._answer(message, value=self._runner.value(message["asked"]))

    async def _run(self, code: str, watch: list[str]) -> None:
        """Run code, unless its cell has; send the report, with the conditions in `watch` that are broken."""
        if self._ran is None:
            inside("recall").provide(self.call)
            self._ran = await self._runner.run(code, can_await=self._can_await)
        ran, self._ran = self._ran, None
        self._send(do="ran", **{**ran, "broken": self._runner.broken(watch)})

    def _ask(self, message: dict[str, Any]) -> bool:
        """Ask the user; return False if the answer comes later."""
        try:
            with interrupts(signal.default_int_handler):
                return self._asked(message)
        except KeyboardInterrupt:
            assert self._process is not None
            self._process.interrupt()
            return True

    def _asked(self, message: dict[str, Any]) -> bool:
        kernel = getattr(self._shell, "kernel", None)
        can_type = self.in_cell and (kernel is None or bool(kernel._allow_stdin))
        if message["kind"] != "approval":
            text = _typed(message["text"], secret=message["secret"]) if can_type else None
            self._answer(message, text=text)
            return True
        code, way = message["code"], self.asks_by or "input"
        # Code that awaits needs a cell of its own where no coroutine runs it.
        alone = not self._can_await and loop_runs() and awaits(self._shell, code)
        if way == "input" and can_type and not alone:
            return self._decide(message, _typed(PROMPT) or "")
        if way == "button" and not alone:
            self._show_buttons(message)
        else:
            self._wait_for_cell(message)
        return False

    def _decide(self, message: dict[str, Any], text: str) -> bool:
        """Send the answer that the user typed; return False if it comes later."""
        word = text.strip().lower()
        if word in CELL:
            self._wait_for_cell(message)
        elif word in YES:
            self._answer(message, run=message["code"])
        else:
            self._answer(message, decline="" if word in NO else text.strip())
        return word not in CELL

    def _wait_for_cell(self, message: dict[str, Any]) -> None:
        self._shell.set_next_input(message["code"])
        self._pending = message
        sys.stdout.write(f"{WAITS}\n")

    def _show_buttons(self, message: dict[str, Any]) -> None:
        """Show a button for each answer; the turn continues below the cell of the question."""
        # Not every environment has it.
        ipywidgets = import_module("ipywidgets")
        self._pending = message
        parent = self._shell.get_parent()
        row = ipywidgets.HBox()

        def pressed(answer: str, _: Any) -> None:
            if self._pending is not message:
                return
            row.close()
            now = self._shell.get_parent()
            self._shell.set_parent(parent)
            try:
                if self._decide(self._taken(), answer):
                    self._continue()
            finally:
                self._shell.set_parent(now)

        for label, answer in (("Run here", "y"), ("As the next cell", "c"), ("Do not run", "n")):
            button = ipywidgets.Button(description=label)
            button.on_click(partial(pressed, answer))
            row.children = (*row.children, button)
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


def _typed(prompt: str, *, secret: bool = False) -> str | None:
    """Return a line that the user types, None at the end of input."""
    try:
        return (getpass.getpass if secret else input)(prompt)
    except EOFError:
        return None


def _error_text(error: BaseException | None, shell: Any) -> str:
    """Return the error of a cell with its line: `ValueError: no (line 3)`."""
    if error is None:
        return ""
    text = "".join(traceback.format_exception_only(error)).strip()[:LONGEST_ERROR]
    cells = getattr(shell.compile, "_filename_map", {})
    steps = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in steps if frame.f_code.co_filename in cells]
    return f"{text} (line {lines[-1]})" if lines else text
