"""The direct adapter: chat completions over httpx.

It begins in a tenth of the time that importing litellm takes, and does nothing else: what needs more than
chat completions goes through litellm.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any

import httpx

from terp.errors import ToolsRejected
from terp.messages import Message
from terp.models.abilities import Abilities
from terp.models.accumulator import Accumulator
from terp.models.chat_format import chat_messages
from terp.models.chat_stream import ChatStream
from terp.models.failures import classify, unreachable, unusable_key
from terp.models.options import ModelOptions
from terp.models.prices import PriceList
from terp.models.protocol import Chunk
from terp.models.routing import Route, is_loopback

_CONNECT_S = 15.0
_LONGEST_ERROR = 256 * 1024


class OpenAICompatible:
    """A model behind `POST {api_base}/chat/completions`."""

    def __init__(self, route: Route, options: ModelOptions, prices: PriceList | None = None) -> None:
        self._route = route
        self._options = options
        self._abilities = Abilities(route, options, prices)
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._route.full_name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """One request and its reply, as `Model.stream` says."""
        client = self._ready(tools)
        reply = Accumulator(self._abilities.cost_usd)
        body = ChatStream(self._route.target)
        async with aclosing(self._received(client, self._request(messages, tools), body)) as pieces:
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
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _ready(self, tools: Sequence[Mapping[str, Any]]) -> httpx.AsyncClient:
        if problem := unusable_key(self._route.target, needed=self._route.lacks_key):
            raise problem
        if tools and not self._route.provider.calls_tools:
            raise ToolsRejected(f"{self.name}: this provider has no tool calls.")
        if self._client is None:
            self._client = _client(self._route, self._options.timeout_s or None)
        return self._client

    async def _received(
        self, client: httpx.AsyncClient, request: Mapping[str, Any], body: ChatStream
    ) -> AsyncGenerator[bytes, None]:
        """The bytes of the response as they arrive, until `body` is done.

        Raises:
            ModelError: the response is an error, or the connection fails before the reply is complete.
        """
        try:
            async with client.stream(
                "POST", f"{self._route.api_base}/chat/completions", json=request
            ) as response:
                if response.status_code != 200:
                    raise classify(
                        self._route.target, response.status_code, await _text(response), response.headers
                    )
                received = response.aiter_bytes()
                async for piece in received:
                    yield piece
                    if body.done:
                        await _drain(received)
                        return
        except httpx.RequestError as error:
            # A server may say all there is to say and then not close properly.
            if not body.complete:
                raise unreachable(self._route.target, self._reason(error)) from error

    def _reason(self, error: httpx.RequestError) -> str:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return f"no connection to {self._route.api_base} ({error or 'timeout'})"
        if isinstance(error, httpx.TimeoutException):
            return f"nothing came for {self._options.timeout_s:g} s (timeout_s)"
        return f"the connection broke off ({error or type(error).__name__})"

    def _request(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        options, provider = self._options, self._route.provider
        length_option = "max_tokens" if self._route.custom_base else provider.length_option
        request: dict[str, Any] = {
            "model": self._route.model,
            "messages": chat_messages(
                messages, vision=self._abilities.sees(messages), echoed=self._route.echoed
            ),
            "stream": True,
            "stream_options": {"include_usage": True} if provider.usage_option else None,
            "tools": list(tools) or None,
            "temperature": options.temperature,
            "reasoning_effort": options.reasoning_effort or None,
            length_option: options.max_tokens,
        }
        return {name: value for name, value in request.items() if value is not None}


def _client(route: Route, timeout_s: float | None) -> httpx.AsyncClient:
    headers = {"User-Agent": "terp"}
    if route.key:
        headers["Authorization"] = f"Bearer {route.key}"
    # Loading the certificates takes 20 ms or more; an empty context, for plain HTTP, takes none.
    plain = route.api_base.startswith("http://")
    return httpx.AsyncClient(
        headers=headers,
        timeout=httpx.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s or _CONNECT_S)),
        trust_env=not is_loopback(route.api_base),
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
    )


async def _text(response: httpx.Response) -> str:
    """The body of an error, as far as it is worth reading."""
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > _LONGEST_ERROR:
            break
    return body.decode(errors="replace")


async def _drain(received: AsyncIterator[bytes]) -> None:
    """Read to the end, which is due: only then can the connection be used again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0.2):
            async for _ in received:
                pass
