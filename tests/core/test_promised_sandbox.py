"""No code runs unasked where it is held by less than the user was told."""

import dataclasses
from pathlib import Path

import pytest

from terp.events import CodeProposed, TurnFinished
from terp.events.kernel import Kernel
from terp.events.outputs import Error
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.tier import Unconfined
from terp.models.tool import Call
from terp.person import AutoRun
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, call, collect
from tests.core.sessions import of, open_session

HELD = dataclasses.replace(Unconfined(), name="docker")
WHY = "this kernel was started without the sandbox"


def held(tmp_path: Path, person: ScriptedPerson | None, *codes: str) -> tuple[Session, EchoKernel]:
    """A session whose code runs unasked, and whose kernel was started before that, without a sandbox."""
    kernel = EchoKernel()
    model = ScriptedModel(*([call(code)] for code in codes))
    session = open_session(tmp_path, model, kernel, AutoRun(person))
    session.resources.confinement = Confinement(
        SandboxOptions("auto"), str(tmp_path), {"HOME": str(tmp_path)}, lambda: True, tiers=lambda *_: [HELD]
    )
    return session, kernel


async def test_a_kernel_without_the_promised_sandbox_runs_nothing_unasked(tmp_path: Path) -> None:
    session, kernel = held(tmp_path, None, "1")
    events = await collect(session, "go")
    assert kernel.ran == []
    assert events[-1] == TurnFinished(
        "approval_needed",
        "",
        f"You must be asked about the code, and nobody is there: {WHY}.",
        "Run terp on a terminal, or change the rule.",
    )


async def test_who_was_asked_once_without_the_sandbox_is_not_asked_again(tmp_path: Path) -> None:
    person = ScriptedPerson("run")
    session, kernel = held(tmp_path, person, "1", "2")
    await collect(session, "go")
    assert [(shown.code, shown.tier, shown.asks) for shown in person.shown] == [("1", "none", WHY)]
    assert kernel.ran == ["1", "2"]


async def test_who_was_told_that_nothing_holds_the_code_is_not_asked(tmp_path: Path) -> None:
    session, kernel = held(tmp_path, None, "1")
    assert session.resources.confinement is not None
    session.resources.confinement.shown = "none"
    await collect(session, "go")
    assert kernel.ran == ["1"]


class LosingItsSandbox:
    """A preparation that takes so long that the kernel comes up without the sandbox that was shown."""

    def waits(self, language: str) -> bool:
        return False

    async def before(self, call: Call, kernel: Kernel) -> str:
        assert isinstance(kernel, EchoKernel)
        kernel.tier = "none"
        return ""

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        return ""


@pytest.mark.parametrize("answers", [["run"], ["run", "run"]])
async def test_code_that_was_approved_in_a_sandbox_is_shown_again_where_there_is_none(
    tmp_path: Path, answers: list[str]
) -> None:
    person, kernel = ScriptedPerson(*answers), EchoKernel()
    kernel.tier = "docker"
    session = open_session(tmp_path, ScriptedModel([call("1")]), kernel, person)
    session.readiness.add(LosingItsSandbox())
    events = await collect(session, "go")
    assert [proposed.tier for proposed in of(CodeProposed, events)] == ["docker", "none"]
    assert kernel.ran == ["1"][: len(answers) - 1]
