"""Who decides, about which bytes, and when."""

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from terp.events import (
    Answered,
    Asked,
    CodeDeclined,
    CodeFinished,
    CodeProposed,
    TurnFinished,
)
from terp.events.kernel import Kernel
from terp.events.outputs import BackCall, Error, InputRequest, RunEnded, Text
from terp.models.tool import Call
from terp.person import Consent, Decline, Nobody, Run
from terp.person.dialog import UserDialog
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, call, collect
from tests.core.sessions import of, open_session, results, unanswered


async def test_declined_code_never_reaches_the_kernel(tmp_path: Path) -> None:
    kernel, model = EchoKernel(), ScriptedModel([call("rm()")], "ok")
    session = open_session(tmp_path, model, kernel, ScriptedPerson(Decline("too risky")))
    events = await collect(session, "go")
    assert kernel.ran == []
    assert of(CodeDeclined, events) == [CodeDeclined("c1", "too risky")]
    assert results(session) == ["Not run: the person declined to run this code. They said: too risky"]
    assert events[-1] == TurnFinished("done", "ok")


async def test_words_at_another_question_are_a_no_and_reach_the_model_with_the_result(tmp_path: Path) -> None:
    model, kernel = ScriptedModel([call("import humanize")], "ok"), EchoKernel()
    person = ScriptedPerson("run", Decline("use the standard library"))
    session = open_session(tmp_path, model, kernel, person)
    asking = Asking(session.dialog)
    session.readiness.add(asking)
    events = await collect(session, "go")
    assert (asking.agreed, of(Answered, events)[-1].answer) == (False, "declined: use the standard library")
    note = '[The user was asked "Install humanize?" and did not agree, but wrote: use the standard library]'
    assert results(session)[0].startswith(f"{note}\n")


class Asking:
    """A preparation that needs consent."""

    def __init__(self, dialog: UserDialog) -> None:
        self.dialog = dialog
        self.agreed: bool | None = None

    def waits(self, language: str) -> bool:
        return False

    async def before(self, call: Call, kernel: Kernel) -> str:
        self.agreed = await self.dialog.allow(Consent("Install humanize?"))
        return ""

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        return ""


async def test_a_decline_that_stops_ends_the_turn(tmp_path: Path) -> None:
    model = ScriptedModel([call("rm()"), call("again()")])
    session = open_session(tmp_path, model, person=ScriptedPerson(Decline("", stop=True)))
    events = await collect(session, "go")
    assert events[-1] == TurnFinished("declined", "")
    assert unanswered(session.history) == []


async def test_a_person_that_gives_no_decision_declines(tmp_path: Path) -> None:
    class Vague(ScriptedPerson):
        async def approve(self, proposed: CodeProposed) -> Any:
            return None

    kernel = EchoKernel()
    await collect(open_session(tmp_path, ScriptedModel([call("x")]), kernel, Vague()), "go")
    assert kernel.ran == []


async def test_edited_code_is_proposed_again_before_it_runs(tmp_path: Path) -> None:
    kernel = EchoKernel()
    person = ScriptedPerson(Run("x = 2"), "run")
    events = await collect(open_session(tmp_path, ScriptedModel([call("x = 1")]), kernel, person), "go")
    assert [proposed.code for proposed in of(CodeProposed, events)] == ["x = 1", "x = 2"]
    assert kernel.ran == ["x = 2"]


async def test_code_is_asked_about_again_when_its_kernel_was_restarted_meanwhile(tmp_path: Path) -> None:
    kernel = EchoKernel()
    await kernel.start()

    class Slow(ScriptedPerson):
        async def approve(self, proposed: CodeProposed) -> Run | Decline:
            if not self.shown:
                await kernel.restart()
            return await super().approve(proposed)

    person = Slow("run", "run")
    await collect(open_session(tmp_path, ScriptedModel([call("x")]), kernel, person), "go")
    assert [proposed.kernel_generation for proposed in person.shown] == [1, 2]


async def test_code_is_asked_about_again_when_its_kernel_has_gone_elsewhere_meanwhile(
    tmp_path: Path,
) -> None:
    kernel = EchoKernel()

    class Slow(ScriptedPerson):
        async def approve(self, proposed: CodeProposed) -> Run | Decline:
            kernel.cwd = "/elsewhere"
            return await super().approve(proposed)

    person = Slow("run", "run")
    await collect(open_session(tmp_path, ScriptedModel([call("x")]), kernel, person), "go")
    assert [proposed.cwd for proposed in person.shown] == ["/somewhere", "/elsewhere"]


async def test_nobody_to_ask_ends_the_turn_as_approval_needed(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = open_session(tmp_path, ScriptedModel([call("x")]), kernel, Nobody())
    finished = (await collect(session, "go"))[-1]
    assert isinstance(finished, TurnFinished)
    assert finished.reason == "approval_needed"
    assert kernel.ran == []
    assert unanswered(session.history) == []


async def test_the_person_is_asked_only_when_the_proposal_was_taken(tmp_path: Path) -> None:
    person = ScriptedPerson("run")
    session = open_session(tmp_path, ScriptedModel([call("x")]), person=person)
    async with aclosing(session.turn("go")) as events:
        async for event in events:
            if isinstance(event, CodeProposed | Asked):
                for _ in range(20):
                    await asyncio.sleep(0)
                assert person.shown == []


async def test_another_front_end_may_answer_an_approval(tmp_path: Path) -> None:
    class Absent(ScriptedPerson):
        async def approve(self, proposed: CodeProposed) -> Run | Decline:
            await asyncio.Event().wait()
            raise AssertionError

    kernel = EchoKernel()
    session = open_session(tmp_path, ScriptedModel([call("x")]), kernel, Absent())
    seen = []
    async with aclosing(session.turn("go")) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, Asked):
                assert session.answer(event.question_id, Run("x"), by="browser")
                assert not session.answer(event.question_id, Run("x"), by="second tab")
    assert kernel.ran == ["x"]
    assert of(Answered, seen) == [Answered("q1", "run", "browser")]


