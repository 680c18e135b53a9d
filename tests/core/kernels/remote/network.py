"""A network between terp and a server that a test can break."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from tests.core.kernels.remote.servers import Server


class Network:
    """Forwards connections of `url` to a server. `up` says whether it takes new ones."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.up = True
        self.url = ""
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()

    def cut(self) -> int:
        """Break every connection off, without a farewell; how many there were."""
        pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            for end in pair:
                end.transport.abort()
        return len(pairs)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection."""
        if not self.up:
            writer.transport.abort()
            return
        target = urlsplit(self.server.url)
        far_reader, far_writer = await asyncio.open_connection(target.hostname, target.port)
        pair = (writer, far_writer)
        self._pairs.add(pair)
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        self._pairs.discard(pair)


@asynccontextmanager
async def network_to(server: Server) -> AsyncGenerator[Network, None]:
    """A network to `server`."""
    network = Network(server)
    listening = await asyncio.start_server(network.take, "127.0.0.1", 0)
    network.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield network
    finally:
        listening.close()
        network.cut()
        await listening.wait_closed()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
