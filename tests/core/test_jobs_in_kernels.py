"""Runs that go to the background in real kernels."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from terp.errors import KernelBusy
from terp.events import CodeFinished, Event, JobChanged, KernelChanged, Printed, Progress
from terp.kernels.jupyter.local import LocalKernels
from terp.person import AutoRun
from terp.session.resources import Limits
from terp.session.session import Session
from terp.testing import ScriptedModel, call, collect
from tests.core.sessions import of, results
from tests.core.slow_kernels import has_ended, told, until

WAITS = """
import pathlib, time
print("begun", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
found = 42
"""
FILLS = """
rows.append(1)
print("begun", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
"""
RELEASES = "touch go"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def kernels(tmp_path: Path) -> AsyncGenerator[LocalKernels, None]:
    kernels = LocalKernels(str(tmp_path))
    yield kernels
    await kernels.aclose()


def opened(kernels: LocalKernels, *replies: object) -> Session:
    model = ScriptedModel(*replies)  # type: ignore[arg-type]
    folder = Path(kernels.cwd).with_name("session")
    return Session(model, kernels, AutoRun(), folder=folder)


async def with_job(session: Session) -> list[Event]:
    """A turn whose first run goes to the background when it has put something out."""
    turn = asyncio.create_task(collect(session, "go"))
    await until(session, lambda event: isinstance(event, Printed))
    assert session.jobs.detach()
    return await turn


def waits(event: Event) -> bool:
    return event == Progress("waiting for job 1", 0, 0, 0.0)


async def test_another_language_lets_python_end_and_the_model_reads_of_it(kernels: LocalKernels) -> None:
    session = opened(kernels, [call(WAITS)], [call(RELEASES, "shell")], [call("found")], "42")
    events = await with_job(session)
    await session.aclose()
    first, second, third = results(session)
    assert first.startswith("Still running in the background as job 1 (python, ")
    assert "Its output so far:\nbegun\n[" in first
    assert "The code ran; it has no output." in second
    ended = "[job 1 (python) has ended; its result:]\nbegun\n"
    assert (second + third).count(ended) == 1
    assert third.splitlines()[-1] == "42"
    assert [job.state for job in of(JobChanged, events)] == ["background", "ended"]
    assert [one.status for one in of(CodeFinished, events)] == ["ok", "ok", "ok"]


async def test_sql_waits_for_the_job_that_has_its_python(kernels: LocalKernels) -> None:
    if "sql" not in kernels.languages:
        pytest.skip("there is no duckdb")
    session = opened(kernels, [call(WAITS)], [call("select 1 as one", "sql")], "ok")
    running = asyncio.create_task(with_job(session))
    await until(session, waits)
    Path(kernels.cwd, "go").touch()
    await running
    await session.aclose()
    assert "one" in results(session)[1]


async def test_a_restart_of_its_kernel_ends_a_job(kernels: LocalKernels) -> None:
    session = opened(kernels, [call(WAITS)], "ok", "I see")
    await with_job(session)
    await session.kernels.get("python").restart()
    await until(session, has_ended)
    await collect(session, "and?")
    await session.aclose()
    events = [record.event for record in session.log.since(0)]
    assert [one.status for one in of(CodeFinished, events)] == ["died"]
    assert of(KernelChanged, events)
    assert "[job 1 (python) has ended; its result:]\nbegun\n" in told(session)[-1]


async def test_a_job_that_is_stopped_leaves_its_variables(kernels: LocalKernels) -> None:
    session = opened(kernels, [call(f"kept = 1\n{WAITS}")], [call("print(kept)")], "ok")
    running = asyncio.create_task(with_job(session))
    await until(session, waits)
    assert await session.jobs.stop(1)
    await running
    assert "Not run: job 1, for which it waited, was interrupted." in results(session)[1]
    async with aclosing(session.run("python", "print(kept)")) as events:
        typed = [event async for event in events]
    await session.aclose()
    assert of(CodeFinished, typed)[0].status == "ok"


async def test_a_run_that_takes_too_long_is_stopped_in_the_background_as_well(kernels: LocalKernels) -> None:
    session = opened(kernels, [call(WAITS)], "ok")
    session.resources.limits = Limits(run_timeout_s=1.0)
    await with_job(session)
    await until(session, has_ended)
    await session.aclose()
    finished = of(CodeFinished, [record.event for record in session.log.since(0)])
    assert [one.status for one in finished] == ["timeout"]


async def test_going_back_does_not_take_variables_from_under_a_job(kernels: LocalKernels) -> None:
    session = opened(kernels, [call("import pathlib, time; rows = []")], "made", [call(FILLS)], "left")
    await collect(session, "first")
    await with_job(session)
    with pytest.raises(KernelBusy, match="Code in the background runs in the Python kernel"):
        await session.rewind.restore(2)
    assert [turn.number for turn in session.turns] == [1, 2]
    Path(kernels.cwd, "go").touch()
    await until(session, has_ended)
    taken = await session.rewind.restore(2)
    await session.aclose()
    assert taken.restored == ("rows",)
