"""`terp.kernel` with a kernel behind a gateway."""

import os
from pathlib import Path

import terp
from tests.core.kernels.remote.servers import TOKEN, Server


async def test_values_and_files_travel_through_a_gateway(server: Server, tmp_path: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "TERP_HOME": str(tmp_path / "terp"),
        "JUPYTER_TOKEN": TOKEN,
        "TERP_LANGUAGES": "python",
    }
    async with terp.kernel(gateway_url=server.url, cwd=tmp_path, environ=environ) as kernel:
        # More than one piece.
        text = "Zoë" * 3_000_000
        await kernel.set("text", text)
        assert await kernel.get("text") == text
        assert (await kernel.run("len(text)")).text == "9000000\n"
        path = await kernel.upload(b"a,b\n", "gate.csv")
        assert await kernel.download(path) == b"a,b\n"
        assert "ipykernel" in await kernel.list_packages()
        assert kernel.status() == "ready"
