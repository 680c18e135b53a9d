"""What a streamed chunk costs the direct adapter, in CPU time, against httpx and json alone.

The server is a process of its own, and every chunk of four characters an HTTP chunk of its own.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager

import httpx

from bench.measure import ROOT, Row, medians, show
from terp.events.messages import User
from terp.events.model import TextChunk
from terp.models.adapters.openai_compatible import OpenAICompatible
from terp.models.adapters.routing import route
from terp.settings.model_settings import ModelOptions

SERVE = """
import sys
from tests.loopback import Loopback
with Loopback(["word" * int(sys.argv[1])] * 100, chunk=4) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def serving(chunks: int) -> Iterator[str]:
    """The URL of a server that answers with so many chunks."""
    command = [sys.executable, "-c", SERVE, str(chunks)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.communicate("")


async def adapter(url: str) -> int:
    """The chunks of text that terp's adapter gives."""
    options = ModelOptions("openai/scripted", api_base=url, api_key="unused")
    model = OpenAICompatible(route(options, {}), options)
    count = 0
    async with aclosing(model.stream([User("hello")])) as chunks:
        async for chunk in chunks:
            count += isinstance(chunk, TextChunk)
    await model.aclose()
    return count


async def bare(url: str) -> int:
    """The chunks of text that httpx and json give."""
    body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    count = 0
    async with (
        httpx.AsyncClient(trust_env=False) as client,
        client.stream("POST", f"{url}/chat/completions", json=body) as reply,
    ):
        async for line in reply.aiter_lines():
            if line.startswith("data: {"):
                choices = json.loads(line[6:])["choices"]
                count += bool(choices and choices[0]["delta"].get("content"))
    return count


def per_chunk(read: Callable[[str], Awaitable[int]], url: str, chunks: int) -> float:
    """Seconds of CPU time per chunk."""

    async def run() -> int:
        return await read(url)

    began = time.process_time()
    count = asyncio.run(run())
    seconds = time.process_time() - began
    if count != chunks:
        raise SystemExit(f"{count} chunks came of {chunks}")
    return seconds / chunks


def rows() -> Iterator[Row]:
    costs: dict[int, dict[str, float]] = {}
    for chunks, rounds in ((1_000, 5), (10_000, 3), (100_000, 1)):
        with serving(chunks) as url:
            cases = {
                "terp": lambda url=url, chunks=chunks: per_chunk(adapter, url, chunks),
                "bare": lambda url=url, chunks=chunks: per_chunk(bare, url, chunks),
            }
            costs[chunks] = medians(rounds, cases)
    for chunks, cost in costs.items():
        against = f"{cost['terp'] / cost['bare']:.2f} × httpx and json ({cost['bare'] * 1e6:.0f} µs)"
        yield Row(f"a chunk of {chunks:,}", cost["terp"] * 1e6, "µs CPU", None, against)
    growth = costs[100_000]["terp"] / costs[10_000]["terp"]
    yield Row("a chunk of 100,000", growth, "× of 10,000", 1.2)


if __name__ == "__main__":
    show(str(__doc__), rows())
