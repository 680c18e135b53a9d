"""The socket of a server, before any request."""

import asyncio
import socket

from terp_cli.server.serving import listening


class Looking(asyncio.Protocol):
    """Tells whether a connection sends at once what is written, however little it is."""

    def __init__(self, at_once: "asyncio.Future[bool]") -> None:
        self._at_once = at_once

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        taken = transport.get_extra_info("socket")
        self._at_once.set_result(bool(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        transport.close()


async def test_a_small_write_does_not_wait_until_the_one_before_is_acknowledged() -> None:
    loop = asyncio.get_running_loop()
    at_once: asyncio.Future[bool] = loop.create_future()
    with listening("127.0.0.1", 0, remote=False) as taken:
        async with await loop.create_server(lambda: Looking(at_once), sock=taken):
            _, writer = await asyncio.open_connection(*taken.getsockname())
            assert await at_once
            writer.close()
