"""Sending the events of a session to an editor, in their order and without secrets."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from acp import Client, helpers, schema
from pydantic import BaseModel

from terp.events import UsageReported
from terp.events.log import Notifier, Record
from terp.secrets.redactor import StreamRedactor
from terp.session.session import Session
from terp.text.plain import mended
from terp_cli.acp.updates import Updates

M = TypeVar("M", bound=BaseModel)
# An output that grows is sent again as a whole.
_OUTPUT_EVERY_S = 0.25


class EventSender:
    """Follows the log of a session, also between turns, and sends its events to `client`."""

    def __init__(self, client: Client, session: Session) -> None:
        self.updates = Updates()
        self._client = client
        self._session = session
        self._redaction = StreamRedactor(session.resources.redactor)
        self._drawn = session.log.resumed_at
        self._sent_at = 0.0
        self._moved = Notifier()
        self._following: asyncio.Task[None] | None = None

    @property
    def call_id(self) -> str:
        """The id of the call that was proposed last."""
        return next(reversed(self.updates.calls), "question")

    def begin(self, *first: Any) -> None:
        """Begin to follow, after the task that calls this has paused; send updates before."""
        self._following = asyncio.create_task(self._follow(first))
        self._following.add_done_callback(lambda _: self._moved.notify())

    async def aclose(self) -> None:
        """Send the last events, if the client is there, and stop."""
        if self._following is not None:
            await self.drawn()
            self._following.cancel()
            await asyncio.wait({self._following})

    async def replay(self) -> None:
        """Send the events from before the session was resumed."""
        log, self.updates.replays = self._session.log, True
        for record in log.since(0):
            if record.number <= log.resumed_at:
                await self._draw(record)
        self.updates.replays = False

    async def drawn(self) -> None:
        """Return when all events so far are sent, or the client is gone."""
        number = self._session.log.last
        while self._drawn < number and self._following is not None and not self._following.done():
            await self._moved.wait()
        await self.send(*self.updates.flush())

    async def say(self, text: str) -> None:
        """Send Markdown of terp as a part of the answer."""
        await self.drawn()
        await self.send(helpers.update_agent_message_text(text))

    async def send(self, *updates: Any) -> None:
        """Send updates, without secrets."""
        for update in updates:
            await self._client.session_update(self._session.folder.name, self.clean(update))

    def clean(self, message: M) -> M:
        """Return a message without secrets, and without what UTF-8 cannot encode."""
        fields = message.model_dump(by_alias=True, exclude_none=True)
        return type(message).model_validate(self._cleaned(fields))

    def edited(self, path: str, before: str | None, after: str) -> None:
        """Show the change of a file that the running code has made in the editor."""
        if call := self.updates.calls.get(self.call_id):
            call.diffs[path] = [helpers.tool_diff_content(path, after, before)]
            self.updates.dirty[call.id] = call

    def _cleaned(self, value: Any) -> Any:
        match value:
            case str():
                return mended(self._session.resources.redacted(value))
            case {"type": "image"}:
                # A secret in its base64 is a coincidence.
                return value
            case dict():
                return {key: self._cleaned(part) for key, part in value.items()}
            case list():
                return [self._cleaned(part) for part in value]
        return value

    async def _follow(self, first: Sequence[Any]) -> None:
        await self.send(*first)
        log, now = self._session.log, asyncio.get_running_loop().time
        while True:
            for record in log.since(self._drawn):
                await self._draw(record)
                self._drawn = record.number
                self._moved.notify()
            if self.updates.dirty and now() >= self._sent_at + _OUTPUT_EVERY_S:
                self._sent_at = now()
                await self.send(*self.updates.flush())
            if log.last == self._drawn:
                waiting = asyncio.ensure_future(log.changed())
                await asyncio.wait({waiting}, timeout=_OUTPUT_EVERY_S if self.updates.dirty else None)
                waiting.cancel()

    async def _draw(self, record: Record) -> None:
        for one in self._redaction.passed(record):
            await self.send(*self.updates.of(one.event))
        session, window = self._session, self._session.window.tokens
        if isinstance(record.event, UsageReported) and window and not self.updates.replays:
            usd, used = session.spent_usd, {"used": session.expected_tokens, "size": window}
            cost = None if usd is None else {"amount": round(usd, 9), "currency": "USD"}
            fields = {"sessionUpdate": "usage_update", **used, "cost": cost}
            await self.send(schema.UsageUpdate.model_validate(fields))
