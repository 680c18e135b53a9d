"""How the tests of gateways connect."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.remote.claims import Claims
from terp.kernels.remote.kernels import GatewayKernels, Origin
from tests.core.kernels.remote.servers import Server


async def connected(
    server: Server,
    folder: Path,
    options: KernelOptions | None = None,
    *,
    url: str = "",
    environ: Mapping[str, str] | None = None,
) -> GatewayKernels:
    """The kernels of a server, for a session that is kept in `folder`; `url` is another way to it."""
    return await GatewayKernels.connect(
        replace(server.gateway, url=url or server.url),
        Claims(folder, url or server.url),
        Origin(str(folder), folder / "outputs", options or KernelOptions(), environ or {}),
    )
