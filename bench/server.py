"""The server: what it adds to the first token and to each further one, what a session weighs, how it ends.

The yardstick is the model's own stream, read by httpx without terp, from a process of its own.
"""

import asyncio
import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import httpx
from terp_cli.server.sessions import _PAGE

from bench.measure import TERP, Row, environment, show
from bench.streaming import serving as model_serving

TOKEN = "a-token-of-the-bench-0123456789"
CHUNKS = 200


@contextmanager
def serving(model: str, home: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL of a server in a process of its own, and the process."""
    command = [*TERP, "serve", "--port", "0", "-q", "-m", "openai/scripted", "--api-base", model]
    env = environment(TERP_HOME=home, OPENAI_API_KEY="unused", NO_PROXY="127.0.0.1", TERP_SERVER_TOKEN=TOKEN)
    command.remove("-q")
    with subprocess.Popen(command, cwd=home, env=env, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        [url] = re.findall(r"http://\S+", server.stderr.readline())
        try:
            yield url, server
        finally:
            server.kill()
