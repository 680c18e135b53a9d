"""Sending the events of a session to an editor, in their order and without secrets."""

import asyncio
import io
from collections.abc import Iterator, Sequence
from contextlib import aclosing, suppress
from typing import Any, assert_never

from acp import Client, helpers, schema

from terp import events as on
from terp.events.log import Notifier, Record
from terp.secrets.redactor import StreamRedactor
from terp.session.session import Session
from terp_cli.acp.calls import ToolCallView
from terp_cli.fronts.plain import PlainFront

OfCode = (
    on.CodeProposed | on.CodeTyped | on.CodeDeclined | on.CodeRejected | on.CodeStarted
    | on.Printed | on.LateOutput | on.CodeFinished | on.JobChanged
)  # fmt: skip
# An output that grows is sent again as a whole.
_OUTPUT_EVERY_S = 0.25


class EventSender:
    """Follows the log of a session, also between turns, and sends its events to `client`."""

    def __init__(self, client: Client, session: Session) -> None:
        self.calls: dict[str, ToolCallView] = {}
        self._client = client
        self._session = session
        self._redaction = StreamRedactor(session.resources.redactor)
        self._notes = io.StringIO()
        # The words for most events, and the check that none is forgotten.
        self._plain = PlainFront(self._notes, self._notes)
        # Lines of terp, and running calls with output, that were not sent yet.
        self._said: list[str] = []
        self._dirty: dict[str, ToolCallView] = {}
        self._sending: asyncio.Task[None] | None = None
        self._drawn = session.log.resumed_at
        self._replays = False
        self._moved = Notifier()
        self._following: asyncio.Task[None] | None = None

    @property
    def running(self) -> ToolCallView | None:
        """The call that was proposed last, while it runs."""
        last = next(reversed(self.calls.values()), None)
        return last if last and last.status == "in_progress" else None

    def begin(self, first: Any) -> None:
        """Begin to follow, after the task that calls this has paused; send an update before."""
        self._following = asyncio.create_task(self._follow(first))
        self._following.add_done_callback(lambda _: self._moved.notify())

    async def aclose(self) -> None:
        """Send the last events, if the client is there, and stop."""
        if self._following is not None:
            await self.drawn()
            self._following.cancel()
            await asyncio.wait({self._following})

    async def replay(self) -> None:
        """Send the events from before the session was resumed: also prompts, and errors of turns."""
        self._replays = True
        for record in self._session.log.since(0):
            if record.number <= self._session.log.resumed_at:
                await self._draw(record)
        self._replays = False

    async def drawn(self) -> None:
        """Return when all events so far are sent, or the client is gone."""
        number = self._session.log.last
        while self._drawn < number and self._following is not None and not self._following.done():
            await self._moved.wait()
        await self._flush()

    def say(self, text: str) -> None:
        """Add a paragraph of Markdown to the answer, after the events so far; `drawn` sends it."""
        self._said.append(f"{text}\n\n")

    async def send(self, update: Any) -> None:
        """Send an update, without secrets."""
        await self._client.session_update(self._session.folder.name, self.clean(update))

    def clean(self, message: Any) -> Any:
        """Return a message without secrets."""
        fields = message.model_dump(by_alias=True, exclude_none=True)
        return type(message).model_validate(self._session.resources.redactor().redacted_fields(fields))

    def edited(self, path: str, before: str | None, after: str) -> None:
        """Show the change of a file that the running code has made in the editor."""
        if call := self.running:
            call.diffs[path] = [helpers.tool_diff_content(path, after, before)]
            self._show_soon(call)

    async def _follow(self, first: Any) -> None:
        await self.send(first)
        async with aclosing(self._session.events(self._drawn)) as records:
            async for record in records:
                await self._draw(record)
                self._drawn = record.number
                self._moved.notify()

    async def _flush(self, after_s: float = 0.0) -> None:
        """Send what terp said, and the output so far of running calls; ends if the client is gone."""
        await asyncio.sleep(after_s)
        said, self._said = self._said, []
        dirty, self._dirty = self._dirty, {}
        with suppress(ConnectionError):
            if said:
                await self.send(helpers.update_agent_message_text("".join(said)))
            for call in dirty.values():
                await self.send(call.update())

    async def _draw(self, record: Record) -> None:
        for one in self._redaction.passed(record):
            for update in self._updates(one.event):
                await self.send(update)
        session, window = self._session, self._session.window.tokens
        if isinstance(record.event, on.UsageReported) and window and not self._replays:
            usd = session.spent_usd
            cost = None if usd is None else schema.Cost(amount=round(usd, 9), currency="USD")
            used = session.expected_tokens
            await self.send(
                schema.UsageUpdate(session_update="usage_update", used=used, size=window, cost=cost)
            )

    def _updates(self, event: on.Event) -> Iterator[Any]:
        match event:
            case on.TextDelta(text=text):
                yield helpers.update_agent_message_text(text)
            case on.ReasoningDelta(text=text):
                yield helpers.update_agent_thought_text(text)
            case on.TurnStarted(prompt=prompt) if self._replays:
                yield helpers.update_user_message_text(prompt)
            case on.TurnFinished(reason=reason) if reason == "done" or not self._replays:
                return
            case on.CodeDelta():
                return
            case _ if isinstance(event, OfCode):
                yield from self._of_code(event)
            case _:
                if text := "\n".join(self._lines(event)):
                    yield helpers.update_agent_message_text(f"\n\n*{text}*\n\n")

    def _of_code(self, event: OfCode) -> Iterator[Any]:
        is_new = event.call_id not in self.calls
        call = self.calls.setdefault(event.call_id, ToolCallView(event.call_id))
        match event:
            case on.Printed(output=output) | on.LateOutput(output=output):
                call.add(output)
                self._show_soon(call)
                return
            case on.CodeProposed():
                call.propose(event)
            case on.CodeTyped(language=language, code=code):
                call.code(language, code)
            case on.CodeStarted():
                call.status = "in_progress"
            case on.JobChanged(job=job, state=state):
                call.notes.append(f"Job {job}: {state}.")
            case on.CodeFinished():
                call.finish(event)
                call.notes += self._lines(event)
            case on.CodeDeclined() | on.CodeRejected():
                call.status = "failed"
                call.notes += self._lines(event)
            case _:
                assert_never(event)
        self._dirty.pop(call.id, None)
        if is_new:
            # marimo shows the first title of a call for good.
            yield helpers.start_tool_call(call.id, call.title, kind=call.kind, status="pending")
        if isinstance(event, on.CodeFinished):
            # Jupyter AI shows no other output, Toad drops an update with this text, and CodeCompanion
            # takes an update after the last for another call.
            yield helpers.update_tool_call(call.id, raw_output=call.printed)
        yield call.update()

    def _show_soon(self, call: ToolCallView) -> None:
        if not self._dirty:
            self._sending = asyncio.create_task(self._flush(_OUTPUT_EVERY_S))
        self._dirty[call.id] = call

    def _lines(self, event: on.Event) -> Sequence[str]:
        """Return the lines of the front end for pipes about an event."""
        self._plain.take(event)
        lines = self._notes.getvalue().strip().splitlines()
        self._notes.seek(self._notes.truncate(0))
        return lines
