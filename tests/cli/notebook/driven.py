"""A notebook that nbclient runs, cell by cell, with terp's model a script on loopback."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.cli.running import Terp
from tests.loopback import Loopback, Scripted

WAIT_S = 60


def surroundings(terp: Terp, model: Loopback) -> dict[str, str]:
    """The environment of a kernel: terp's home is the test's, its model the script."""
    settings = {"TERP_MODEL": "openai/scripted", "TERP_API_BASE": model.url, "OPENAI_API_KEY": "unused"}
    # A variable of the machine must not decide about a test.
    unset = {name: "" for name in os.environ if name.endswith("_API_KEY")}
    return {**os.environ, **unset, **terp.environ, **settings}


class Notebook:
    """A notebook in a kernel. `typed` are answers to `input()`; without any, the front end has no stdin."""

    def __init__(self, client: NotebookClient, model: Loopback, typed: Sequence[str]) -> None:
        self.client = client
        self.model = model
        self.typed = list(typed)
        self.inserted: list[str] = []

    async def run(self, source: str) -> list[dict[str, Any]]:
        """The outputs of a new cell; what it inserts as the next one is kept."""
        cell = new_code_cell(source)  # type: ignore[no-untyped-call]
        self.client.nb.cells.append(cell)
        replies: list[Any] = []
        self.client.on_cell_executed = lambda execute_reply, **_: replies.append(execute_reply["content"])
        await self.client.async_execute_cell(cell, len(self.client.nb.cells) - 1)
        self.inserted += [one["text"] for one in replies[0].get("payload", ())]
        outputs: list[dict[str, Any]] = cell.outputs
        return outputs

    async def value(self, expression: str) -> str:
        """The repr of an expression in the kernel."""
        [output] = await self.run(expression)
        return str(output["data"]["text/plain"])

    def interrupt_soon(self, text: str) -> asyncio.Task[None]:
        """Interrupt the kernel, as I,I does, once the next cell has put out this text."""
        return asyncio.create_task(self._interrupt(len(self.client.nb.cells), text))

    async def _interrupt(self, at: int, text: str) -> None:
        while text not in shown([one for cell in self.client.nb.cells[at:] for one in cell.outputs]):  # noqa: ASYNC110  (nbclient announces no output)
            await asyncio.sleep(0.02)
        manager = cast("Any", self.client.km)
        await manager.interrupt_kernel()

    async def answer(self) -> None:
        """Type answers whenever code asks."""
        kernel = cast("Any", self.client.kc)
        while True:
            await kernel.get_stdin_msg(timeout=None)
            kernel.input(self.typed.pop(0))


@asynccontextmanager
async def opened(
    folder: Path, replies: Sequence[Scripted], *typed: str, **model: Any
) -> AsyncIterator[Notebook]:
    """A notebook whose kernel has loaded terp."""
    terp = Terp(folder)
    with Loopback(replies, **model) as server:
        client = NotebookClient(
            new_notebook(),  # type: ignore[no-untyped-call]
            timeout=WAIT_S,
            allow_errors=True,
            resources={"metadata": {"path": str(terp.cwd)}},
        )
        async with client.async_setup_kernel(env=surroundings(terp, server)):
            cast("Any", client.kc).allow_stdin = bool(typed)
            notebook = Notebook(client, server, typed)
            typing = asyncio.create_task(notebook.answer()) if typed else None
            assert await notebook.run("%load_ext terp") == []
            try:
                yield notebook
            finally:
                if typing is not None:
                    typing.cancel()
                    await asyncio.wait({typing})


def shown(outputs: Sequence[dict[str, Any]]) -> str:
    """All text of outputs, as a reader of the notebook sees it."""
    return "\n".join(_text(output) for output in outputs)


def _text(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return str(output["text"])
    if output["output_type"] == "error":
        return "\n".join(output["traceback"])
    return str(output["data"].get("text/plain", ""))


def sent(model: Loopback, number: int = -1) -> str:
    """The text of the last message of a request to the model."""
    content = model.requests[number]["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
