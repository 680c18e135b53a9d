"""What tests of jobs share: kernels whose code goes on until a test lets it end."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from terp.events import Event, JobChanged
from terp.events.kernel import Kernel, KernelListener, KnownLanguage
from terp.events.messages import User
from terp.events.outputs import RunEnded, RunItem
from terp.person import Person
from terp.session.resources import Limits
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel, collect
from tests.core.sessions import open_session

LONG = "work()"


class Slow(EchoKernel):
    """An echo whose `LONG` code goes on until `over` is set, or an interrupt."""

    def __init__(self, then: Sequence[RunItem] = ()) -> None:
        super().__init__({LONG: [*then]})
        self.over, self.begun = asyncio.Event(), asyncio.Event()
        self.failed = False

    async def _items(self, code: str) -> AsyncGenerator[RunItem, None]:
        async with aclosing(super()._items(code)) as items:
            async for item in items:
                if isinstance(item, RunEnded) and code == LONG:
                    self.begun.set()
                    await self.over.wait()
                    yield RunEnded("error" if self.failed else "ok")
                else:
                    yield item

    async def interrupt(self) -> None:
        self.over.set()
        await super().interrupt()


class EchoShell(EchoKernel):
    language = "shell"


class Two:
    """Kernels for Python and a shell."""

    languages = ("python", "shell")
    elsewhere, resumed, cwd = "", False, "/somewhere"

    def __init__(self, python: EchoKernel) -> None:
        self.python, self.shell = python, EchoShell()

    def known(self) -> Sequence[KnownLanguage]:
        return ()

    def get(self, language: str) -> Kernel:
        return self.shell if language == "shell" else self.python

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        return lambda: None

    async def rest(self) -> Sequence[str]:
        return ()

    async def aclose(self) -> None:
        await self.python.aclose()


def opened(
    tmp_path: Path,
    python: EchoKernel,
    *replies: object,
    person: Person | None = None,
    limits: Limits | None = None,
) -> Session:
    model = ScriptedModel(*replies)  # type: ignore[arg-type]
    return open_session(tmp_path, model, Two(python), person, limits)


@asynccontextmanager
async def turn(session: Session) -> AsyncGenerator[asyncio.Task[list[Event]], None]:
    task = asyncio.create_task(collect(session, "go"))
    try:
        yield task
    finally:
        await session.aclose()
        await task


async def until(session: Session, wanted: Callable[[Event], bool]) -> Event:
    """The first such event of the session."""
    async with asyncio.timeout(10), aclosing(session.events()) as records:
        async for record in records:
            if wanted(record.event):
                return record.event
    raise AssertionError("the session ended without it")


def has_ended(event: Event) -> bool:
    return isinstance(event, JobChanged) and event.state == "ended"


def told(session: Session) -> list[str]:
    """The messages of the person, as the model reads them."""
    return [message.text for message in session.history if isinstance(message, User)]
