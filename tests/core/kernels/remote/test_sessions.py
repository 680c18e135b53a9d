"""A session does not tell where its code runs, except where it says so."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from terp.events import wire
from terp.events.kernel import Kernels
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.person import AutoRun
from terp.session.session import Session
from terp.testing import Scripted, ScriptedModel, call, collect
from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.servers import Server

SCRIPT: tuple[Scripted, ...] = (
    ["Numbers. ", call("import sys\nx = 41\nprint('out'); print('err', file=sys.stderr)\nx + 1")],
    [call("def far():\n    raise ValueError('boom')\nfar()")],
    [call("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\ndf")],
    [call("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")],
    [call("n = open('made.txt', 'w').write('hello')")],
    [call("line = input('name? ')")],
    [call("import terp_home; terp_home.call('greet', name='Ada')")],
    [call("for _ in range(3000): print('y' * 100)")],
    [call("import os; os.mkdir('deep'); os.chdir('deep')")],
    [call("del x; df = df * 2; print(out[1].text)")],
    [call("import os, time; time.sleep(0.5); os._exit(3)")],
    [call("'x' in dir()")],
    "That was it.",
)
_SECONDS = re.compile(r"\b\d+(\.\d+)? (ms|s)\b")


async def told(kernels: Kernels, folder: Path, cwd: str) -> Sequence[dict[str, Any]]:
    """What a session tells of the script, without times, places and what a picture is made of."""
    session = Session(ScriptedModel(*SCRIPT), kernels, AutoRun(), folder=folder)

    async def greet(arguments: Any) -> Any:
        return f"hello {arguments['name']}"

    session.offer("greet", greet)
    # It would come up some time while the model writes.
    await kernels.get("python").start()
    events = await collect(session, "go")
    await session.aclose()
    return merged(plain(wire.to_json(event), cwd, folder) for event in events)


def plain(row: dict[str, Any], cwd: str, folder: Path) -> dict[str, Any]:
    """An event without what differs from place to place and from time to time."""
    text = json.dumps(row).replace(cwd, "<cwd>").replace(str(folder), "<session>")
    text = re.sub(r"ipykernel_\d+/\d+", "<cell>", _SECONDS.sub("<time>", text))
    row = json.loads(text)
    for name in ("number", "time", "seconds", "place", "why", "note"):
        row.pop(name, None)
    for change in row.get("files", ()):
        change.pop("host", None), change.pop("copy", None)
    data = (row.get("output") or {}).get("data") or {}
    for mime in data:
        if mime.startswith("image/"):
            data[mime] = "<picture>"
    return row


def merged(rows: Any) -> list[dict[str, Any]]:
    """Texts of one stream that follow one another in one piece: where they are cut is chance."""
    whole: list[dict[str, Any]] = []
    for row in rows:
        last = whole[-1] if whole else {}
        stream = (row.get("output") or {}).get("stream")
        if stream and (last.get("output") or {}).get("stream") == stream:
            last["output"]["text"] += row["output"]["text"]
        else:
            whole.append(row)
    return whole


@pytest.fixture(scope="package")
async def here(tmp_path_factory: pytest.TempPathFactory) -> Sequence[dict[str, Any]]:
    cwd, folder = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("session")
    return await told(LocalKernels(str(cwd), KernelOptions(languages=("python",))), folder, str(cwd))


async def test_the_same_session_gives_the_same_events_here_and_at_a_gateway(
    server: Server, here: Sequence[dict[str, Any]], tmp_path: Path
) -> None:
    kernels = await connected(server, tmp_path, KernelOptions(languages=("python",)))
    there = await told(kernels, tmp_path, str(server.root))
    assert [row["event"] for row in there] == [row["event"] for row in here]
    assert there == here
