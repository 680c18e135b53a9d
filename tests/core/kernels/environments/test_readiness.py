"""What is made ready for code."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from terp.errors import KernelStartFailed
from terp.events import CodeStarted, TurnFinished
from terp.events.kernel import Kernel
from terp.events.outputs import Error
from terp.models.tool import Call
from terp.person import Decline
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, call, collect
from tests.core.sessions import of, open_session, results


@dataclass
class Noted:
    """A preparation that notes what it is asked, and says so."""

    seen: list[str] = field(default_factory=list)

    def waits(self, language: str) -> bool:
        return False

    async def before(self, call: Call, kernel: Kernel) -> str:
        self.seen.append(f"before {call.code}")
        return "made ready"

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        self.seen.append(f"after {error.name}")
        return "looked at"


async def test_code_is_prepared_once_it_is_approved(tmp_path: Path) -> None:
    noted, person = Noted(), ScriptedPerson(Decline("no"), "run")
    session = open_session(tmp_path, ScriptedModel([call("a")], [call("b")]), person=person)
    session.readiness.add(noted)
    await collect(session, "go")
    assert noted.seen == ["before b"]


async def test_the_model_reads_what_was_prepared_before_it_reads_the_output(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel([call("a")]), person=ScriptedPerson("run"))
    session.readiness.add(Noted())
    await collect(session, "go")
    assert results(session) == ["[made ready]\na"]


async def test_an_error_of_the_code_is_looked_at(tmp_path: Path) -> None:
    noted, kernel = Noted(), EchoKernel({"a": [Error("ModuleNotFoundError", "No module named 'x'")]})
    session = open_session(tmp_path, ScriptedModel([call("a")]), kernel, ScriptedPerson("run"))
    session.readiness.add(noted)
    await collect(session, "go")
    assert noted.seen == ["before a", "after ModuleNotFoundError"]
    assert results(session)[0].startswith("[made ready]\n[looked at]\n")


async def test_what_cannot_be_prepared_does_not_run(tmp_path: Path) -> None:
    class Failing(Noted):
        async def before(self, call: Call, kernel: Kernel) -> str:
            raise KernelStartFailed("There is no Python.", "Install one.")

    session = open_session(tmp_path, ScriptedModel([call("a")]), person=ScriptedPerson("run"))
    session.readiness.add(Failing())
    events = await collect(session, "go")
    assert of(CodeStarted, events) == []
    assert events[-1] == TurnFinished("error", "", "There is no Python.", "Install one.")


async def test_no_kernel_is_warmed_while_something_has_to_come_before(tmp_path: Path) -> None:
    class Undecided(Noted):
        def waits(self, language: str) -> bool:
            return language == "python"

    kernel = EchoKernel()
    session = open_session(tmp_path, ScriptedModel(), kernel)
    await session.readiness.warm(kernel)
    session.readiness.add(Undecided())
    other = EchoKernel()
    await session.readiness.warm(other)
    assert (kernel.generation, other.generation) == (1, 0)


async def test_a_program_that_may_read_files_of_the_directory_is_not_started_ahead(tmp_path: Path) -> None:
    class Deno(EchoKernel):
        language = "javascript"

    kernel = Deno()
    session = open_session(tmp_path, ScriptedModel(), kernel)
    await session.readiness.warm(kernel)
    assert kernel.generation == 0


@pytest.mark.parametrize(("code", "seen"), [("a", ["before a"])])
async def test_code_that_was_typed_is_prepared_too(tmp_path: Path, code: str, seen: list[str]) -> None:
    noted, session = Noted(), open_session(tmp_path, ScriptedModel())
    session.readiness.add(noted)
    async for _ in session.run("python", code):
        pass
    assert noted.seen == seen


class Asking(Noted):
    """A preparation that asks about an error, for as long as nobody answers."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        self.asked.set()
        await asyncio.Event().wait()
        return ""


async def test_what_code_did_is_told_also_when_the_person_interrupts_what_comes_after(tmp_path: Path) -> None:
    kernel = EchoKernel({"a": [Error("ModuleNotFoundError", "No module named 'x'", ())]})
    session = open_session(tmp_path, ScriptedModel([call("a")]), kernel, person=ScriptedPerson("run"))
    asking = Asking()
    session.readiness.add(asking)
    turn = asyncio.create_task(collect(session, "go"))
    await asking.asked.wait()
    await session.interrupt()
    events = await turn
    assert events[-1] == TurnFinished("interrupted", "")
    assert "No module named 'x'" in results(session)[0]
