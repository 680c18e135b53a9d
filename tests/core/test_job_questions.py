"""Code in the background that wants a line: when it asks, and how it is told whose question it is."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from terp.errors import NobodyThere
from terp.events import CodeStarted, JobChanged, Printed, Progress, TurnFinished
from terp.events.outputs import InputRequest, RunItem
from terp.testing import EchoKernel, ScriptedPerson, call
from tests.core.slow_kernels import LONG, Slow, Two, has_ended, opened, turn, until


class Typist(ScriptedPerson):
    """Types a line, and keeps the prompts."""

    def __init__(self, line: str) -> None:
        super().__init__("run", "run")
        self.line, self.prompts = line, list[str]()

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        self.prompts.append(prompt)
        if not self.line:
            raise NobodyThere("Nobody is there.")
        return self.line


class Asking(Slow):
    """Its `LONG` code asks for a line when `asks` is set."""

    def __init__(self) -> None:
        super().__init__([InputRequest("name? ", secret=False)])
        self.asks, self.started = asyncio.Event(), asyncio.Event()
        self.over.set()

    async def _items(self, code: str) -> AsyncGenerator[RunItem, None]:
        async with aclosing(super()._items(code)) as items:
            async for item in items:
                if isinstance(item, InputRequest):
                    self.started.set()
                    await self.asks.wait()
                yield item


async def test_a_job_that_wants_a_line_asks_when_the_turn_is_over_and_says_who_asks(tmp_path: Path) -> None:
    python, person = Asking(), Typist("Ada")
    session = opened(tmp_path, python, [call(LONG)], [call(EchoKernel.ENDLESS, "shell")], "ok", person=person)
    assert isinstance(session.kernels, Two)
    async with turn(session) as running:
        await python.started.wait()
        session.jobs.detach()
        await session.kernels.shell.busy()
        python.asks.set()
        await until(session, lambda event: isinstance(event, Printed))
        assert session.jobs.running[1].call.code == LONG
        assert person.prompts == []
        await session.interrupt()
        await running
        await until(session, has_ended)
    assert (person.prompts, python.typed) == (["[job 1, python] name? "], ["Ada"])


async def test_a_job_that_a_turn_waits_for_asks_at_once(tmp_path: Path) -> None:
    python, person = Asking(), Typist("Ada")
    session = opened(tmp_path, python, [call(LONG)], [call("then()")], "ok", person=person)
    async with turn(session) as running:
        await python.started.wait()
        session.jobs.detach()
        await until(session, lambda event: isinstance(event, Progress))
        python.asks.set()
        assert (await running)[-1] == TurnFinished("done", "ok")
    assert (person.prompts, python.typed) == (["[job 1, python] name? "], ["Ada"])


async def test_code_that_waits_for_a_line_leaves_when_it_has_it(tmp_path: Path) -> None:
    python = Asking()
    python.over.clear()

    class Leaving(Typist):
        async def type_in(self, prompt: str, *, secret: bool) -> str:
            assert session.jobs.detach()
            return await super().type_in(prompt, secret=secret)

    session = opened(tmp_path, python, [call(LONG)], "ok", person=Leaving("Ada"))
    async with turn(session) as running:
        python.asks.set()
        events = await running
        order = [type(event) for event in events if isinstance(event, CodeStarted | Printed | JobChanged)]
        assert order == [CodeStarted, Printed, JobChanged]
    assert python.typed == ["Ada"]
