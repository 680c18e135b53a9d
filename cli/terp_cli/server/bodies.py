"""Checks of request bodies: content type, size, and speed of arrival."""

import asyncio
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from terp.text.dataclasses import dataclass
from terp_cli.server.access import answer, values
from terp_cli.server.connections import ServerLimits
from terp_cli.server.failures import RequestRefused

JSON, BYTES = "application/json", "application/octet-stream"


_METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "DELETE"})
_METHODS_OF_FILES = frozenset({"GET", "HEAD", "PUT", "DELETE"})


def type_of(scope: Scope) -> str:
    """Return the content type that the body of a request must have: bytes for an uploaded file, else JSON.

    Return "" (any type) for a method that no route has: the request will be refused anyway.
    """
    is_file = "/files/" in scope["path"]
    if scope["method"] not in (_METHODS_OF_FILES if is_file else _METHODS):
        return ""
    return BYTES if scope["method"] == "PUT" else JSON


@dataclass(eq=False)
class Bodies:
    """ASGI middleware that refuses bodies of another type than `type_of` returns, too long or too slow ones.

    A form of any web page can send its own content types without a CORS preflight, so JSON must be declared
    as JSON. Any other type is a file, and may be as long as an upload.
    """

    app: ASGIApp
    limits: ServerLimits
    type_of: Callable[[Scope], str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, and check its body as it is read."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        lengths = values(scope, b"content-length")
        kind = "".join(values(scope, b"content-type")).partition(";")[0].strip().lower()
        has_body = bool(values(scope, b"transfer-encoding")) or any(length != "0" for length in lengths)
        wanted = self.type_of(scope)
        most = self.limits.body if wanted in (JSON, "") else self.limits.upload
        if has_body and wanted and kind != wanted:
            await answer(scope, receive, send, RequestRefused(415, f"The body must be {wanted}."))
        elif any(not length.isdigit() or int(length) > most for length in lengths):
            await answer(scope, receive, send, _too_large(most))
        else:
            await self.app(scope, _Body(receive, most, self.limits).receive, send)


class _Body:
    """A body being read: it limits the size, the wait for the next piece, and the total time.

    Its errors are raised in the route that reads the body, and are answered like any error of a route.
    """

    def __init__(self, receive: Receive, most: int, limits: ServerLimits) -> None:
        self._receive = receive
        self._most = self._left = most
        self._limits = limits
        self._whole = False
        self._began = asyncio.get_running_loop().time()

    async def receive(self) -> Message:
        if self._whole:
            # What comes behind the body is that the client has gone: that may take its time.
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._latest()):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, "The body comes too slowly.") from None
        self._left -= len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._left < 0:
            raise HTTPException(413, _too_large(self._most).problem.message)
        return message

    def _latest(self) -> float:
        """Return the deadline of the next piece. A client that sends a byte now and then is cut off."""
        earned = (self._most - self._left) / self._limits.slowest
        return self._limits.stall_s + min(asyncio.get_running_loop().time(), self._began + earned)


def _too_large(most: int) -> RequestRefused:
    return RequestRefused(413, f"The body is longer than {most:,} bytes.")
