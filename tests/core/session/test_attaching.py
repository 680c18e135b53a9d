"""Kernels of somebody else in a session that has begun."""

import os
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path

import pytest

import terp
from terp.errors import KernelStartFailed, SettingsError
from terp.events import CodeProposed, Event
from terp.events.messages import User
from terp.person import AutoRun
from terp.session.session import Session
from terp.testing import ScriptedModel, ScriptedPerson, call
from tests.core.kernels.attached.foreign import ForeignKernel


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("attaching")
    runtime = folder / "runtime"
    runtime.mkdir()
    return {"PATH": os.environ["PATH"], "TERP_HOME": str(folder), "JUPYTER_RUNTIME_DIR": str(runtime)}


@pytest.fixture(scope="module")
def foreign(environ: Mapping[str, str]) -> Iterator[ForeignKernel]:
    with ForeignKernel(Path(environ["JUPYTER_RUNTIME_DIR"])) as kernel:
        kernel.run("theirs = 41")
        yield kernel


@pytest.fixture
async def session(environ: Mapping[str, str], tmp_path: Path) -> AsyncGenerator[Session, None]:
    opening = terp.open(
        person=AutoRun(ScriptedPerson()), cwd=tmp_path, environ=environ, model="openai/scripted"
    )
    async with opening as session:
        yield session


async def turn(session: Session, *replies: object) -> list[Event]:
    """The events of a turn in which the model says this."""
    session.model = ScriptedModel(*replies)  # type: ignore[arg-type]
    async with aclosing(session.turn("go on")) as events:
        return [event async for event in events]


async def test_a_session_takes_another_kernel_and_its_own_again(
    session: Session, foreign: ForeignKernel
) -> None:
    assert session.resources.attaching is not None
    await turn(session, call("own = 1"), "done")
    told = await session.resources.attaching.attach("newest")
    assert told == (
        "Python code runs in another program's kernel (kernel-feedbeef.json): its variables are theirs as "
        "well, and terp leaves it running."
    )
    assert (session.resources.pythons, session.resources.packages) == (None, None)
    events = await turn(session, call("ours = theirs + 1"), "done")
    [proposed] = [event for event in events if isinstance(event, CodeProposed)]
    assert proposed.place == "another program's kernel (kernel-feedbeef.json)"
    await session.resources.attaching.detach()
    assert session.resources.pythons is not None
    assert session.resources.packages is not None
    assert session.kernels.get("python").place == ""
    assert foreign.printed("print(ours)") == "42\n"


async def test_the_model_reads_of_it_with_the_next_message(session: Session, foreign: ForeignKernel) -> None:
    assert session.resources.attaching is not None
    await session.resources.attaching.attach("feedbeef")
    await turn(session, "yes")
    said = next(message.text for message in session.history if isinstance(message, User))
    begins = session.resources.note_mark.begins
    assert f"{begins}The python kernel is one that somebody else uses at the same time." in said
    assert "Variables of the kernel before it are not there.]" in said


async def test_what_cannot_be_attached_leaves_the_kernel_as_it_is(session: Session, tmp_path: Path) -> None:
    assert session.resources.attaching is not None
    await turn(session, call("kept = 1"), "done")
    before = session.kernels.get("python")
    with pytest.raises(SettingsError):
        await session.resources.attaching.attach("nothing")
    with pytest.raises(KernelStartFailed):
        (tmp_path / "k.json").write_text(
            '{"transport": "tcp", "ip": "127.0.0.1", "key": "", "shell_port": 1, "iopub_port": 1, '
            '"stdin_port": 1, "control_port": 1, "hb_port": 1}'
        )
        await session.resources.attaching.attach("k.json")
    assert session.kernels.get("python") is before
    assert session.resources.pythons is not None


async def test_a_library_attaches_with_a_setting(
    environ: Mapping[str, str], foreign: ForeignKernel, tmp_path: Path
) -> None:
    opening = terp.open(
        cwd=tmp_path, environ=environ, model="openai/scripted", attach="newest", auto_run=True
    )
    async with opening as session:
        assert session.kernels.get("python").place == "another program's kernel (kernel-feedbeef.json)"
        await turn(session, call("by_library = theirs"), "done")
    assert foreign.printed("print(by_library)") == "41\n"
