"""A model that says what it is told to, and remembers what it was asked."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, settings

from terp.errors import ModelError
from terp.events.messages import Assistant, Message, ToolCall
from terp.events.model import CallDelta, Chunk, Model, ReasoningChunk, Replied, TextChunk

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For properties: a busy machine is no failure."""

Script = Sequence[Chunk | ModelError]


class FakeModel:
    """Request n gets script n; the last script answers all that follow."""

    def __init__(self, *scripts: Script, name: str = "fake/model") -> None:
        self._scripts = scripts
        self._name = name
        self.asked: list[tuple[list[Message], list[Mapping[str, Any]]]] = []
        self.closed = False
        self.streaming = 0

    @property
    def name(self) -> str:
        return self._name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        self.asked.append((list(messages), list(tools)))
        self.streaming += 1
        try:
            for chunk in self._scripts[min(len(self.asked), len(self._scripts)) - 1]:
                if isinstance(chunk, ModelError):
                    raise chunk
                yield chunk
        finally:
            self.streaming -= 1

    async def aclose(self) -> None:
        self.closed = True


def said(text: str, sizes: Sequence[int] = (7,), *, finish: str = "stop") -> list[Chunk]:
    """A reply of plain text, in pieces of the given sizes."""
    chunks: list[Chunk] = [TextChunk(piece) for piece in cut(text, sizes)]
    return [*chunks, Replied(Assistant(text), finish)]


def called(call_id: str, arguments: str, name: str = "execute") -> list[Chunk]:
    """A reply that is one call."""
    message = Assistant("", (ToolCall(call_id, name, arguments),))
    return [
        CallDelta(0, name, arguments[:9]),
        CallDelta(0, "", arguments[9:]),
        Replied(message, "tool_calls"),
    ]


def cut(text: str, sizes: Sequence[int]) -> list[str]:
    """`text` in pieces of the given sizes, which repeat as long as there is text; 0 is all the rest."""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        size = sizes[len(pieces) % len(sizes)] or len(text)
        pieces.append(text[at : at + size])
        at += size
    return pieces


async def collect(
    model: Model, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
) -> list[Chunk]:
    return [chunk async for chunk in model.stream(messages, tools)]


def merged(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks with neighbours of the same kind joined."""
    together: list[Chunk] = []
    for chunk in chunks:
        match [*together[-1:], chunk]:
            case [TextChunk(text=before), TextChunk(text=text)]:
                together[-1] = TextChunk(before + text)
            case [ReasoningChunk(text=before), ReasoningChunk(text=text)]:
                together[-1] = ReasoningChunk(before + text)
            case [
                CallDelta(position=one, name=name, arguments=before),
                CallDelta(position=other, arguments=text),
            ] if one == other:
                together[-1] = CallDelta(one, name, before + text)
            case _:
                together.append(chunk)
    return together
