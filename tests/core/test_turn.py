"""The walk of a turn: what happens, in which order, and what the model reads."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from terp.errors import AuthFailed, ContextFull, KernelStartFailed, Unavailable
from terp.events import (
    Answered,
    Asked,
    CodeDeclined,
    CodeDelta,
    CodeFinished,
    CodeProposed,
    CodeRejected,
    CodeStarted,
    Event,
    HistoryCompacted,
    KernelChanged,
    LateOutput,
    ModelCalled,
    ModelRetrying,
    Printed,
    TextDelta,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from terp.kernels.protocol import Kernels
from terp.limits import Limits
from terp.messages import Assistant, Message, Result, ToolCall, User
from terp.models.protocol import Chunk, Retrying
from terp.models.protocol import Text as TextChunk
from terp.outputs import BackCall, Display, Error, InputRequest, RunEnded, Text
from terp.person import AutoRun, Decline, Nobody, Person, Run
from terp.session import Session
from terp.testing import EchoKernel, Part, ScriptedModel, ScriptedPerson, call, collect


def open_session(
    tmp_path: Path,
    model: ScriptedModel,
    kernels: Kernels | None = None,
    person: Person | None = None,
    limits: Limits | None = None,
) -> Session:
    return Session(
        model, kernels or EchoKernel(), person or AutoRun(), folder=tmp_path / "session", limits=limits
    )


def of(kind: type[Any], events: Sequence[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def results(session: Session) -> list[str]:
    return [message.text for message in session.history if isinstance(message, Result)]


def unanswered(history: list[Message]) -> list[str]:
    asked = [call.id for message in history if isinstance(message, Assistant) for call in message.calls]
    answered = [message.call_id for message in history if isinstance(message, Result)]
    return sorted(set(asked) ^ set(answered)) + [name for name in answered if answered.count(name) > 1]


async def test_a_plain_answer_is_five_facts_and_starts_no_kernel(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = open_session(tmp_path, ScriptedModel("Hello", chunk=9), kernel)
    assert await collect(session, "hi") == [
        TurnStarted("hi"),
        ModelCalled("scripted/model", 1),
        TextDelta("Hello"),
        UsageReported(10, 5, 0, 0.001),
        TurnFinished("done", "Hello"),
    ]
    assert kernel.generation == 0


async def test_approved_code_runs_and_the_model_reads_its_output(tmp_path: Path) -> None:
    model = ScriptedModel([call("6*7")], "It is 42.")
    session = open_session(tmp_path, model, person=ScriptedPerson("run"))
    events = [event for event in await collect(session, "what?") if not isinstance(event, CodeDelta)]
    proposed = of(CodeProposed, events)[0]
    assert proposed.digest == sha256(b"6*7").hexdigest()
    finished = of(CodeFinished, events)[0]
    assert events == [
        TurnStarted("what?"),
        ModelCalled("scripted/model", 1),
        UsageReported(10, 5, 0, 0.001),
        CodeProposed(
            "c1", "python", "6*7", proposed.digest, "/somewhere", proposed.kernel_generation, "none"
        ),
        Asked("q1", "approval", "c1"),
        Answered("q1", "run", "person"),
        CodeStarted("c1", 1),
        Printed("c1", Text("stdout", "6*7\n")),
        finished,
        ModelCalled("scripted/model", 2),
        *(event for event in events if isinstance(event, TextDelta)),
        UsageReported(10, 5, 0, 0.001),
        TurnFinished("done", "It is 42."),
    ]
    assert results(session) == ["6*7"]


async def test_code_is_seen_while_the_model_writes_it(tmp_path: Path) -> None:
    events = await collect(open_session(tmp_path, ScriptedModel([call("print('a')\nprint('b')")])), "go")
    deltas = of(CodeDelta, events)
    assert "".join(delta.text for delta in deltas) == "print('a')\nprint('b')"
    assert {delta.language for delta in deltas} == {"python"}


async def test_declined_code_never_reaches_the_kernel(tmp_path: Path) -> None:
    kernel, model = EchoKernel(), ScriptedModel([call("rm()")], "ok")
    session = open_session(tmp_path, model, kernel, ScriptedPerson(Decline("too risky")))
    events = await collect(session, "go")
    assert kernel.ran == []
    assert of(CodeDeclined, events) == [CodeDeclined("c1", "too risky")]
    assert results(session) == ["Not run: the person declined to run this code. They said: too risky"]
    assert events[-1] == TurnFinished("done", "ok")


async def test_a_decline_that_stops_ends_the_turn(tmp_path: Path) -> None:
    model = ScriptedModel([call("rm()"), call("again()")])
    session = open_session(tmp_path, model, person=ScriptedPerson(Decline("", stop=True)))
    events = await collect(session, "go")
    assert events[-1] == TurnFinished("declined", "")
    assert unanswered(list(session.history)) == []


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


async def test_nobody_to_ask_ends_the_turn_as_approval_needed(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = open_session(tmp_path, ScriptedModel([call("x")]), kernel, Nobody())
    finished = (await collect(session, "go"))[-1]
    assert isinstance(finished, TurnFinished)
    assert finished.reason == "approval_needed"
    assert kernel.ran == []
    assert unanswered(list(session.history)) == []


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


async def test_an_approval_cannot_be_answered_with_text(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel([call("x")]), person=ScriptedPerson("run"))
    async with aclosing(session.turn("go")) as events:
        async for event in events:
            if isinstance(event, Asked):
                with pytest.raises(TypeError):
                    session.answer(event.question_id, "yes")


async def test_parallel_calls_are_all_answered_in_order(tmp_path: Path) -> None:
    model = ScriptedModel([call("1", id="a"), call("2", id="b"), call("3", id="c")], "ok")
    session = open_session(tmp_path, model)
    await collect(session, "go")
    assert session.history == (
        User("go"),
        Assistant("", (call("1", id="a"), call("2", id="b"), call("3", id="c"))),
        Result("a", "1"),
        Result("b", "2"),
        Result("c", "3"),
        Assistant("ok"),
    )


async def test_a_second_turn_sends_the_first_one_along(tmp_path: Path) -> None:
    model = ScriptedModel([call("1", id="a")], "one", "two")
    session = open_session(tmp_path, model)
    await collect(session, "first")
    await collect(session, "second")
    assert [type(message).__name__ for message in model.requests[-1]] == [
        "System",
        "User",
        "Assistant",
        "Result",
        "Assistant",
        "User",
    ]


async def test_an_unknown_tool_is_told_and_the_turn_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel([ToolCall("a", "nope", "{}")], "ok")
    session = open_session(tmp_path, model)
    events = await collect(session, "go")
    assert of(CodeRejected, events)[0].call_id == "c1"
    assert "`nope` not found; available: execute" in results(session)[0]
    assert events[-1] == TurnFinished("done", "ok")


async def test_malformed_calls_stop_the_turn_at_the_third(tmp_path: Path) -> None:
    broken = ToolCall("a", "execute", "{}", raw='{"code": "print(1')
    model = ScriptedModel(*([broken] for _ in range(9)))
    events = await collect(open_session(tmp_path, model), "go")
    assert len(model.requests) == 3
    assert events[-1].reason == "repeated_failure"  # type: ignore[union-attr]


async def test_the_same_failing_code_stops_the_turn_at_the_third_time(tmp_path: Path) -> None:
    kernel = EchoKernel({"1/0": [Error("ZeroDivisionError", "division by zero"), RunEnded("error")]})
    session = open_session(tmp_path, ScriptedModel(*([call("1/0")] for _ in range(9))), kernel)
    events = await collect(session, "go")
    assert kernel.ran == ["1/0"] * 3
    assert events[-1].reason == "repeated_failure"  # type: ignore[union-attr]
    assert results(session)[1].endswith("[the same code failed in the same way before; try something else]")


async def test_steps_are_limited(tmp_path: Path) -> None:
    kernel = EchoKernel()
    model = ScriptedModel(*([call(str(n))] for n in range(50)))
    events = await collect(open_session(tmp_path, model, kernel, limits=Limits(max_steps=9)), "go")
    assert len(kernel.ran) == 9
    assert events[-1].reason == "max_steps"  # type: ignore[union-attr]


async def test_money_is_limited(tmp_path: Path) -> None:
    model = ScriptedModel(*([call(str(n))] for n in range(50)))
    session = open_session(tmp_path, model, limits=Limits(max_budget_usd=0.0025))
    events = await collect(session, "go")
    assert len(model.requests) == 3
    assert events[-1].reason == "max_budget"  # type: ignore[union-attr]


async def test_a_model_error_ends_the_turn_with_its_reason_and_remedy(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel(AuthFailed("No key.", "Set X_API_KEY.")))
    assert (await collect(session, "go"))[-1] == TurnFinished("auth", "", "No key.", "Set X_API_KEY.")


async def test_text_that_came_before_a_failure_is_kept(tmp_path: Path) -> None:
    class Broken(ScriptedModel):
        async def stream(self, messages: Any, tools: Any = ()) -> Any:
            yield TextChunk("Half an ans")
            raise Unavailable("The connection was lost.")

    session = open_session(tmp_path, Broken())
    await collect(session, "go")
    assert session.history == (User("go"), Assistant("Half an ans"))


async def test_what_came_before_a_retry_is_void(tmp_path: Path) -> None:
    reply: list[Part | Chunk] = [TextChunk("Hal"), Retrying(1, "lost", 0.5), "Whole"]
    session = open_session(tmp_path, ScriptedModel(reply))
    events = await collect(session, "go")
    assert of(ModelRetrying, events) == [ModelRetrying(1, "lost", 0.5)]
    assert session.history[-1] == Assistant("Whole")


async def test_a_full_context_is_compacted_once_and_asked_again(tmp_path: Path) -> None:
    long = Result("a", "x" * 5000)
    history: list[Message] = [
        User("one"),
        Assistant("", (call("1", id="a"),)),
        long,
        Assistant("", (call("2", id="b"), call("3", id="c"))),
        Result("b", "y"),
        Result("c", "z"),
    ]
    model = ScriptedModel(ContextFull("too long"), "ok")
    session = open_session(tmp_path, model)
    session.history = history
    events = await collect(session, "go")
    assert [event.how for event in of(HistoryCompacted, events)] == ["the oldest outputs were shortened"]
    assert events[-1] == TurnFinished("done", "ok")
    assert len(model.requests) == 2


async def test_a_context_that_stays_full_ends_the_turn(tmp_path: Path) -> None:
    model = ScriptedModel(ContextFull("too long"), ContextFull("too long"))
    events = await collect(open_session(tmp_path, model), "go")
    assert events[-1].reason == "context_full"  # type: ignore[union-attr]


async def test_old_turns_are_summarised_and_the_persons_words_kept(tmp_path: Path) -> None:
    model = ScriptedModel(ContextFull("too long"), "We talked.", "ok")
    session = open_session(tmp_path, model)
    session.history = [User(text) if n % 2 == 0 else Assistant(text * 99) for n, text in enumerate("abcdef")]
    await collect(session, "go")
    assert tuple(session.history) == (
        User("a"),
        Assistant("b" * 99),
        User("[Earlier turns, shortened. The person said:\n- c\n- e\nWe talked.]"),
        User("go"),
        Assistant("ok"),
    )


async def test_a_kernel_that_does_not_start_ends_the_turn(tmp_path: Path) -> None:
    class Dead(EchoKernel):
        async def start(self) -> None:
            raise KernelStartFailed("No kernel came up.", "Install ipykernel.")

    session = open_session(tmp_path, ScriptedModel([call("x")]), Dead())
    events = await collect(session, "go")
    assert events[-1] == TurnFinished("error", "", "No kernel came up.", "Install ipykernel.")
    assert unanswered(list(session.history)) == []


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


async def test_code_that_calls_home_is_answered_by_the_service(tmp_path: Path) -> None:
    kernel = EchoKernel({"home": [BackCall("double", {"x": 4}), BackCall("nope", {})]})
    session = open_session(tmp_path, ScriptedModel([call("home")]), kernel)

    async def double(arguments: Any) -> int:
        return int(arguments["x"]) * 2

    session.offer("double", double)
    await collect(session, "go")
    assert kernel.answers == [(8, ""), (None, "terp has no service 'nope' here")]


async def test_late_output_is_an_event_and_reaches_the_model_with_the_next_result(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = open_session(tmp_path, ScriptedModel([call("1")], "ok", [call("2")], "ok"), kernel)
    await collect(session, "go")
    kernel.put_out_late("c1", Text("stdout", "tick\n"))
    await collect(session, "again")
    assert LateOutput("c1", Text("stdout", "tick\n")) in [record.event for record in session.log.since(0)]
    assert results(session)[1] == "[an earlier run put out after its end:]\ntick\n[this run:]\n2"


async def test_kernel_changes_are_events(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel())
    session.changed("python", "died", "exit code 1")
    assert session.log.since(0)[0].event == KernelChanged("python", "died", "exit code 1")


async def test_a_picture_lands_in_a_file_and_its_event_names_it(tmp_path: Path) -> None:
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    kernel = EchoKernel({"plot": [Display({"image/png": pixel, "text/plain": "<Figure>"})]})
    session = open_session(tmp_path, ScriptedModel([call("plot")]), kernel)
    shown = of(Printed, await collect(session, "go"))[0].output
    assert Path(shown.path).read_bytes().startswith(b"\x89PNG")
    assert results(session) == [f"[image: {shown.path}, 1×1]"]


async def test_a_session_can_be_closed_twice(tmp_path: Path) -> None:
    model, kernel = ScriptedModel("x"), EchoKernel()
    session = open_session(tmp_path, model, kernel)
    await session.aclose()
    await session.aclose()
    assert (model.closed, kernel.closed) == (True, True)
