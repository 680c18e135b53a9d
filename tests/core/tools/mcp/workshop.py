"""A server with a tool of each kind, made with the library itself. As a program it speaks over stdio."""

import base64
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Elicit, Image, ListRoots, MCPServer, Resolve, Sample
from mcp.types import (
    AudioContent,
    CreateMessageResult,
    EmbeddedResource,
    ListRootsResult,
    ResourceLink,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
SOUND = base64.b64encode(b"RIFF\0\0\0\0WAVE").decode()


class Cake(BaseModel):
    flavour: str
    tiers: int = 1
    iced: bool


async def wanted_cake() -> Elicit[Cake]:
    return Elicit("Which cake?", Cake)


async def told_roots() -> ListRoots:
    return ListRoots()


async def lent_model() -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(type="text", text="hi"))], max_tokens=5)


def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b


def say(what: str) -> list[str]:
    """Gives it twice, as two texts."""
    return [what, what]


def plain(what: str) -> str:
    """Gives text."""
    return what


def read_file(path: str, encoding: str | None = None) -> str:
    """Reads a file."""
    return f"{path} {encoding}"


def drawing() -> list[Any]:
    """Draws a pixel."""
    return ["here it is", Image(data=PIXEL, format="png")]


def sound() -> AudioContent:
    """Makes a sound."""
    return AudioContent(type="audio", data=SOUND, mime_type="audio/wav")


def papers() -> list[Any]:
    """Gives a paper, and where there is another."""
    held = TextResourceContents(uri="paper://1", mime_type="text/plain", text="the paper")
    link = ResourceLink(type="resource_link", uri="paper://2", name="another")
    return [EmbeddedResource(type="resource", resource=held), link]


def fail() -> None:
    """Fails."""
    raise ValueError("no such thing")


def slow() -> None:
    """Takes for ever."""
    time.sleep(60)


def die() -> None:
    """Ends the server."""
    os.write(2, b"out of paper\n")
    os._exit(3)


def surroundings() -> dict[str, str]:
    """Gives the environment and the directory."""
    return {**os.environ, "cwd": str(Path.cwd())}


def pid() -> int:
    """Gives the number of the process."""
    return os.getpid()


def bake(cake: Annotated[Cake, Resolve(wanted_cake)]) -> str:
    """Asks for a cake."""
    return f"{cake.flavour}, {cake.tiers}, {cake.iced}"


def roots(found: Annotated[ListRootsResult, Resolve(told_roots)]) -> list[str]:
    """Tells where the client works."""
    return [str(root.uri) for root in found.roots]


def think(thought: Annotated[CreateMessageResult, Resolve(lent_model)]) -> str:
    """Wants to use the client's model."""
    return str(thought.content)


def paper() -> str:
    """The first paper."""
    return "the paper"


NAMES = {"read_file": "read-file"}
VALUES: tuple[Callable[..., Any], ...] = (add, say, fail, slow, die, surroundings, pid, bake, roots, think)
PARTS: tuple[Callable[..., Any], ...] = (plain, read_file, drawing, sound, papers)


def build() -> MCPServer:
    """All of it, and `grow`, which adds one tool more."""
    server = MCPServer("workshop", version="1.0")
    for function in VALUES:
        server.add_tool(function)
    for function in PARTS:
        server.add_tool(function, name=NAMES.get(function.__name__), structured_output=False)
    server.resource("paper://1")(paper)

    @server.tool()
    def grow() -> str:
        """Has one tool more from here on."""
        server.add_tool(added)
        return "grown"

    return server


def added() -> str:
    """Came later."""
    return "added"


if __name__ == "__main__":
    build().run()
