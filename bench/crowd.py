"""Many sessions at once, each with a real kernel: an answer streams in all of them, and code runs between.

None may starve, so the slowest is told beside the median.
"""

import asyncio
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from bench.measure import Row, readable, show
from bench.server import HEADERS, program, resident, serving, streamed

SESSIONS, FEWER = 50, 30
# Kernels take 45 MB each, and as much again while many of them begin.
_ROOM = 6_000_000_000
TOKENS = 40
MODEL = """
import json, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Model(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for number in range(40):
            self.send({"content": f"{number} "})
            time.sleep(0.05)
        if asked["messages"][-1]["role"] != "tool":
            arguments = json.dumps({"language": "python", "code": "print(sum(range(1000)))"})
            function = {"name": "execute", "arguments": arguments}
            self.send({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": function}]})
        self.wfile.write(b"data: [DONE]\\n\\n")

    def send(self, delta):
        chunk = json.dumps({"choices": [{"index": 0, "delta": delta}]})
        self.wfile.write(f"data: {chunk}\\n\\n".encode())

    def log_message(self, *_):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 200

server = Server(("127.0.0.1", 0), Model)
print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
server.serve_forever()
"""


@dataclass
class Seen:
    """What the client of one session saw: seconds to the first token and to the end, and the longest wait for
    a token of a reply."""

    first: float = 0.0
    end: float = 0.0
    gap: float = 0.0
    printed: str = ""
    tokens: int = 0
    last: float = field(default=0.0, repr=False)

    def token(self, now: float) -> None:
        self.tokens += 1
        self.gap = max(self.gap, now - self.last) if self.last else self.gap
        self.last = now


async def turn(client: httpx.AsyncClient, path: str) -> Seen:
    """One turn, whose code is approved as soon as it is proposed."""
    seen, began = Seen(), time.perf_counter()
    async for event in streamed(client, f"{path}/turns", {"prompt": "go"}):
        now = time.perf_counter() - began
        match event["event"]:
            case "text_delta":
                seen.first = seen.first or now
                seen.token(now)
            case "model_called":
                seen.last = 0.0
            case "code_proposed":
                body = {"digest": event["digest"], "decision": "run"}
                await client.post(f"{path}/approvals/{event['call_id']}", json=body)
            case "printed":
                seen.printed += event["output"].get("text", "")
            case "turn_finished":
                seen.end = now
    return seen


async def crowd(url: str, count: int) -> tuple[list[Seen], list[Seen]]:
    """What all see in a turn in which their kernels start, and in one after that."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(trust_env=False, timeout=300, headers=HEADERS, limits=limits) as client:
        ids = [(await client.post(f"{url}/v1/sessions", json={})).json()["id"] for _ in range(count)]
        paths = [f"{url}/v1/sessions/{one}" for one in ids]
        cold = await asyncio.gather(*(turn(client, path) for path in paths))
        return cold, await asyncio.gather(*(turn(client, path) for path in paths))


def own_memory(process: psutil.Process) -> int:
    """Bytes that a process shares with no other."""
    told = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    return sum(int(size) for size in re.findall(r"Private_\w+:\s+(\d+)", told)) * 1024


def rows() -> Iterator[Row]:
    count = SESSIONS if psutil.virtual_memory().available > _ROOM else FEWER
    with (
        tempfile.TemporaryDirectory() as home,
        program(MODEL) as (source, _),
        serving(source, home) as (url, server),
    ):
        before = resident(server)
        cold, warm = asyncio.run(crowd(url, count))
        for name, seen in (("with kernels that start", cold), ("with kernels that run", warm)):
            right = [one for one in seen if (one.printed, one.tokens) == ("499500\n", 2 * TOKENS)]
            yield Row(f"turns {name}", len(right), f"of {count}", detail="whole and right")
            yield slowest("  seconds to the first token", [one.first for one in seen])
            yield slowest("  seconds to the end", [one.end for one in seen])
            yield slowest("  longest wait for a token", [one.gap for one in seen])
        kernels = psutil.Process(server.pid).children(recursive=True)
        yield Row("a session, in the server", (resident(server) - before) / count / 1e6, "MB")
        own = [own_memory(kernel) for kernel in kernels]
        yield Row("a session, in processes", sum(own) / count / 1e6, "MB", detail=f"{len(own)} processes")


def slowest(what: str, seconds: list[float]) -> Row:
    """The longest of these times, beside the median."""
    return Row(what, max(seconds), "s", detail=f"median {readable(statistics.median(seconds))} s")


if __name__ == "__main__":
    show(str(__doc__), rows())
