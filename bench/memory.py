"""Memory after 100 turns with a run each: terp against a loop of the same libraries that does the same.

The loop has a prompt, streams the reply, runs the code in a kernel, and shows code and answer; it has no
session, no record, no approval, and no account of changes.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.loopback import Call, Loopback, Scripted

from bench.measure import TERP, Row, environment, show
from bench.prompt import PROMPT, Terminal

TURNS = 100
BARE = """
import asyncio, json, sys
import httpx
from jupyter_client.manager import AsyncKernelManager
from prompt_toolkit import PromptSession
from rich.console import Console
from rich.markdown import Markdown
from rich.syntax import Syntax

async def reply(http, messages):
    text = code = ""
    body = {"model": "m", "stream": True, "messages": messages}
    async with http.stream("POST", sys.argv[1] + "/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    text += choice["delta"].get("content") or ""
                    for call in choice["delta"].get("tool_calls") or ():
                        code += call["function"].get("arguments") or ""
    return text, json.loads(code)["code"] if code else ""

async def main():
    prompt, console, messages = PromptSession(), Console(), []
    manager = AsyncKernelManager()
    async with httpx.AsyncClient() as http:
        while True:
            messages.append({"role": "user", "content": await prompt.prompt_async("› ")})
            if not manager.has_kernel:
                await manager.start_kernel()
                kernel = manager.client()
                kernel.start_channels()
                await kernel.wait_for_ready()
            text, code = await reply(http, messages)
            console.print(Syntax(code, "python"))
            await kernel.execute_interactive(code)
            messages.append({"role": "user", "content": text})
            text, _ = await reply(http, messages)
            console.print(Markdown(text))

asyncio.run(main())
"""


def after(command: Sequence[str], folder: Path) -> float:
    """The most memory of a program, in MB, after so many turns."""
    script: list[Scripted] = []
    for number in range(TURNS):
        script += [[Call(code=f"print('ran', {number})")], f"The answer is *here{number}.*"]
    with Loopback(script) as server:
        env = environment(TERP_HOME=str(folder), OPENAI_API_KEY="unused", TERP_TITLES="off")
        words = [server.url if word == "URL" else word for word in command]
        terminal = Terminal(words, folder, {**env, "NO_PROXY": "127.0.0.1"})
        try:
            terminal.until(PROMPT.strip())
            for number in range(TURNS):
                terminal.seen = b""
                terminal.types(f"turn {number}\r".encode())
                terminal.until(f"here{number}.".encode(), 60.0 + number)
            return terminal.peak_mb()
        finally:
            terminal.close()


def rows() -> Iterator[Row]:
    options = ["-m", "openai/scripted", "--api_base", "URL", "--auto-run", "--sandbox", "off"]
    with tempfile.TemporaryDirectory() as name:
        bare = after([sys.executable, "-c", BARE, "URL"], Path(name))
        ours = after([*TERP, *options], Path(name))
    yield Row("after 100 turns", ours, "MB", 1.2 * bare, f"the loop {bare:.0f} MB")


if __name__ == "__main__":
    show(str(__doc__), rows())