async def test_a_person_has_let_go_before_the_turn_goes_on(tmp_path: Path) -> None:
    known_when_let_go: list[Answered] = []

    class Slow(ScriptedPerson):
        async def approve(self, proposed: CodeProposed) -> Run | Decline:
            asyncio.get_running_loop().call_soon(session.answer, "q1", Run("x"))
            try:
                return await asyncio.Future()
            finally:
                await asyncio.sleep(0)
                known_when_let_go.extend(of(Answered, [record.event for record in session.log.since(0)]))

    session = open_session(tmp_path, ScriptedModel([call("x")]), person=Slow())
    events = await collect(session, "go")
    assert known_when_let_go == []
    assert of(Answered, events) == [Answered("q1", "run", "another front end")]


async def test_an_approval_cannot_be_answered_with_text(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel([call("x")]), person=ScriptedPerson("run"))
    async with aclosing(session.turn("go")) as events:
        async for event in events:
            if isinstance(event, Asked):
                with pytest.raises(TypeError):
                    session.answer(event.question_id, "yes")


async def test_input_is_typed_by_the_person(tmp_path: Path) -> None:
    kernel = EchoKernel({"input()": [InputRequest("Name? "), Text("stdout", "hi")]})
    session = open_session(tmp_path, ScriptedModel([call("input()")]), kernel, ScriptedPerson("run", "Bob"))
    events = await collect(session, "go")
    assert kernel.typed == ["Bob"]
    assert of(Answered, events)[-1] == Answered("q2", "Bob", "person")


async def test_a_secret_answer_is_not_in_the_events(tmp_path: Path) -> None:
    kernel = EchoKernel({"getpass()": [InputRequest("Password: ", secret=True)]})
    person = ScriptedPerson("run", "hunter2")
    events = await collect(open_session(tmp_path, ScriptedModel([call("getpass()")]), kernel, person), "go")
    assert kernel.typed == ["hunter2"]
    assert "hunter2" not in repr(events)


async def test_input_that_nobody_can_answer_is_end_of_file_and_the_model_is_told(tmp_path: Path) -> None:
    kernel = EchoKernel({"input()": [InputRequest("Name? "), Error("EOFError", "")]})
    session = open_session(tmp_path, ScriptedModel([call("input()")]), kernel)
    await collect(session, "go")
    assert kernel.typed == [None]
    assert "nobody is there to type it" in results(session)[0]


async def test_a_consent_waits_no_more_for_a_front_end_that_left(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("hello"), person=ScriptedPerson(True))
    async with aclosing(session.turn("go")) as events:
        await anext(events)
        consent = asyncio.create_task(session.dialog.allow(Consent("install numpy")))
        while not of(Asked, [record.event for record in session.log.since(0)]):
            await session.log.changed()
        assert not consent.done()
    assert await consent


async def test_a_question_ends_with_the_kernel_of_its_code(tmp_path: Path) -> None:
    class Thinking(ScriptedPerson):
        took_back = False

        async def type_in(self, prompt: str, *, secret: bool) -> str:
            try:
                return await asyncio.Future()
            finally:
                self.took_back = True

    died = RunEnded("died", note="The kernel ended.")
    kernel, person = EchoKernel({"input()": [InputRequest("Name? "), died]}), Thinking("run")
    session = open_session(tmp_path, ScriptedModel([call("input()")]), kernel, person)
    events = await collect(session, "go")
    assert person.took_back
    assert [answered.question_id for answered in of(Answered, events)] == ["q1"]
    assert of(CodeFinished, events)[0].note == "The kernel ended."
    assert kernel.typed == []


async def test_a_service_that_code_waits_for_ends_with_its_kernel(tmp_path: Path) -> None:
    kernel = EchoKernel({"ask": [BackCall("slow", {}), RunEnded("died")]})
    session = open_session(tmp_path, ScriptedModel([call("ask")]), kernel)

    async def slow(_: Any) -> None:
        await asyncio.Future()

    session.offer("slow", slow)
    events = await collect(session, "go")
    assert of(CodeFinished, events)[0].status == "died"
    assert kernel.answers == []


async def test_a_person_that_fails_to_answer_ends_the_turn_and_not_in_silence(tmp_path: Path) -> None:
    class Broken(ScriptedPerson):
        async def type_in(self, prompt: str, *, secret: bool) -> str:
            raise ValueError("no keyboard")

    kernel = EchoKernel({"input()": [InputRequest("Name? ")]})
    session = open_session(tmp_path, ScriptedModel([call("input()")]), kernel, Broken("run"))
    with pytest.raises(ValueError, match="no keyboard"):
        await collect(session, "go")
    assert unanswered(session.history) == []


async def test_a_policy_that_answers_is_named(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel([call("1")], "ok"))
    answered = of(Answered, await collect(session, "go"))
    assert answered == [Answered("q1", "run", "auto_run")]
