"""A kernel of terp's own that others use as well, by its connection file."""

import asyncio
import os
from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient

from terp.kernels.attached.finding import find_attachment
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.attached.foreign import closing_loop
from tests.core.kernels.running import PATIENCE_S, Listener, ran


async def test_another_client_uses_our_kernel_and_disturbs_no_run_of_ours(tmp_path: Path) -> None:
    kernels, listener = LocalKernels(str(tmp_path)), Listener()
    kernels.listen(listener)
    kernel = kernels.get("python")
    await ran(kernel, "ours = 1")
    seen: list[str] = []

    def use() -> None:
        client = BlockingKernelClient()
        client.load_connection_file(kernel.connection_file)
        client.start_channels()
        client.wait_for_ready(timeout=PATIENCE_S)
        client.execute_interactive(
            "print(ours); theirs = 2",
            timeout=PATIENCE_S,
            output_hook=lambda message: seen.append(message["msg_type"]),
        )
        client.stop_channels()

    def use_in_thread() -> None:
        with closing_loop():
            use()

    await asyncio.to_thread(use_in_thread)
    run = await ran(kernel, "print(theirs)")
    await kernels.aclose()
    assert seen == ["status", "execute_input", "stream", "status"]
    assert (run.stdout, listener.late) == ("2\n", [])


async def test_another_terp_is_a_guest_in_our_kernel(tmp_path: Path) -> None:
    ours, theirs = LocalKernels(str(tmp_path)), LocalKernels(str(tmp_path))
    await ran(ours.get("python"), "x = 1")
    file = ours.get("python").connection_file
    await theirs.attach((await find_attachment(file, os.environ, "/")).attachment)
    guest = await ran(theirs.get("python"), "y = x + 1")
    await theirs.aclose()
    own = await ran(ours.get("python"), "print(y)")
    assert [change.name for change in guest.ended.changes] == ["y"]
    assert own.stdout == "2\n"
    await ours.aclose()
