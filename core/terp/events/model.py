"""The `Model` protocol: messages in, chunks out."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, Protocol

from terp.events.messages import Assistant, Message
from terp.text.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of the reply's text; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    """A piece of the reply's reasoning; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of one tool call.

    `position` counts the calls of the reply from 0, whatever indexes the provider used; `name` is
    the whole name, in the first piece of a call and "" after it; `arguments` is the next piece.
    """

    position: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, and its cost in USD or None when the price is not known."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Retrying:
    """The request failed and is retried after `delay_s`; earlier chunks of the reply are void."""

    attempt: int
    reason: str
    delay_s: float


@dataclass(frozen=True, slots=True)
class Replied:
    """The reply is complete. Last, exactly once; `calls` of the message are in order of position.

    `finish_reason` is the provider's word ("stop", "length", "tool_calls", "" for none); only `calls` say if
    code was called.
    """

    message: Assistant
    finish_reason: str = ""


Chunk = TextChunk | ReasoningChunk | CallDelta | Usage | Retrying | Replied


class Tools(list[Mapping[str, Any]]):
    """The tools of one request, with further fields of it (`demands`) in OpenAI's form."""

    def __init__(self, tools: Iterable[Mapping[str, Any]], demands: Mapping[str, Any]) -> None:
        super().__init__(tools)
        self.demands = demands


def demanded(tools: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the further fields of a request with these tools."""
    return tools.demands if isinstance(tools, Tools) else {}


class Model(Protocol):
    """One language model, ready to be called."""

    @property
    def name(self) -> str:
        """The name that users write for it, such as "openai/gpt-4o"."""

    def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Send one request; yield its reply in pieces, the last of them `Replied`.

        `tools` are JSON schemas of functions in OpenAI's form, and may be `Tools`. Closing the
        generator, or cancelling the task that reads it, ends the request at the provider.

        Raises:
            ModelError: the narrowest kind that fits.
        """

    async def aclose(self) -> None:
        """Close the connections. Harmless when called twice."""


class ModelWrapper:
    """A part of a model around another one: its name is that of the inner model, which it closes."""

    def __init__(self, inner: Model) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The name of the inner model."""
        return self._inner.name

    async def aclose(self) -> None:
        """Close the inner model."""
        await self._inner.aclose()
