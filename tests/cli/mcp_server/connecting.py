"""A real `terp mcp-server`, and the official client of the Model Context Protocol that started it."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from mcp import Client, StdioServerParameters, types

from tests.cli.running import Terp


@dataclass
class User:
    """Answers elicitations with `answer`: an action, or the beginning of an option; keeps what was asked."""

    answer: str
    reason: str = ""
    asked: list[str] = field(default_factory=list)

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        self.asked.append(params.message)
        if self.answer in ("decline", "cancel"):
            return types.ElicitResult(action=cast('Literal["decline", "cancel"]', self.answer))
        fields: Mapping[str, Any] = params.requested_schema["properties"]
        if "line" in fields:
            return types.ElicitResult(action="accept", content={"line": self.answer})
        chosen = next(one for one in fields["answer"]["enum"] if one.startswith(self.answer))
        return types.ElicitResult(action="accept", content={"answer": chosen, "reason": self.reason})


class Calling:
    """Calls tools of a server."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.progress: list[str] = []
        self._begun = asyncio.Event()

    async def begun(self) -> None:
        """Return when running code has printed "begun"."""
        await self._begun.wait()

    async def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append(message or "")
            if message == "begun":
                self._begun.set()

        return await self.client.call_tool(tool, arguments, progress_callback=progressed)

    async def text(self, tool: str, **arguments: Any) -> str:
        """The text of a result, with `note` in place of the word that marks notes, and without times."""
        return text_of(await self.call(tool, **arguments))

    async def run(self, code: str, language: str = "python") -> str:
        return await self.text("execute", code=code, language=language)


def text_of(result: types.CallToolResult) -> str:
    [text] = [one.text for one in result.content if isinstance(one, types.TextContent)]
    without = re.sub(r"^\[\w{4}: In results and below.*\n", "", text)
    return re.sub(r"^\[\w{4}: ", "[note: ", re.sub(r"(?m), [\d.]+ s\]$", "]", without), flags=re.MULTILINE)


@asynccontextmanager
async def over_stdio(
    terp: Terp, *flags: str, user: User | None = None, mode: str = "auto", name: str = "an-agent"
) -> AsyncGenerator[Calling, None]:
    """A client that has started a server of its own; it cannot ask without a `user`."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "terp_cli", "mcp-server", *flags],
        env=terp.environ,
        cwd=terp.cwd,
    )
    info = types.Implementation(name=name, version="1")
    async with Client(server, mode=mode, elicitation_callback=user, client_info=info) as client:
        yield Calling(client)
