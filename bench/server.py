"""The server: what it adds to the first token and to each one, what an idle session weighs, how soon it ends.

The yardstick is the model's own stream, read by httpx without terp. Its chunks hold the time of sending.
"""

import asyncio
import json
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bench.measure import ROOT, TERP, Row, environment, readable, show

TOKEN = "a-token-of-the-bench-0123456789"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
SESSIONS = 100
KERNELS = 8
TOKENS = 200
Served = tuple[str, subprocess.Popen[str]]
MODEL = """
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Model(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if "sleep" in str(asked["messages"][-1]):
            arguments = json.dumps({"language": "python", "code": "print(1); import time; time.sleep(60)"})
            function = {"name": "execute", "arguments": arguments}
            self.send({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": function}]})
        else:
            for _ in range(200):
                self.send({"content": f"{time.time_ns()} "})
                time.sleep(0.005)
        self.wfile.write(b"data: [DONE]\\n\\n")

    def send(self, delta):
        chunk = json.dumps({"choices": [{"index": 0, "delta": delta}]})
        self.wfile.write(f"data: {chunk}\\n\\n".encode())

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
server.serve_forever()
"""


# The least that a server between can do, of the libraries that ours is made with: it passes on the prompt and
# the answer.
BARE = """
import json, socket, sys
import httpx, uvicorn

client = httpx.AsyncClient(trust_env=False, timeout=60)

async def prompt(receive):
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    return json.loads(body)["prompt"]

async def app(scope, receive, send):
    messages = [{"role": "user", "content": await prompt(receive)}]
    asked = {"model": "m", "stream": True, "messages": messages}
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    async with client.stream("POST", f"{sys.argv[1]}/chat/completions", json=asked) as answer:
        async for piece in answer.aiter_bytes():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})

listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listening.bind(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
config = uvicorn.Config(app, http="h11", loop="asyncio", lifespan="off", log_config=None, access_log=False)
uvicorn.Server(config).run(sockets=[listening])
"""


def model() -> AbstractContextManager[tuple[str, subprocess.Popen[str]]]:
    """The URL of a model that says what time it is."""
    return program(MODEL)


