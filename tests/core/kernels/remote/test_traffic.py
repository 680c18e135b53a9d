"""How much comes through, how fast, and what others do on the same kernel."""

import json
import time
from pathlib import Path
from statistics import median

import websockets

from terp.events.kernel import Kernel
from terp.kernels.jupyter.channels import new_request
from terp.kernels.remote.wire import SUBPROTOCOL, frame_of, message_in
from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.servers import Server
from tests.core.kernels.running import Listener, ran

FLOOD = "for number in range(5000): print(number, flush=True)"


async def test_a_flood_of_small_messages_meets_no_limit(kernel: Kernel) -> None:
    """A server drops what exceeds 1 000 messages a second; terp's package in the kernel sends fewer."""
    run = await ran(kernel, FLOOD)
    assert (run.stdout, run.stderr) == ("".join(f"{number}\n" for number in range(5000)), "")


async def test_what_a_server_holds_back_is_said(a_jupyter_server: Server, tmp_path: Path) -> None:
    """Past its limit of a megabyte a second it sends a notice instead, and the run ends all the same."""
    kernels = await connected(a_jupyter_server, tmp_path)
    run = await ran(kernels.get("python"), "for _ in range(40): print('x' * 400_000)")
    await kernels.aclose()
    assert "data rate exceeded" in run.stderr
    assert run.ended.status == "ok"


async def test_a_large_result_comes_whole(kernel: Kernel) -> None:
    run = await ran(kernel, "import IPython.display as d; d.JSON({'x': 'y' * 3_000_000})")
    assert len(str(run.items)) > 3_000_000


async def test_a_short_run_waits_for_no_acknowledgement(kernel: Kernel) -> None:
    """With delayed acknowledgements a run takes at least 40 ms, without 5 on a machine that is free."""
    took = []
    for _ in range(15):
        began = time.perf_counter()
        await ran(kernel, "pass")
        took.append(time.perf_counter() - began)
    assert median(took) < 0.04 or min(took) < 0.03


async def test_what_another_client_runs_is_none_of_ours(server: Server, tmp_path: Path) -> None:
    kernels, heard = await connected(server, tmp_path), Listener()
    kernels.listen(heard)
    kernel = kernels.get("python")
    await ran(kernel, "mine = 1")
    kernel_id = json.loads((tmp_path / "kernels.json").read_text())["kernels"]["python"]
    async with websockets.connect(
        server.gateway.channels(kernel_id, "another"),
        additional_headers=server.gateway.headers,
        subprotocols=[websockets.Subprotocol(SUBPROTOCOL)],
        max_queue=None,
    ) as other:
        code = {"code": "print('theirs'); theirs = mine + 1", "silent": False, "allow_stdin": False}
        request = new_request("execute_request", code)
        request["header"]["username"] = "somebody"
        await other.send(frame_of("shell", request))
        seen = ""
        while "execute_reply" not in seen:
            seen += str(message_in(await other.recv(), v1=True))
        await ran(kernel, "print('ours')")
        while "ours" not in seen:
            seen += str(message_in(await other.recv(), v1=True))
    assert heard.late == []
    assert (await ran(kernel, "theirs")).results == ["2"]
    await kernels.aclose()
