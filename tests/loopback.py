"""A scripted OpenAI-compatible server on loopback: request n gets reply n.

with Loopback(["hello", [Call("python", "1+1")], Http(429, headers={"Retry-After": "1"})]) as server:
    ...  # point a model at server.url
    server.requests[0]["messages"]
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Call:
    """A tool call of `execute`; `name` and raw `arguments` can be given instead."""

    language: str = "python"
    code: str = ""
    name: str = "execute"
    arguments: str | None = None

    @property
    def text(self) -> str:
        if self.arguments is not None:
            return self.arguments
        return json.dumps({"language": self.language, "code": self.code})


@dataclass(frozen=True)
class Http:
    """A status with a body instead of a stream."""

    status: int
    body: str = '{"error": {"message": "scripted"}}'
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """A body of bytes, cut into pieces of `cut` bytes; `broken` ends the connection without an end."""

    body: bytes
    cut: int = 700
    content_type: str = "text/event-stream"
    broken: bool = False


@dataclass(frozen=True)
class Stalled:
    """Headers and then nothing, until the client leaves or `seconds` have passed."""

    seconds: float = 30.0


Part = str | Call
Scripted = Part | Sequence[Part] | Http | Raw | Stalled


class Loopback:
    """Serves the script on a free port of 127.0.0.1 for as long as the context lives.

    `chunk` is the number of characters per streamed piece (0: all at once), `pause_s` the wait between
    pieces. `usage` is sent with the last chunk. A request past the end of the script gets a 400.
    `pages` are JSON values to be had with GET, by path; `looked_at` are the paths that were asked for.
    """

    def __init__(
        self,
        script: Sequence[Scripted],
        *,
        chunk: int = 12,
        pause_s: float = 0.0,
        usage: bool = True,
        pages: Mapping[str, Any] | None = None,
    ) -> None:
        self.pages = pages or {}
        self.looked_at: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.script = list(script)
        self.chunk, self.pause_s, self.usage = chunk, pause_s, usage
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """The `api_base`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Scripted:
        """The reply to the next request, which is kept."""
        with self._lock:
            position = len(self.requests)
            self.requests.append(body)
            self.headers.append(dict(headers))
            self.paths.append(path)
        if position < len(self.script):
            return self.script[position]
        return Http(400, '{"error": {"message": "the script is at its end"}}')


def _pieces(text: str, size: int) -> Iterator[str]:
    if not size:
        yield text
        return
    for start in range(0, len(text), size):
        yield text[start : start + size]


def deltas(parts: Sequence[Part], size: int) -> Iterator[dict[str, Any]]:
    """The `delta` objects of a reply in OpenAI's form."""
    yield {"role": "assistant", "content": ""}
    index = 0
    for part in parts:
        if isinstance(part, str):
            yield from ({"content": piece} for piece in _pieces(part, size))
            continue
        head = {"index": index, "id": f"call_{index}", "type": "function"}
        yield {"tool_calls": [{**head, "function": {"name": part.name, "arguments": ""}}]}
        for piece in _pieces(part.text, size):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
        index += 1


def sse(parts: Sequence[Part], size: int = 12, *, usage: bool = True) -> Iterator[bytes]:
    """A whole reply as server-sent events."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}

    def event(**fields: Any) -> bytes:
        return b"data: " + json.dumps({**base, **fields}).encode() + b"\n\n"

    for delta in deltas(parts, size):
        yield event(choices=[{"index": 0, "delta": delta, "finish_reason": None}])
    finish = "tool_calls" if any(isinstance(part, Call) for part in parts) else "stop"
    yield event(choices=[{"index": 0, "delta": {}, "finish_reason": finish}])
    if usage:
        tokens = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        yield event(choices=[], usage=tokens)
    yield b"data: [DONE]\n\n"


class _Handler(BaseHTTPRequestHandler):
    owner: Loopback
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Stay quiet: the test reads `requests`."""

    def do_GET(self) -> None:
        self.owner.looked_at.append(self.path)
        page = self.owner.pages.get(self.path)
        self._whole(Http(404) if page is None else Http(200, json.dumps(page)))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        reply = self.owner.take(self.path, dict(self.headers), json.loads(body or b"{}"))
        try:
            self._answer(reply)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, reply: Scripted) -> None:
        if isinstance(reply, Http):
            self._whole(reply)
        elif isinstance(reply, Stalled):
            self._begin("text/event-stream")
            time.sleep(reply.seconds)
        elif isinstance(reply, Raw):
            cut = reply.cut or len(reply.body)
            self._begin(reply.content_type)
            self._stream(reply.body[at : at + cut] for at in range(0, len(reply.body), cut))
            self._end(broken=reply.broken)
        else:
            parts = [reply] if isinstance(reply, str | Call) else reply
            self._begin("text/event-stream")
            self._stream(sse(parts, self.owner.chunk, usage=self.owner.usage))
            self._end(broken=False)

    def _whole(self, reply: Http) -> None:
        body = reply.body.encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _begin(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _stream(self, pieces: Iterator[bytes]) -> None:
        for piece in pieces:
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            if self.owner.pause_s:
                time.sleep(self.owner.pause_s)

    def _end(self, *, broken: bool) -> None:
        if broken:
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")