@contextmanager
def program(code: str, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL that a server says first, and its process."""
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip(), server
        finally:
            server.kill()


@contextmanager
def serving(model: str, home: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL of a server in a process of its own, and the process."""
    command = [*TERP, "serve", "--port", "0", "-m", "openai/scripted", "--api-base", model]
    env = environment(TERP_HOME=home, OPENAI_API_KEY="unused", NO_PROXY="127.0.0.1", TERP_SERVER_TOKEN=TOKEN)
    with (Path(home) / "notes").open("w+") as notes:
        server = subprocess.Popen(command, cwd=home, env=env, stderr=notes, text=True)
        try:
            while not (found := re.findall(r"serving (http://\S+)", (Path(home) / "notes").read_text())):
                time.sleep(0.05)
            yield found[0], server
        finally:
            server.kill()
            server.wait()


async def streamed(client: httpx.AsyncClient, url: str, body: dict[str, Any]) -> AsyncGenerator[Any, None]:
    """The objects of a stream of server-sent events."""
    async with client.stream("POST", url, json=body, headers=HEADERS) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: {"):
                yield json.loads(line[6:])


async def delays(texts: AsyncGenerator[str, None]) -> tuple[float, float]:
    """Seconds to the first token, and the median of those from the model to here."""
    began, first, taken = time.perf_counter(), 0.0, []
    async for text in texts:
        first = first or time.perf_counter() - began
        taken += [time.time_ns() - int(stamp) for stamp in text.split()]
    return first, statistics.median(taken) / 1e9


async def direct(client: httpx.AsyncClient, url: str) -> AsyncGenerator[str, None]:
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    async for chunk in streamed(client, f"{url}/chat/completions", body):
        yield chunk["choices"][0]["delta"].get("content") or ""


async def through(client: httpx.AsyncClient, url: str, session: str) -> AsyncGenerator[str, None]:
    async for event in streamed(client, f"{url}/v1/sessions/{session}/turns", {"prompt": "hello"}):
        if event["event"] == "text_delta":
            yield event["text"]


async def passed_on(client: httpx.AsyncClient, url: str) -> AsyncGenerator[str, None]:
    async for chunk in streamed(client, url, {"prompt": "hello"}):
        yield chunk["choices"][0]["delta"].get("content") or ""


@dataclass
class Way:
    """One way from the model to here: what it adds to the first token and to each, and its processor time."""

    texts: Callable[[], AsyncGenerator[str, None]]
    process: subprocess.Popen[str] | None = None
    firsts: list[float] = field(default_factory=list)
    each: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)

    async def measured(self) -> tuple[float, float, float]:
        """One stream: seconds to the first token, those of the median token, those of the processor."""
        before = processor_seconds(self.process)
        first, each = await delays(self.texts())
        return first, each, processor_seconds(self.process) - before


async def added(model: str, ours: Served, bare: Served, rounds: int) -> tuple[Way, Way]:
    """What our server adds, and what a bare one does. They take turns with the model's own stream."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        session = (await client.post(f"{ours[0]}/v1/sessions", json={}, headers=HEADERS)).json()["id"]
        alone = Way(lambda: direct(client, model))
        ways = (
            Way(lambda: through(client, ours[0], session), ours[1]),
            Way(lambda: passed_on(client, bare[0]), bare[1]),
        )
        for number in range(rounds + 1):
            first, each, _ = await alone.measured()
            # The way that follows the model alone is slower, so the order alternates.
            for way in ways if number % 2 else reversed(ways):
                found = await way.measured()
                if number:
                    way.firsts.append(found[0] - first)
                    way.each.append(found[1] - each)
                    way.busy.append(found[2] / TOKENS)
        return ways


def processor_seconds(process: subprocess.Popen[str] | None) -> float:
    """What a process has taken of the processor until now."""
    return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9 if process else 0.0


def resident(process: subprocess.Popen[str]) -> int:
    """Bytes of memory of a process."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) * 1024


def weight(url: str, process: subprocess.Popen[str]) -> float:
    """Bytes of one more session without a kernel."""
    with httpx.Client(base_url=url, headers=HEADERS, trust_env=False, timeout=60) as client:
        client.post("/v1/sessions", json={})
        before = resident(process)
        for _ in range(SESSIONS // 2):
            client.post("/v1/sessions", json={})
        return (resident(process) - before) / (SESSIONS // 2)


async def heartbeat(url: str) -> float:
    """Seconds to an answer while code runs in as many kernels: the longest of fifty."""
    async with httpx.AsyncClient(trust_env=False, timeout=60, headers=HEADERS) as client:
        ids = [(await client.post(f"{url}/v1/sessions", json={})).json()["id"] for _ in range(KERNELS)]
        await asyncio.gather(*(running(client, f"{url}/v1/sessions/{session}") for session in ids))
        taken = []
        for _ in range(50):
            began = time.perf_counter()
            await client.get(f"{url}/heartbeat")
            taken.append(time.perf_counter() - began)
        for session in ids:
            await client.delete(f"{url}/v1/sessions/{session}")
        return max(taken)


async def running(client: httpx.AsyncClient, path: str) -> None:
    """Return when code of the session runs."""
    async for event in streamed(client, f"{path}/turns", {"prompt": "sleep"}):
        if event["event"] == "code_proposed":
            body = {"digest": event["digest"], "decision": "run"}
            await client.post(f"{path}/approvals/{event['call_id']}", json=body)
        if event["event"] == "printed":
            return


async def ended(url: str, process: subprocess.Popen[str]) -> float:
    """Seconds from a signal to the end, while code runs."""
    async with httpx.AsyncClient(trust_env=False, timeout=60, headers=HEADERS) as client:
        session = (await client.post(f"{url}/v1/sessions", json={})).json()["id"]
        await running(client, f"{url}/v1/sessions/{session}")
    began = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(process.wait)
    return time.perf_counter() - began


def rows(rounds: int = 5) -> Iterator[Row]:
    with (
        tempfile.TemporaryDirectory() as home,
        model() as (source, _),
        program(BARE, source) as bare,
        serving(source, home) as (url, process),
    ):
        ours, theirs = asyncio.run(added(source, (url, process), bare, rounds))
        first, most = statistics.median(theirs.firsts) * 1e3, 1.5 * statistics.median(theirs.busy) * 1e3
        yield row("added to the first token", ours.firsts, theirs.firsts, first + 5)
        yield row("added to each token", ours.each, theirs.each)
        yield row("processor for each token", ours.busy, theirs.busy, most)
        yield Row("heartbeat while 8 kernels run", asyncio.run(heartbeat(url)) * 1e3, "ms", 100)
        yield Row("a session without a kernel", weight(url, process) / 1e6, "MB", 1)
        yield Row("end while code runs", asyncio.run(ended(url, process)), "s", 3)


def row(what: str, ours: Sequence[float], theirs: Sequence[float], target: float | None = None) -> Row:
    """Medians in milliseconds, beside what httpx and uvicorn take for passing on what they read."""
    alone = f"{readable(statistics.median(theirs) * 1e3)} ms by httpx and uvicorn alone"
    return Row(what, statistics.median(ours) * 1e3, "ms", target, alone)


if __name__ == "__main__":
    show(str(__doc__), rows())
