"""One-shot runs against a scripted server, whole process: an answer in text, and one with a run of code.

The yardstick is a bare program that streams the same answer with httpx: what Python and one HTTP client cost.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.loopback import Call, Loopback, Scripted

from bench.measure import TERP, Row, environment, medians, ratio, show, wall

BARE = """
import asyncio, httpx, json, sys
async def main():
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    async with httpx.AsyncClient() as client:
        async with client.stream("POST", sys.argv[1] + "/chat/completions", json=body) as reply:
            async for line in reply.aiter_lines():
                if line.startswith("data: {"):
                    for choice in json.loads(line[6:])["choices"]:
                        print(choice["delta"].get("content") or "", end="")
asyncio.run(main())
"""
URL = "URL"
ANSWER = "The answer is 42, and this is the sentence that says so. " * 4


def once(command: Sequence[str], script: Sequence[Scripted], folder: Path) -> float:
    """Seconds of one run of a command, URL in its place, against a server of its own."""
    with Loopback(script) as server:
        env = environment(TERP_HOME=str(folder), OPENAI_API_KEY="unused", NO_PROXY="127.0.0.1")
        return wall([server.url if word == URL else word for word in command], folder, env)


def rows(rounds: int = 7) -> Iterator[Row]:
    terp = [*TERP, "-y", "-m", "openai/scripted", "--api_base", URL, "hello"]
    script: list[Scripted] = [Call(code="print(6 * 7)"), ANSWER]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        taken = medians(
            rounds,
            {
                "bare": lambda: once([sys.executable, "-c", BARE, URL], [ANSWER], folder),
                "text": lambda: once(terp, [ANSWER], folder),
                "code": lambda: once(terp, script, folder),
            },
        )
    # A little more than what the HTTP client costs; a run with jupyter_client alone takes 3.1 of these.
    yield ratio("an answer in text", "bare httpx", taken["text"], taken["bare"], 1.3)
    yield ratio("an answer with one run", "bare httpx", taken["code"], taken["bare"], 3.1)


if __name__ == "__main__":
    show(str(__doc__), rows())
