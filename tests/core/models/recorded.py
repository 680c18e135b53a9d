"""Recorded streams and error bodies of real providers, served from loopback."""

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terp.events.messages import Message, System, User
from terp.events.model import CallDelta, Chunk, ReasoningChunk, Replied, TextChunk, Usage
from terp.models.building import open_adapter
from terp.settings.model_settings import AdapterName, ModelOptions
from tests.loopback import Http, Loopback, Raw

ROOT = Path(__file__).parents[2] / "recordings"
INDEX: dict[str, Any] = json.loads((ROOT / "index.json").read_text())
ASKED: list[Message] = [System("be brief"), User("hi")]
TOOL = {
    "type": "function",
    "function": {"name": "execute", "parameters": {"type": "object", "properties": {}}},
}
CALLS_NO_TOOLS = {"perplexity"}


@dataclass(frozen=True)
class Recorded:
    """A stream, served on one of its routes."""

    file: str
    wire: str
    model: str
    route: str
    expected: tuple[str, tuple[tuple[str, Any], ...]]

    @property
    def served(self) -> Raw:
        kind = "application/x-ndjson" if self.wire == "ndjson" else "text/event-stream"
        return Raw((ROOT / self.file).read_bytes(), content_type=kind)


@dataclass(frozen=True)
class Outcome:
    """What came of a request, in a form that can be compared."""

    text: str
    calls: tuple[tuple[str, Any], ...]
    reasoning: str
    usage: tuple[Usage, ...]


def streams() -> Iterator[Recorded]:
    for one in INDEX["streams"]:
        expected = one["expect"]
        calls = tuple((call["name"], call["arguments"]) for call in expected["calls"])
        for route in one["routes"]:
            yield Recorded(one["file"], one["wire"], one["model"], route, (expected["text"], calls))


def outcome(chunks: list[Chunk]) -> Outcome:
    """The reply, after checking that its pieces say the same."""
    replied = chunks[-1]
    assert isinstance(replied, Replied)
    message = replied.message
    assert "".join(c.text for c in chunks if isinstance(c, TextChunk)) == message.text
    assert "".join(c.text for c in chunks if isinstance(c, ReasoningChunk)) == message.reasoning
    for position, call in enumerate(message.calls):
        pieces = [c for c in chunks if isinstance(c, CallDelta) and c.position == position]
        assert [piece.name for piece in pieces] == [call.name] + [""] * (len(pieces) - 1)
        assert "".join(piece.arguments for piece in pieces) in (call.arguments, call.raw)
    calls = tuple((call.name, call.raw or json.loads(call.arguments)) for call in message.calls)
    usage = tuple(c for c in chunks if isinstance(c, Usage))
    return Outcome(message.text, calls, message.reasoning, usage)


async def collect(chunks: AsyncGenerator[Chunk, None]) -> list[Chunk]:
    async with aclosing(chunks):
        return [chunk async for chunk in chunks]


async def ask(name: str, adapter: AdapterName, reply: Raw | Http) -> list[Chunk]:
    # Ollama is asked for more than the reply: every request gets the same.
    with Loopback([reply] * 3) as server:
        options = ModelOptions(name, adapter=adapter, api_base=server.url, api_key="key-of-the-test")
        model = open_adapter(options, environ={})
        tools = [] if name.split("/", maxsplit=1)[0] in CALLS_NO_TOOLS else [TOOL]
        try:
            return await collect(model.stream(ASKED, tools))
        finally:
            await model.aclose()


async def replay(recorded: Recorded, adapter: AdapterName) -> Outcome:
    return outcome(await ask(f"{recorded.route}/{recorded.model}", adapter, recorded.served))
