"""The HTTP side of the direct adapter: sends requests, returns bytes, and raises failures as terp's errors.

It is a separate module because importing httpx takes longer than painting the prompt.
"""

import asyncio
import math
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Self

import httpx

from terp.models.adapters.chat_stream import ChatStream
from terp.models.adapters.failures import Target, classify, unreachable
from terp.models.adapters.routing import Route, is_loopback

_CONNECT_S = 15.0
_LONGEST_ERROR = 256 * 1024


class ChatServer:
    """The connections to one address. Silence for `timeout_s` is a failure; None: no limit."""

    def __init__(self, route: Route, timeout_s: float | None) -> None:
        self._route = route
        self._timeout_s = timeout_s
        self._client = connections(route, timeout_s)
        self._url = httpx.URL(f"{route.api_base}/chat/completions")

    async def received(self, request: Mapping[str, Any], body: ChatStream) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of the response as they arrive, until `body` is done.

        Raises:
            ModelError: the response is an error, or the connection fails before the reply is complete.
        """
        try:
            async with self._client.stream("POST", self._url, json=request) as response:
                if response.status_code != 200:
                    raise classify(
                        self._route.target, response.status_code, await error_text(response), response.headers
                    )
                is_compressed = "content-encoding" in response.headers
                received = response.aiter_bytes() if is_compressed else response.aiter_raw()
                with _ReadTimer(response, self._timeout_s) as timer:
                    async for piece in received:
                        timer.stop()
                        yield piece
                        if body.done:
                            await _drain(received)
                            return
                        timer.start()
        except httpx.RequestError as error:
            # A server may say all there is to say and then not close properly.
            if not body.complete:
                raise unreachable(self._route.target, self._reason(error)) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _reason(self, error: httpx.RequestError) -> str:
        return _reason(error, self._route, self._timeout_s)


class _ReadTimer:
    """Raises `httpx.ReadTimeout` when a read of the body of `response` has lasted for `limit_s`.

    It sets one timer for all reads. httpx would set one for each, which takes 5 % of the time for a token.
    """

    def __init__(self, response: httpx.Response, limit_s: float | None) -> None:
        self._limit_s = math.inf if limit_s is None else limit_s
        self._loop = asyncio.get_running_loop()
        self._began: float | None = None
        self._is_over = False
        stream = response.extensions.get("network_stream")
        self._socket = stream.get_extra_info("socket") if stream is not None else None
        if self._socket is not None:
            # httpx reads its own limit when the body is first read.
            response.request.extensions["timeout"]["read"] = None

    def start(self) -> None:
        """Note that a read begins."""
        self._began = self._loop.time()

    def stop(self) -> None:
        """Note that the read has returned."""
        self._began = None

    def __enter__(self) -> Self:
        self.start()
        self._timer = self._loop.call_later(self._limit_s, self._check)
        return self

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        self._timer.cancel()
        if self._is_over and (error is None or isinstance(error, httpx.RequestError)):
            raise httpx.ReadTimeout("") from error

    def _check(self) -> None:
        now = self._loop.time()
        due = (now if self._began is None else self._began) + self._limit_s
        if due > now:
            self._timer = self._loop.call_at(due, self._check)
        elif self._socket is not None:
            # The read ends as if the server had closed the connection. A cancel of the task could not be told
            # from one by the user.
            self._is_over = True
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


async def get_json(route: Route, path: str, target: Target, timeout_s: float | None) -> Any:
    """Return the JSON at `path` below the address of a route; None if the server has no such page.

    Raises:
        ModelError: it cannot be reached, or refuses the key.
    """
    response = await answer_to(route, "GET", path, target, timeout_s)
    if response.status_code in (401, 403):
        raise classify(target, response.status_code, response.text, response.headers)
    try:
        return response.json() if response.status_code == 200 else None
    except ValueError:
        return None


async def answer_to(
    route: Route, method: str, path: str, target: Target, timeout_s: float | None, body: Any = None
) -> httpx.Response:
    """Return the whole response to one request, with `body` as JSON.

    Raises:
        ModelError: the server cannot be reached.
    """
    try:
        async with connections(route, timeout_s) as client:
            return await client.request(method, f"{route.api_base}{path}", json=body)
    except httpx.RequestError as error:
        raise unreachable(target, _reason(error, route, timeout_s)) from error


def _reason(error: httpx.RequestError, route: Route, timeout_s: float | None) -> str:
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return f"no connection to {route.api_base} ({str(error) or 'timeout'})"
    if isinstance(error, httpx.TimeoutException):
        return f"no data arrived for {timeout_s or 0:g} s (timeout_s)"
    return f"the connection broke off ({str(error) or type(error).__name__})"


def connections(route: Route, timeout_s: float | None) -> httpx.AsyncClient:
    """Return the client that sends requests to the address of a route, with its key."""
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


async def error_text(response: httpx.Response) -> str:
    """Return the body of an error, cut to a useful length."""
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > _LONGEST_ERROR:
            break
    return body.decode(errors="replace")


async def _drain(received: AsyncIterator[bytes]) -> None:
    """Read the rest of the response, so that the connection can be reused."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0.2):
            async for _ in received:
                pass
