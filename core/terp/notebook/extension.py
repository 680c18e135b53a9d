"""The magics `%terp`, `%terp_config` and `%terp_rewind`, and their place in a shell of IPython."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand

from terp.notebook.beside import Ended
from terp.notebook.client import WAYS, NotebookClient, finished

USAGE = """\
%terp QUESTION                ask, or answer the question that waits: y, n, c, or why not
%%terp                        the same; the cell is the question
%terp --auto | --no-auto      run code without asking, or ask again
%terp --by input|button|cell  how code is approved
%terp --save | --resume       keep the conversation in this notebook, and continue the kept one
%terp_config [NAME=VALUE …]   the settings of the conversation
%terp_rewind [N]              forget turn N and later ones; variables stay"""
LINE, CELL = "%terp ", "%%terp"


@magics_class
class TerpMagics(Magics):
    """The magics of one shell, and its hooks."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.shell: Any
        self.client = NotebookClient(shell)

    def install(self) -> None:
        """Add the magics and the hooks to the shell."""
        self.shell.register_magics(self)
        self.shell.events.register("pre_run_cell", self.client.before_cell)
        self.shell.events.register("post_run_cell", self.client.after_cell)
        self.shell.input_transformers_cleanup.append(self.called)

    def remove(self) -> None:
        """End the conversation, and remove the hooks."""
        self.client.close()
        self.shell.events.unregister("pre_run_cell", self.client.before_cell)
        self.shell.events.unregister("post_run_cell", self.client.after_cell)
        self.shell.input_transformers_cleanup.remove(self.called)

    def called(self, lines: list[str]) -> list[str]:
        """Return the lines of a cell in which terp's magics are calls.

        To IPython a question mark at the end asks for help. A cell of nothing but questions awaits them, so
        that the code that answers them can await as a cell can; at a terminal code can in any case.
        """
        first = "".join(lines[:1])
        code = [line for line in lines if line.strip() and not line.startswith("#")]
        alone = first.startswith(CELL) or all(line.startswith(LINE) for line in code)
        awaits = alone and self.shell.autoawait and hasattr(self.shell, "kernel")
        call, name = ("await get_ipython()", "terp_awaited") if awaits else ("get_ipython()", "terp")
        if first.split()[:1] == [CELL]:
            about, cell = first[len(CELL) :].strip(), "".join(lines[1:])
            if not cell:
                return [f"{call}.run_line_magic({name!r}, {about!r})\n"]
            return [f"{call}.run_cell_magic({name!r}, {about!r}, {cell!r})\n"]
        return [
            f"{call}.run_line_magic({name!r}, {line[len(LINE) :].strip()!r})\n"
            if line.startswith(LINE)
            else line
            for line in lines
        ]

    @no_var_expand
    @line_cell_magic
    def terp(self, line: str, cell: str | None = None) -> None:
        """Ask terp, which runs code in this kernel: %terp --help."""
        finished(self._terp(line, cell, can_await=False))

    @no_var_expand
    @line_cell_magic
    def terp_awaited(self, line: str, cell: str | None = None) -> Any:
        """Do the same as %terp, and return a coroutine."""
        return self._terp(line, cell, can_await=True)

    @line_magic
    def terp_config(self, line: str) -> None:
        """Show or change settings: %terp_config model=openai/gpt-4o."""
        finished(self.client.order(do="config", given=line.split()))

    @line_magic
    def terp_rewind(self, line: str) -> None:
        """Forget the last turn, or turn N and all later ones; variables stay."""
        finished(self.client.order(do="rewind", number=line.strip()))

    async def _terp(self, line: str, cell: str | None, *, can_await: bool) -> None:
        option, _, rest = line.partition(" ")
        question = "\n".join(part for part in (line, cell or "") if part.strip())
        if option.startswith("--"):
            question = "\n".join(part for part in (rest, cell or "") if part.strip())
            question = await self._option(option, question)
        elif not question:
            sys.stdout.write(f"{USAGE}\n")
        if question:
            await self.client.ask(question, can_await=can_await)

    async def _option(self, option: str, rest: str) -> str:
        """Do what an option asks for, and return the question behind it."""
        match option:
            case "--auto" | "--no-auto" if not rest.startswith("--"):
                await self.client.order(do="auto", on=option == "--auto")
                return rest
            case "--by" if rest in WAYS:
                self.client.asks_by = rest
            case "--save":
                await self._save()
            case "--resume":
                await self.client.order(do="resume", session=self._saved())
            case "--help":
                sys.stdout.write(f"{USAGE}\n")
            case _:
                raise Ended(f"unknown option: {option} {rest}".rstrip() + f"\n{USAGE}")
        return ""

    async def _save(self) -> None:
        """Put the conversation into the metadata of this cell's output, which is saved with the notebook."""
        saved = await self.client.order(do="save")
        if saved.get("session"):
            metadata = {"terp": {"session": saved["session"]}}
            self.shell.display_pub.publish(data={"text/plain": saved["text"]}, metadata=metadata)

    def _saved(self) -> str:
        """Return the last conversation that this notebook's file holds."""
        path = notebook_path(self.shell.user_ns)
        try:
            cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"] if path else []
        except (OSError, ValueError, KeyError) as error:
            raise Ended(f"{path} cannot be read: {error}") from error
        sessions = [session for cell in cells for session in sessions_in(cell.get("outputs", ()))]
        if not sessions:
            where = path or "a notebook whose path is not known here"
            raise Ended(f"no conversation is saved in {where}.")
        return sessions[-1]


def notebook_path(names: dict[str, Any]) -> str:
    """Return the path of this kernel's notebook as Jupyter Server or VS Code gives it; "" if neither does."""
    path = os.environ.get("JPY_SESSION_NAME") or names.get("__vsc_ipynb_file__") or ""
    return str(path) if str(path).endswith(".ipynb") else ""


def sessions_in(outputs: Sequence[dict[str, Any]]) -> list[str]:
    """Return the conversations in the metadata of outputs."""
    kept = [output.get("metadata", {}).get("terp", {}).get("session") for output in outputs]
    return [session for session in kept if isinstance(session, str)]


def load(shell: Any) -> None:
    """Load the extension into a shell of IPython."""
    TerpMagics(shell).install()


def unload(shell: Any) -> None:
    """Remove the extension from a shell; a later `load` begins another conversation."""
    magics = shell.magics_manager.registry.pop(TerpMagics.__name__, None)
    if magics is not None:
        magics.remove()
