"""What the consumer of a task gets, and when the task waits for it."""

import asyncio
from contextlib import aclosing
from pathlib import Path

from terp.events import Event, ModelCalled, Noticed, TextDelta, TurnFinished, TurnStarted, UsageReported
from terp.events.log import EventLog
from terp.session.foreground import Foreground, Task
from terp.testing import ScriptedModel, collect
from terp.text.dataclasses import dataclass
from tests.core.sessions import open_session, untimed


@dataclass(slots=True, kw_only=True)
class Asking(Task):
    """Writes two pieces of text, waits until all is drawn, and says so."""

    log: EventLog
    foreground: Foreground

    async def run(self) -> None:
        self.log.append(TextDelta("a"))
        # The consumer has come for this one, and waits.
        await asyncio.sleep(0)
        self.log.append(TextDelta("b"))
        await self.foreground.drawn()
        self.log.append(Noticed("drawn"))


async def events_of_a_question(*, deltas: bool) -> list[Event]:
    log = EventLog()
    foreground = Foreground(log)
    foreground.yields_deltas = deltas
    async with aclosing(foreground.play(Asking(log=log, foreground=foreground), 0)) as events:
        return [event async for event in events]


async def test_a_question_waits_until_the_consumer_has_come_for_all_before() -> None:
    assert await events_of_a_question(deltas=True) == [TextDelta("a"), TextDelta("b"), Noticed("drawn")]


async def test_a_question_does_not_wait_for_deltas_that_the_consumer_does_not_get() -> None:
    assert await events_of_a_question(deltas=False) == [Noticed("drawn")]


async def test_a_turn_without_deltas_leaves_them_to_the_log(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("Hello", chunk=9))
    session.yields_deltas = False
    assert untimed(await collect(session, "hi")) == [
        TurnStarted("hi"),
        ModelCalled("scripted/model", 1),
        UsageReported(10, 5, 0, 0.001, "scripted/model"),
        TurnFinished("done", "Hello"),
    ]
    assert TextDelta("Hello") in [record.event for record in session.log.since(0)]


@dataclass(slots=True, kw_only=True)
class Brief(Task):
    """Logs one event, and ends while the consumer is still busy with it."""

    log: EventLog
    goes_on: asyncio.Event

    async def run(self) -> None:
        self.log.append(Noticed("one"))
        await self.goes_on.wait()


async def test_a_task_that_ends_while_its_consumer_is_busy_is_over() -> None:
    log, goes_on = EventLog(), asyncio.Event()
    found = []
    async with aclosing(Foreground(log).play(Brief(log=log, goes_on=goes_on), 0)) as events:
        async for event in events:
            found.append(event)
            goes_on.set()
            # The task wakes, ends, and tells those who wait for the log.
            for _ in range(3):
                await asyncio.sleep(0)
    assert found == [Noticed("one")]
