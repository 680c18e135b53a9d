"""A web of a few pages on loopback."""

import asyncio
import socket
import struct
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Page:
    """What is answered: a status, headers and a body."""

    body: bytes = b""
    kind: str = "text/html"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Web:
    """Serves `pages` by path (or by whole address, as a proxy); `asked` keeps method, path, headers, body."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = dict(pages)
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"web": self}))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    web: Web

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.web.asked.append((self.command, self.path, dict(self.headers), body))
        page = self.web.pages.get(self.path.partition("?")[0], Page(status=404))
        self.send_response(page.status)
        for name, value in {"Content-Type": page.kind, **page.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(page.body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@asynccontextmanager
async def hanging_up() -> AsyncGenerator[str, None]:
    """The address of a server that resets every connection once it was asked something."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
