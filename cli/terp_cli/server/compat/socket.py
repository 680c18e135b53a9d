"""The WebSocket at `/`: a client authenticates, sends frames, and gets those of the conversation."""

import asyncio
import json
from contextlib import suppress

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from terp_cli.server.access import BUSY, POLICY
from terp_cli.server.compat.accumulating import Draft, Frame
from terp_cli.server.compat.conversation import SharedConversation
from terp_cli.server.compat.entrance import Entrance
from terp_cli.server.compat.feed import FeedReader
from terp_cli.server.compat.frames import COMPLETE, FAILED, failure_frame
from terp_cli.server.connections import ServerLimits, known
from terp_cli.server.following import Outgoing, until_one_ends
from terp_cli.server.transcript import decoded

_WRONG_KEYS = 10
# A frame that is not acknowledged is sent again after so long, and then after twice as long each time.
_AGAIN_S, _AGAIN_AT_MOST_S = 0.1, 2.0


class CompatConnection:
    """One client, from its connection to its end."""

    def __init__(
        self, socket: WebSocket, conversation: SharedConversation, entrance: Entrance, limits: ServerLimits
    ) -> None:
        self._socket = socket
        self._conversation = conversation
        self._entrance = entrance
        self._limits = limits
        self._seen = 0
        self._draft = Draft()
        self._answer_from = 0
        self._doing = asyncio.Lock()
        self._acknowledged = ""
        self._ack_received = asyncio.Event()
        self._outgoing = Outgoing(socket.send, limits.stall_s)

    async def serve(self) -> None:
        """Receive and send frames until the client has left."""
        await self._socket.accept()
        if not await self._introduced():
            await self._socket.close(POLICY, "no key")
            return
        if self._conversation.feed.readers >= self._limits.watchers:
            await self._socket.close(BUSY, "too many clients")
            return
        with (
            self._conversation.shared.attended(),
            self._conversation.feed.joined() as reader,
            # A client that has left, or takes nothing, is no failure.
            suppress(OSError, WebSocketDisconnect),
        ):
            await until_one_ends(self._take(), self._send_all(reader), self._outgoing.watched())

    async def _introduced(self) -> bool:
        """Return True if the client sends the key in time and within the allowed attempts."""
        if not self._entrance.asks or self._entrance.shows_key(self._socket.scope):
            known(self._socket.scope)
            return True
        if self._entrance.strangers >= self._limits.strangers:
            return False
        self._entrance.strangers += 1
        try:
            async with asyncio.timeout(self._limits.greeting_s):
                return await self._key_shown()
        except TimeoutError:
            return False
        finally:
            self._entrance.strangers -= 1

    async def _key_shown(self) -> bool:
        for _ in range(_WRONG_KEYS):
            message = await self._socket.receive()
            if message["type"] != "websocket.receive":
                return False
            shown = _auth_in(message.get("text") or "")
            is_known = shown is not None and self._entrance.admits(shown)
            await self._send({"auth": is_known})
            if is_known:
                return True
        return False

    async def _take(self) -> None:
        while (message := await self._socket.receive())["type"] == "websocket.receive":
            if (shown := _ack_in(message)) is not None:
                self._acknowledged = shown
                self._ack_received.set()
            elif _auth_in(message.get("text") or "") is not None:
                await self._send({"auth": True})
            else:
                await self._do(message)

    async def _do(self, message: Message) -> None:
        try:
            text = message.get("text")
            chunk = message["bytes"] if text is None else text
            async with self._doing:
                begun = await self._conversation.take(chunk, seen=self._seen, draft=self._draft)
                self._answer_from = self._answer_from if begun is None else begun
        except FAILED as error:
            await self._send(failure_frame(error))
            # A running answer sends its `complete` frame itself.
            if not self._conversation.answering:
                await self._send(COMPLETE)

    async def _send_all(self, reader: FeedReader) -> None:
        self._seen = reader.at
        while True:
            frame = await reader.next()
            if not (COMPLETE.items() <= frame.items() and await self._is_of_others(reader.at)):
                self._seen = reader.at + 1
                await self._send(frame)
                if "id" in frame:
                    await self._until_acknowledged(frame)
            reader.took()

    async def _is_of_others(self, number: int) -> bool:
        """Return True if the frame ends an answer that began before this client's own."""
        # What is being done decides whose it is.
        async with self._doing:
            return number < self._answer_from or self._draft.is_begun

    async def _until_acknowledged(self, frame: Frame) -> None:
        pause = _AGAIN_S
        while self._acknowledged != frame["id"]:
            self._ack_received.clear()
            try:
                async with asyncio.timeout(pause):
                    await self._ack_received.wait()
            except TimeoutError:
                pause = min(2 * pause, _AGAIN_AT_MOST_S)
                await self._send(frame)

    async def _send(self, frame: Frame) -> None:
        message = {"type": "websocket.send", "text": json.dumps(frame)}
        await self._outgoing.send(message)


def _auth_in(text: str) -> str | None:
    shown = (decoded(text) or {}).get("auth")
    return shown if isinstance(shown, str) else None


def _ack_in(message: Message) -> str | None:
    text = message.get("text") or ""
    shown = (decoded(text) or {}).get("ack") if '"ack"' in text else None
    return shown if isinstance(shown, str) else None
