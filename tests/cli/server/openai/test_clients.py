"""Programs of other people that speak OpenAI's interface, as they are configured for any server of it."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from terp.events.messages import ToolCall
from terp.testing import call
from tests.cli.server.openai.asking import ASKS
from tests.cli.server.serving import TOKEN, Running, serving

LITELLM = """
import json, sys, litellm
asked = {"model": "openai/terp", "api_base": sys.argv[1], "api_key": sys.argv[2]}
messages = [{"role": "user", "content": "1 + 1?"}]
first = litellm.completion(messages=messages, **asked)
messages += [first.choices[0].message.model_dump(), {"role": "user", "content": "yes"}]
pieces = list(litellm.completion(messages=messages, stream=True, **asked))
print(json.dumps({
    "first": first.choices[0].message.content,
    "finish": first.choices[0].finish_reason,
    "tokens": first.usage.total_tokens,
    "second": "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices),
    "ends": [choice.finish_reason for piece in pieces for choice in piece.choices if choice.finish_reason],
}))
"""


async def output(folder: Path, *arguments: str) -> str:
    """What a Python program prints, in a home of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LLM_USER_PATH": str(folder / "llm"),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "NO_PROXY": "127.0.0.1",
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, notes = await process.communicate()
    assert process.returncode == 0, notes.decode()
    return out.decode()


def configure_llm(folder: Path, server: Running) -> None:
    """What its manual says about models with OpenAI's interface."""
    home = folder / "llm"
    home.mkdir()
    model = {
        "model_id": "terp",
        "model_name": "terp",
        "api_base": f"{server.url}/v1",
        "api_key_name": "terp",
        "supports_tools": True,
    }
    # JSON is YAML, too.
    (home / "extra-openai-models.yaml").write_text(json.dumps([model]))
    (home / "keys.json").write_text(json.dumps({"terp": TOKEN}))


async def test_llm_asks_and_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path, ["I add. ", call("1 + 1")], "It is 2.") as server:
        configure_llm(tmp_path, server)
        asked = await output(tmp_path, "-m", "llm", "-m", "terp", "1 + 1?")
        done = await output(tmp_path, "-m", "llm", "-c", "yes")
        assert len(server.opener.made) == 1
    assert asked == f"I add. \n\n```python\n1 + 1\n```\n\n{ASKS}\n"
    assert done == "```output\n1 + 1\n```\n\nIt is 2.\n"


async def test_llm_runs_its_own_tools(tmp_path: Path) -> None:
    weather = "def weather(city: str) -> str:\n    return f'rain in {city}'"
    asked = ToolCall("call_w", "weather", '{"city": "Paris"}')
    async with serving(tmp_path, [asked], "It rains.") as server:
        configure_llm(tmp_path, server)
        arguments = "--functions", weather, "--no-stream", "Paris?"
        done = await output(tmp_path, "-m", "llm", "-m", "terp", *arguments)
        [session] = server.opener.made
        assert "rain in Paris" in str(session.history)
    assert done == "It rains.\n"


async def test_litellm_asks_whole_and_in_pieces(tmp_path: Path) -> None:
    async with serving(tmp_path, call("1 + 1"), "It is 2.") as server:
        told: dict[str, Any] = json.loads(await output(tmp_path, "-c", LITELLM, f"{server.url}/v1", TOKEN))
        assert len(server.opener.made) == 1
    assert told == {
        "first": f"```python\n1 + 1\n```\n\n{ASKS}",
        "finish": "stop",
        "tokens": 15,
        "second": "```output\n1 + 1\n```\n\nIt is 2.",
        "ends": ["stop"],
    }
