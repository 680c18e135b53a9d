"""codex from npm calls the tool, at the word of a scripted model on loopback."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Terp

LOAD = "import pandas as pd\nsales = pd.read_csv('sales.csv'); len(sales)"
PLOT = "ax = sales.plot.bar(x='month', y='sold'); ax.figure.savefig('plot.png')"
ASK = "int(sales['sold'].sum())"
DELETE = "import os; os.remove('sales.csv')"


@pytest.fixture(scope="module")
def codex(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program: that of this machine, or a new installation."""
    if found := shutil.which("codex"):
        return found
    folder = tmp_path_factory.mktemp("codex")
    try:
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), "@openai/codex"]
        subprocess.run(command, check=True, capture_output=True, timeout=180)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("codex cannot be installed")
    return str(folder / "node_modules/.bin/codex")


@contextmanager
def scripted(codes: Sequence[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server of OpenAI's Responses that calls the tool with each code, then answers; and its requests."""
    requests: list[dict[str, Any]] = []

    class Responses(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Be quiet."""

        def do_POST(self) -> None:
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            done = sum(one.get("type") == "function_call_output" for one in requests[-1]["input"])
            text = [{"type": "output_text", "text": "Done.", "annotations": []}]
            item: dict[str, Any] = {"type": "message", "id": "m1", "role": "assistant", "content": text}
            if done < len(codes):
                arguments = json.dumps({"code": codes[done]})
                names = {"namespace": "mcp__terp", "name": "execute"}
                item = {"type": "function_call", "call_id": f"c{done}", "arguments": arguments, **names}
            response: dict[str, Any] = {"id": f"r{len(requests)}"}
            usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in (
                {"type": "response.created", "response": response},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": {**response, "usage": usage}},
            ):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Responses)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", requests
    finally:
        server.shutdown()
        server.server_close()


def configuration(url: str, terp: Terp) -> str:
    return f"""
model = "scripted"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "{url}"
wire_api = "responses"
[mcp_servers.terp]
command = "{sys.executable}"
args = ["-m", "terp_cli", "mcp-server"]
required = true
startup_timeout_sec = 60
env = {{ PYTHONPATH = "{terp.environ["PYTHONPATH"]}", TERP_HOME = "{terp.home}" }}
"""


@pytest.mark.faults
def test_codex_plots_a_csv_and_asks_on_about_the_same_variable(codex: str, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    terp = Terp(tmp_path)
    (terp.cwd / "sales.csv").write_text("month,sold\nmay,3\njune,4\n")
    with scripted([LOAD, PLOT, ASK, DELETE]) as (url, requests):
        (tmp_path / "config.toml").write_text(configuration(url, terp))
        # All code of codex itself is switched off: what it may do is terp's to say.
        flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        ended = subprocess.run(
            [codex, "exec", *flags, "plot sales.csv"],
            check=False,
            cwd=terp.cwd,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CODEX_HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=200,
        )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("terp/execute (completed)") == 3
    results = [one["output"] for one in requests[-1]["input"] if one.get("type") == "function_call_output"]
    loaded, plotted, total, deleted = map(json.dumps, results)
    assert "+sales DataFrame" in loaded
    assert "data:image/png;base64," in plotted
    assert '"7\\n[' in total
    assert "declined through the client" in deleted
    assert (terp.cwd / "sales.csv").exists()
    assert (terp.cwd / "plot.png").exists()
