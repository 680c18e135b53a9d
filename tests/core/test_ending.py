"""The end of a session and of a turn when parts of it fail: nothing stays open, nothing stays busy."""

import asyncio
from pathlib import Path

import pytest

from terp.testing import EchoKernel, ScriptedModel, collect
from terp.testing import call as call_of
from tests.core.sessions import open_session
from tests.core.store.keeping import again, kept


class StubbornModel(ScriptedModel):
    async def aclose(self) -> None:
        raise OSError("no more connections")


class DeafKernel(EchoKernel):
    """An interrupt of it fails, or takes until `heard`."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.fails = fails
        self.heard = asyncio.Event()

    async def interrupt(self) -> None:
        if self.fails:
            raise OSError("no such process")
        await self.heard.wait()
        await super().interrupt()


async def test_a_model_that_cannot_be_closed_leaves_no_session_locked(tmp_path: Path) -> None:
    session = kept(tmp_path / "s", model=StubbornModel("hello"))
    await collect(session, "hi")
    with pytest.raises(OSError, match="no more connections"):
        await session.aclose()
    await again(tmp_path / "s").aclose()


async def test_a_kernel_that_cannot_be_interrupted_is_closed_all_the_same(tmp_path: Path) -> None:
    kernel = DeafKernel(fails=True)
    session = open_session(tmp_path, ScriptedModel([call_of(EchoKernel.ENDLESS, id="a")]), kernel)
    turn = asyncio.create_task(collect(session, "go"))
    await kernel.busy()
    with pytest.raises(OSError, match="no such process"):
        await session.aclose()
    assert kernel.closed
    kernel.fails = False
    kernel.heard.set()
    await session.interrupt()
    await turn


async def test_a_consumer_that_is_cancelled_twice_leaves_no_session_busy_for_ever(tmp_path: Path) -> None:
    kernel = DeafKernel()
    session = open_session(tmp_path, ScriptedModel([call_of(EchoKernel.ENDLESS, id="a")], "ok"), kernel)
    turn = asyncio.create_task(collect(session, "go"))
    await kernel.busy()
    turn.cancel()
    await asyncio.sleep(0)
    turn.cancel()
    await asyncio.wait({turn})
    with pytest.raises(RuntimeError, match="another turn"):
        session.rewind.undo()
    kernel.heard.set()
    await session.interrupt()
    await asyncio.wait_for(session.idle(), 5)
    assert (await collect(session, "again"))[-1]
    await session.aclose()
