"""What the tests of kernels do again and again."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from terp.events import KernelState
from terp.events.kernel import Kernel
from terp.events.outputs import Display, Error, InputRequest, Output, RunEnded, RunItem, RunStarted, Text

PATIENCE_S = 30.0


@dataclass
class Listener:
    """Notes what happens outside runs, and lets a test wait for it."""

    states: list[KernelState] = field(default_factory=list)
    whys: list[str] = field(default_factory=list)
    late: list[tuple[str, Output]] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def changed(self, language: str, state: KernelState, why: str) -> None:
        self.states.append(state)
        self.whys.append(why)
        self._news.set()

    def late_output(self, run_id: str, output: Output) -> None:
        self.late.append((run_id, output))
        self._news.set()

    async def until_state(self, state: KernelState) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while state not in self.states:
                self._news.clear()
                await self._news.wait()

    async def until_late(self, text: str) -> str:
        """The id of the run to which late output with `text` was given."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for run_id, output in self.late:
                    if isinstance(output, Text) and text in output.text:
                        return run_id
                self._news.clear()
                await self._news.wait()


@dataclass(frozen=True)
class Ran:
    """All that came of a run."""

    items: Sequence[RunItem]

    @property
    def ended(self) -> RunEnded:
        last = self.items[-1]
        assert isinstance(last, RunEnded)
        return last

    @property
    def outputs(self) -> Sequence[RunItem]:
        return [item for item in self.items if not isinstance(item, RunStarted | RunEnded)]

    @property
    def stdout(self) -> str:
        return "".join(item.text for item in self.items if isinstance(item, Text) and item.stream == "stdout")

    @property
    def stderr(self) -> str:
        return "".join(item.text for item in self.items if isinstance(item, Text) and item.stream == "stderr")

    @property
    def error(self) -> str:
        """The name and the value of what it failed with; "" when it did not."""
        return next(
            (f"{item.name} {item.value}".strip() for item in self.items if isinstance(item, Error)), ""
        )

    @property
    def questions(self) -> Sequence[InputRequest]:
        return [item for item in self.items if isinstance(item, InputRequest)]

    @property
    def results(self) -> Sequence[str]:
        return [item.data["text/plain"] for item in self.items if isinstance(item, Display)]

    @property
    def images(self) -> Sequence[Display]:
        return [item for item in self.items if isinstance(item, Display) and "image/png" in item.data]


async def ran(kernel: Kernel, code: str, *, run_id: str = "", timeout_s: float = 0.0) -> Ran:
    """Run `code` to its end."""
    async with asyncio.timeout(PATIENCE_S):
        return Ran([item async for item in kernel.execute(code, run_id=run_id, timeout_s=timeout_s)])


async def ran_with(kernel: Kernel, code: str, *answers: str | None) -> Ran:
    """Run `code` and type one of `answers` at each of its questions, then the end of file."""
    items: list[RunItem] = []
    left = list(answers)
    async with asyncio.timeout(PATIENCE_S):
        async for item in kernel.execute(code):
            items.append(item)
            if isinstance(item, InputRequest):
                await kernel.type_in(left.pop(0) if left else None)
    return Ran(items)


async def interrupted_at(kernel: Kernel, code: str, text: str, times: int = 1) -> Ran:
    """Run `code`, interrupt it when it has printed `text`, so many times."""

    async def interrupt() -> None:
        for _ in range(times):
            await kernel.interrupt()

    items: list[RunItem] = []
    stopping: asyncio.Task[None] | None = None
    async with asyncio.timeout(PATIENCE_S), aclosing(kernel.execute(code)) as run:
        async for item in run:
            items.append(item)
            if stopping is None and isinstance(item, Text) and text in item.text:
                stopping = asyncio.create_task(interrupt())
    assert stopping is not None
    await stopping
    return Ran(items)
