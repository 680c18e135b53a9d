"""Runs that go on in the background: what the model, the person and the log learn of them."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from terp.errors import KernelBusy
from terp.events import (
    CodeFinished,
    CodeRejected,
    Event,
    JobChanged,
    Noticed,
    Progress,
    TurnFinished,
)
from terp.events.kernel import KernelListener
from terp.events.outputs import Error, Text
from terp.session.resources import Limits
from terp.store.journal import NAME
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, call, collect
from tests.core.sessions import of, open_session, results, unanswered
from tests.core.slow_kernels import LONG, EchoShell, Slow, Two, has_ended, opened, told, turn, until
from tests.core.store.keeping import again, kept


async def test_a_run_that_leaves_gets_its_result_at_once_and_the_turn_goes_on(tmp_path: Path) -> None:
    python = Slow([Text("stdout", "half\n")])
    session = opened(tmp_path, python, [call(LONG, id="a")], [call("ls", "shell", id="b")], "ok")
    async with turn(session) as running:
        await python.begun.wait()
        assert session.jobs.detach()
        events = await running
        assert events[-1] == TurnFinished("done", "ok")
        assert results(session) == [
            "Still running in the background as job 1 (python, 0 s). Its output so far:\nhalf\n"
            "[The python kernel is busy until it ends: code for it waits until then. Go on in another "
            "language, or end your turn; you read its result with a later result or message.]",
            "ls",
        ]
        assert unanswered(session.history) == []
        assert [job.first_line for job in session.jobs.running.values()] == [LONG]


async def test_it_ends_under_its_own_id_and_the_next_message_tells_the_model(tmp_path: Path) -> None:
    python = Slow([Text("stdout", "half\n")])
    session = opened(tmp_path, python, [call(LONG)], "ok", "I see")
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        await running
        python.over.set()
        ended = await until(session, has_ended)
        events = [record.event for record in session.log.since(0)]
        assert isinstance(ended, JobChanged)
        assert [(job.call_id, job.job, job.state) for job in of(JobChanged, events)] == [
            ("c1", 1, "background"),
            ("c1", 1, "ended"),
        ]
        assert [(one.call_id, one.status) for one in of(CodeFinished, events)] == [("c1", "ok")]
        assert dict(session.jobs.running) == {}
        await collect(session, "and?")
    assert told(session) == ["go", "and?\n\n[job 1 (python) has ended; its result:]\nhalf"]


async def test_what_ends_while_the_model_works_is_told_with_the_next_result(tmp_path: Path) -> None:
    python = Slow()

    class Ends(EchoShell):
        async def start(self) -> None:
            if python.begun.is_set() and not python.over.is_set():
                python.over.set()
                await until(session, has_ended)

    session = opened(tmp_path, python, [call(LONG, id="a")], [call("ls", "shell", id="b")], "ok", "and")
    assert isinstance(session.kernels, Two)
    session.kernels.shell = Ends()
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        await running
        await collect(session, "and?")
    ended = "[job 1 (python) has ended; its result:]\nThe code ran; it has no output.\n[this call:]\n"
    assert results(session)[1] == f"{ended}ls"
    assert told(session) == ["go", "and?"]


async def test_what_an_earlier_run_puts_out_late_is_not_taken_for_that_of_a_job(tmp_path: Path) -> None:
    python, listeners = Slow(), list[KernelListener]()

    class Heard(Two):
        def listen(self, listener: KernelListener) -> Callable[[], None]:
            listeners.append(listener)
            return super().listen(listener)

    class Ends(EchoShell):
        async def start(self) -> None:
            if python.begun.is_set() and not python.over.is_set():
                python.over.set()
                await until(session, has_ended)
                listeners[0].late_output("c0", Text("stdout", "tick\n"))

    kernels = Heard(python)
    kernels.shell = Ends()
    model = ScriptedModel([call(LONG, id="a")], [call("ls", "shell", id="b")], "ok")
    session = open_session(tmp_path, model, kernels)
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        await running
    assert results(session)[1] == (
        "[job 1 (python) has ended; its result:]\nThe code ran; it has no output.\n[this call:]\n"
        "[an earlier run put out after its end:]\ntick\n[this run:]\nls"
    )


async def test_the_end_of_a_job_is_told_again_when_the_turn_with_it_is_taken_back(tmp_path: Path) -> None:
    python = Slow()
    session = opened(tmp_path, python, [call(LONG)], "ok", [call("then()")], "done", "I see", "yes")
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        await running
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(collect(session, "then"))
            await until(session, lambda event: isinstance(event, Progress))
            python.over.set()
        session.rewind.undo()
        await collect(session, "and?")
        await collect(session, "sure?")
    ended = "[job 1 (python) has ended; its result:]\nThe code ran; it has no output."
    assert told(session) == ["go", f"and?\n\n{ended}", "sure?"]


async def test_a_run_leaves_by_itself_after_the_seconds_that_are_set(tmp_path: Path) -> None:
    python = Slow()
    session = opened(tmp_path, python, [call(LONG)], "ok", limits=Limits(background_after_s=0.01))
    async with turn(session) as running:
        events = await running
        assert [job.state for job in of(JobChanged, events)] == ["background"]


async def test_code_for_a_kernel_that_a_job_has_waits_before_anybody_is_asked(tmp_path: Path) -> None:
    python, person = Slow(), ScriptedPerson("run", "run")
    session = opened(tmp_path, python, [call(LONG)], [call("then()")], "ok", person=person)
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        waits = await until(session, lambda event: isinstance(event, Progress))
        assert waits == Progress("waiting for job 1", 0, 0, 0.0)
        assert [proposed.code for proposed in person.shown] == [LONG]
        python.over.set()
        await running
    assert python.ran == [LONG, "then()"]
    assert results(session)[1].endswith("\nThe code ran; it has no output.\n[this call:]\nthen()")


async def test_code_that_waited_for_a_job_that_failed_does_not_run(tmp_path: Path) -> None:
    python = Slow([Error("ValueError", "no", ("ValueError: no",))])
    python.failed = True
    session = opened(tmp_path, python, [call(LONG)], [call("then()")], "ok")
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        await until(session, lambda event: isinstance(event, Progress))
        python.over.set()
        events = await running
    why = "job 1, for which it waited, has failed."
    assert of(CodeRejected, events) == [CodeRejected("c2", why)]
    assert results(session)[1].endswith(f"[this call:]\nNot run: {why}")
    assert python.ran == [LONG]


async def test_an_interrupt_ends_the_turn_and_leaves_the_job(tmp_path: Path) -> None:
    python = Slow()
    session = opened(tmp_path, python, [call(LONG)], [call(EchoKernel.ENDLESS, "shell")])
    assert isinstance(session.kernels, Two)
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        await session.kernels.shell.busy()
        await session.interrupt()
        events = await running
        assert events[-1] == TurnFinished("interrupted", "")
        assert of(Noticed, events) == [
            Noticed("Job 1 (python) still runs in the background.", "/jobs stop 1 stops it.")
        ]
        assert list(session.jobs.running) == [1]
        assert await session.jobs.stop(1)
        assert not await session.jobs.stop(1)
        assert dict(session.jobs.running) == {}


async def test_an_interrupt_ends_a_wait_for_a_job_and_leaves_it(tmp_path: Path) -> None:
    python = Slow()
    session = opened(tmp_path, python, [call(LONG)], [call("then()")])
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        await until(session, lambda event: isinstance(event, Progress))
        await session.interrupt()
        assert (await running)[-1] == TurnFinished("interrupted", "")
        assert list(session.jobs.running) == [1]
        assert unanswered(session.history) == []


async def test_typed_code_for_a_busy_kernel_is_refused_with_what_to_do(tmp_path: Path) -> None:
    python = Slow()
    session = opened(tmp_path, python, [call(LONG)], "ok")
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        await running
        with pytest.raises(KernelBusy) as refused:
            await anext(session.run("python", "1"))
        assert refused.value.message == "The python kernel is busy with job 1: work()"
        assert refused.value.remedy == "Wait for its end, or stop it: /jobs stop 1."


async def test_typed_code_can_go_on_in_the_background_too(tmp_path: Path) -> None:
    python = Slow()
    session = opened(tmp_path, python, "hello")

    async def typed() -> list[Event]:
        async with aclosing(session.run("python", LONG)) as events:
            return [event async for event in events]

    running = asyncio.create_task(typed())
    await python.begun.wait()
    session.jobs.detach()
    assert isinstance((await running)[-1], JobChanged)
    python.over.set()
    await until(session, has_ended)
    await collect(session, "what now?")
    await session.aclose()
    first, still, ended = told(session)[0].split("\n\n")
    assert first == "what now?"
    assert "Still running in the background as job 1 (python, 0 s)." in still
    assert ended.startswith("[job 1 (python) has ended;")


async def test_nothing_leaves_before_the_kernel_has_the_code_or_when_nothing_runs(tmp_path: Path) -> None:
    session = opened(tmp_path, Slow(), "hello")
    assert not session.jobs.detach()
    await collect(session, "hi")
    assert not session.jobs.detach()
    await session.aclose()


async def test_the_end_of_the_session_ends_its_jobs(tmp_path: Path) -> None:
    python = Slow()
    session = opened(tmp_path, python, [call(LONG)], "ok")
    async with turn(session) as running:
        await python.begun.wait()
        session.jobs.detach()
        await running
    assert has_ended([record.event for record in session.log.since(0)][-1])
    assert python.closed


async def test_a_job_that_was_lost_with_its_session_is_told(tmp_path: Path) -> None:
    python = Slow()
    session = kept(tmp_path / "s", [call(LONG)], "ok", kernels=python)
    running = asyncio.create_task(collect(session, "go"))
    await python.begun.wait()
    session.jobs.detach()
    await running
    # As it is when the process is killed.
    killed = (tmp_path / "s" / NAME).read_bytes()
    await session.aclose()
    (tmp_path / "s" / NAME).write_bytes(killed)
    resumed = again(tmp_path / "s", "hm")
    await collect(resumed, "and?")
    await resumed.aclose()
    noticed = of(Noticed, [record.event for record in resumed.log.since(0)])
    assert noticed == [Noticed("Job 1 (python) was lost: it still ran when terp ended.")]
    assert "[Job 1 (python) was lost: it still ran when terp ended.]" in told(resumed)[-1]


async def test_going_back_past_a_job_that_runs_says_that_its_files_are_not_known(tmp_path: Path) -> None:
    class SlowShell(Slow, EchoShell):
        pass

    session = opened(tmp_path, Slow(), [call(LONG, "shell")], "ok")
    assert isinstance(session.kernels, Two)
    session.kernels.shell = shell = SlowShell()
    running = asyncio.create_task(collect(session, "go"))
    await shell.begun.wait()
    session.jobs.detach()
    await running
    taken = await session.rewind.restore(1)
    await session.aclose()
    assert "the changes of interrupted code to files are not known" in taken.notes
