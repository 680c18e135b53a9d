"""One line of JSON for each request, without its query, its headers and its body."""

import json
import logging
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from terp.secrets.scrubbing import Scrubber

Line = Callable[[dict[str, Any]], None]


class RequestLog:
    """ASGI middleware that calls `line` for each request at its end."""

    def __init__(self, app: ASGIApp, *, line: Line) -> None:
        self._app = app
        self._line = line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            status = _status(message) or status
            await send(message)

        try:
            await self._app(scope, receive, sent)
        except BaseException:
            status = status or 500
            raise
        finally:
            self._line(
                {
                    "method": scope.get("method", "WS"),
                    "path": scope["path"][:300],
                    "status": status,
                    "ms": round((time.monotonic() - began) * 1e3, 1),
                }
            )


def _status(message: Message) -> int:
    match message:
        case {"type": "http.response.start" | "websocket.http.response.start", "status": int(status)}:
            return status
        case {"type": "websocket.accept"}:
            return 101
        case {"type": "websocket.close", "code": int(code)}:
            return code
    return 0


class JsonLines(logging.Handler):
    """Log records as lines: of the HTTP server, and of what fails in ours."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        """Write one."""
        trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        fields = {"level": record.levelname.lower(), "message": record.getMessage()}
        if trace:
            fields["traceback"] = trace
        self._line(fields)


def lines_to(write: Callable[[str], object], scrubber: "Scrubber", *, quiet: bool) -> Line:
    """Return a writer of lines with their time, without secrets; with `quiet` only those of failures."""

    def line(fields: dict[str, Any]) -> None:
        if quiet and fields.get("status", 500) < 500:
            return
        # A path can hold a secret, too: somebody has put it into an address.
        write(json.dumps({"time": round(time.time(), 3), **scrubber.redacted_value(fields)}) + "\n")

    return line
