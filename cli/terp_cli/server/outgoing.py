"""What is sent to one client, who may take it slowly, but not refuse to take it."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import Message, Send


class Outgoing:
    """Sends messages, of which several may be under way. `watched` and `alive` are to go on beside that.

    They take one timer for all messages, since one for each is dear where each is a token.
    """

    def __init__(self, send: Send, stall_s: float) -> None:
        self._send = send
        self._stall_s = stall_s
        self._now = asyncio.get_running_loop().time
        self._under_way: list[float] = []
        self._last = self._now()

    async def send(self, message: Message) -> None:
        """Return when the client, or what lies between, has room for more."""
        self._last = began = self._now()
        self._under_way.append(began)
        try:
            await self._send(message)
        finally:
            self._under_way.remove(began)

    async def watched(self) -> None:
        """Go on until a message was not taken for as long as a client may take nothing.

        Raises:
            OSError: that is so.
        """
        while True:
            oldest = self._under_way[0] if self._under_way else None
            since = self._now() if oldest is None else oldest
            await asyncio.sleep(since + self._stall_s - self._now())
            if oldest is not None and oldest in self._under_way:
                raise OSError("the client takes nothing")

    async def alive(self, every_s: float, tell: Callable[[], Awaitable[None]]) -> None:
        """Have something sent by `tell` whenever nothing was for so long; without an end."""
        while True:
            await asyncio.sleep(self._last + every_s - self._now())
            if self._now() >= self._last + every_s:
                await tell()
