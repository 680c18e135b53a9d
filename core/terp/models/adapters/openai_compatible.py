"""The direct adapter: chat completions over httpx.

It starts in a tenth of the time that importing litellm takes. Models that need more than chat
completions are called through litellm.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from terp.errors import ToolsRejected
from terp.events.messages import Message
from terp.events.model import Chunk, demanded
from terp.models.adapters.accumulator import Accumulator
from terp.models.adapters.chat_format import chat_messages, with_cache_points
from terp.models.adapters.chat_stream import ChatStream
from terp.models.adapters.failures import unusable_key
from terp.models.adapters.routing import Route
from terp.models.facts.abilities import Abilities
from terp.settings.model_settings import ModelOptions
from terp.text.importing import import_slow

if TYPE_CHECKING:
    from terp.models.adapters.chat_server import ChatServer

# Its command line would import rich and click, and double the time; HTTP/2 is not asked for.
_PARTS = ("httpx._main", "h2")


def preload() -> None:
    """Import httpx (50 ms), which the first request needs, without its optional parts. Meant for a thread."""
    left_out = [name for name in _PARTS if name not in sys.modules]
    # None makes an import fail; both libraries are prepared for that.
    sys.modules.update(dict.fromkeys(left_out))  # type: ignore[arg-type]
    try:
        import_slow("terp.models.adapters.chat_server")
        # The first client of httpx would import it, while the screen waits.
        import_slow("httpcore")
    finally:
        for name in left_out:
            sys.modules.pop(name, None)


class OpenAICompatible:
    """A model behind `POST {api_base}/chat/completions`."""

    def __init__(self, route: Route, options: ModelOptions) -> None:
        self._route = route
        self._options = options
        self._abilities = Abilities(route, options)
        self._server: ChatServer | None = None

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._route.full_name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Send one request and yield its reply, as `Model.stream` describes it."""
        server = await self._ready(tools)
        reply = Accumulator(self._abilities.cost_usd)
        body = ChatStream(self._route.target)
        async with aclosing(server.received(self._request(messages, tools), body)) as pieces:
            async for piece in pieces:
                for event in body.feed(piece):
                    for chunk in reply.feed(event):
                        yield chunk
        for event in [] if body.done else body.finish():
            for chunk in reply.feed(event):
                yield chunk
        for chunk in reply.finish():
            yield chunk

    async def aclose(self) -> None:
        """Close the connections. Harmless when called twice."""
        if self._server is not None:
            server, self._server = self._server, None
            await server.aclose()

    async def _ready(self, tools: Sequence[Mapping[str, Any]]) -> "ChatServer":
        if problem := unusable_key(self._route.target, needed=self._route.lacks_key):
            raise problem
        if tools and not self._route.provider.calls_tools:
            raise ToolsRejected(f"{self.name}: this provider has no tool calls.")
        if self._server is None:
            # In a thread, so that the screen lives and Ctrl-C works during the import.
            await asyncio.to_thread(preload)
            from terp.models.adapters.chat_server import ChatServer  # noqa: PLC0415 — httpx, see `preload`

            self._server = ChatServer(self._route, self._options.timeout_s or None)
        return self._server

    def _request(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        options, provider = self._options, self._route.provider
        length_option = "max_tokens" if self._route.custom_base else provider.length_option
        sent = chat_messages(messages, vision=self._abilities.sees(messages), echoed=self._route.echoed)
        marks = bool(provider.marks_cache) and provider.marks_cache in self._route.model
        request: dict[str, Any] = {
            "model": self._route.model,
            "messages": with_cache_points(sent) if marks else sent,
            "stream": True,
            "stream_options": {"include_usage": True} if provider.usage_option else None,
            "tools": list(tools) or None,
            "temperature": options.temperature,
            "reasoning_effort": options.reasoning_effort or None,
            length_option: options.max_tokens,
            **demanded(tools),
        }
        return {name: value for name, value in request.items() if value is not None}
