"""The magics `%terp`, `%terp_config` and `%terp_rewind`, and their place in a shell of IPython."""

import json
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import EscapedCommand
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand

from terp.notebook.beside import Stopped
from terp.notebook.client import WAYS, NotebookClient, finished

USAGE = """\
%terp QUESTION                ask, or answer the question that waits: y, n, c, or why not
%%terp                        the same; the cell is the question
%terp --auto | --no-auto      run code without asking, or ask again
%terp --by input|button|cell  how code is approved
%terp --save | --resume       keep the conversation in this notebook, and continue the kept one
%terp_config [NAME=VALUE …]   the settings of the conversation
%terp_rewind [N]              forget turn N and later ones; variables stay"""
# A call of %terp or %%terp, as IPython writes it.
CALL = re.compile(r"^(\s*)get_ipython\(\)\.run_(?:line|cell)_magic\('terp', (.*)\)\n?")


class TerpLine(EscapedCommand):
    """A line with %terp, which may end in a question mark: to IPython that asks for help."""

    # Before the transformer for help.
    priority = 4

    @classmethod
    def find(cls, tokens_by_line: Any) -> Any:
        """Find the first one in a cell."""
        for line in tokens_by_line:
            token = next((token for token in line if token.string.strip()), None)
            if token and token.line[token.start[1] :].startswith("%terp "):
                return cls(token.start)
        return None


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
        self.shell.input_transformer_manager.token_transformers.append(TerpLine)
        self.shell.input_transformers_post.append(self.called)

    def remove(self) -> None:
        """End the conversation, and remove the hooks."""
        self.client.close()
        self.shell.events.unregister("pre_run_cell", self.client.before_cell)
        self.shell.events.unregister("post_run_cell", self.client.after_cell)
        self.shell.input_transformer_manager.token_transformers.remove(TerpLine)
        self.shell.input_transformers_post.remove(self.called)

    def called(self, lines: list[str]) -> list[str]:
        """Return the lines of a cell with calls of this object in place of its magics.

        A cell of nothing but questions awaits them, so that the code that answers them can await as a cell
        can; at a terminal code can in any case. Within a cell, as in that of %%time, nothing could await.
        """
        code = [line for line in lines if line.strip() and not line.startswith("#")]
        alone = not self.client.in_cell and all(map(CALL.fullmatch, code))
        awaits = alone and self.shell.autoawait and hasattr(self.shell, "kernel")
        start, name = ("await ", "terp_awaited") if awaits else ("", "terp")
        found = rf"\1{start}get_ipython().find_line_magic({name!r})(\2)\n"
        return [CALL.sub(found, line) for line in lines]

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
        finished(self.client.order(do="config", given=line))

    @line_magic
    def terp_rewind(self, line: str) -> None:
        """Forget the last turn, or turn N and all later ones; variables stay."""
        finished(self.client.order(do="rewind", number=line.strip()))

    async def _terp(self, line: str, cell: str | None, *, can_await: bool) -> None:
        line = line.strip()
        option, _, rest = line.partition(" ") if line.startswith("--") else ("", "", line)
        question = "\n".join(part for part in (rest, cell or "") if part.strip())
        match option, question:
            case ("", "") | ("--help", ""):
                sys.stdout.write(f"{USAGE}\n")
            case (("" | "--auto" | "--no-auto"), _) if not question.startswith("--"):
                if option:
                    await self.client.order(do="auto", on=option == "--auto")
                if question:
                    await self.client.ask(question, can_await=can_await)
            case "--by", _ if question in WAYS:
                if question == "button" and find_spec("ipywidgets") is None:
                    raise Stopped("terp: buttons need ipywidgets, which is not installed in this kernel.")
                self.client.asks_by = question
            case "--save", "":
                await self.client.order(do="save")
            case "--resume", "":
                await self.client.order(do="resume", session=self._saved())
            case _:
                raise Stopped(f"terp: unknown option: {line}\n{USAGE}")

    def _saved(self) -> str:
        """Return the last conversation in this notebook's file, whose path Jupyter or VS Code gives."""
        path = os.environ.get("JPY_SESSION_NAME") or self.shell.user_ns.get("__vsc_ipynb_file__") or ""
        try:
            cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
            found = [output.get("metadata", {}) for cell in cells for output in cell.get("outputs", ())]
            return str([metadata["terp"]["session"] for metadata in found if "terp" in metadata][-1])
        except (OSError, ValueError, LookupError) as error:
            where = path or "a notebook whose path is not known here"
            raise Stopped(f"terp: no conversation is saved in {where}.") from error


def load(shell: Any) -> None:
    """Load the extension into a shell of IPython."""
    TerpMagics(shell).install()


def unload(shell: Any) -> None:
    """Remove the extension from a shell; a later `load` begins another conversation."""
    magics = shell.magics_manager.registry.pop(TerpMagics.__name__, None)
    if magics is not None:
        magics.remove()
