"""The walk of a turn: what happens, in which order, and what the model reads."""

import asyncio
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from terp.errors import KernelStartFailed
from terp.events import (
    Answered,
    Asked,
    CodeDelta,
    CodeFinished,
    CodeProposed,
    CodeStarted,
    LateOutput,
    ModelCalled,
    Printed,
    TextDelta,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from terp.events.effects import Effects
from terp.events.messages import Assistant, Result, System, ToolCall, User
from terp.events.model import Replied
from terp.events.outputs import BackCall, Display, Text
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, call, collect
from tests.core.sessions import of, open_session, results, unanswered, untimed


async def test_a_plain_answer_is_five_facts_and_starts_no_kernel(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = open_session(tmp_path, ScriptedModel("Hello", chunk=9), kernel)
    assert untimed(await collect(session, "hi")) == [
        TurnStarted("hi"),
        ModelCalled("scripted/model", 1),
        TextDelta("Hello"),
        UsageReported(10, 5, 0, 0.001, "scripted/model"),
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
    assert untimed(events) == [
        TurnStarted("what?"),
        ModelCalled("scripted/model", 1),
        UsageReported(10, 5, 0, 0.001, "scripted/model"),
        CodeProposed(
            "c1",
            "python",
            "6*7",
            proposed.digest,
            "/somewhere",
            proposed.kernel_generation,
            "none",
            Effects(),
        ),
        Asked("q1", "approval", "c1"),
        Answered("q1", "run", "person"),
        CodeStarted("c1", 1),
        Printed("c1", Text("stdout", "6*7\n")),
        finished,
        ModelCalled("scripted/model", 2),
        *(event for event in events if isinstance(event, TextDelta)),
        UsageReported(10, 5, 0, 0.001, "scripted/model"),
        TurnFinished("done", "It is 42."),
    ]
    assert results(session) == ["6*7"]


async def test_code_is_seen_while_the_model_writes_it(tmp_path: Path) -> None:
    events = await collect(open_session(tmp_path, ScriptedModel([call("print('a')\nprint('b')")])), "go")
    deltas = of(CodeDelta, events)
    assert "".join(delta.text for delta in deltas) == "print('a')\nprint('b')"
    assert {delta.language for delta in deltas} == {"python"}


async def test_a_kernel_is_brought_up_once_while_the_model_writes(tmp_path: Path) -> None:
    class Slow(EchoKernel):
        starts = 0

        async def start(self) -> None:
            self.starts += 1

    kernel = Slow()
    model = ScriptedModel([call("print('a long line')")])
    events = await collect(open_session(tmp_path, model, kernel, ScriptedPerson()), "go")
    assert len(of(CodeDelta, events)) > 1
    assert kernel.starts == 1


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


async def test_another_model_is_not_sent_what_was_meant_for_the_one_before(tmp_path: Path) -> None:
    signed = ToolCall("id1", "execute", call("1").arguments, extras={"thought_signature": "x"})
    reply = Replied(Assistant("", (signed,), "hm", {"thinking_blocks": [{"signature": "y"}]}))
    before, after = ScriptedModel([reply], "ok"), ScriptedModel("hello")
    after.name = "other/model"
    session = open_session(tmp_path, before)
    await collect(session, "go")
    assert before.requests[1][2] == reply.message
    session.model = after
    await collect(session, "again")
    assert after.requests[0][2] == Assistant("", (replace(signed, extras={}),), "hm")


async def test_a_model_that_only_changes_its_settings_keeps_its_extras(tmp_path: Path) -> None:
    reply = Replied(Assistant("hello", (), "hm", {"thinking_blocks": [{"signature": "y"}]}))
    session = open_session(tmp_path, ScriptedModel([reply]))
    await collect(session, "go")
    session.model = ScriptedModel()
    assert session.history == (User("go"), reply.message)


async def test_a_conversation_can_be_forgotten(tmp_path: Path) -> None:
    model = ScriptedModel([call("1")], "ok", "hello")
    session = open_session(tmp_path, model)
    await collect(session, "go")
    session.history = ()
    await collect(session, "anew")
    assert model.requests[-1] == [System(""), User("anew")]


async def test_a_kernel_that_does_not_start_ends_the_turn(tmp_path: Path) -> None:
    class Dead(EchoKernel):
        async def start(self) -> None:
            raise KernelStartFailed("No kernel came up.", "Install ipykernel.")

    session = open_session(tmp_path, ScriptedModel([call("x")]), Dead())
    events = await collect(session, "go")
    assert events[-1] == TurnFinished("error", "", "No kernel came up.", "Install ipykernel.")
    assert unanswered(session.history) == []


async def test_code_that_calls_home_is_answered_by_the_service(tmp_path: Path) -> None:
    kernel = EchoKernel({"home": [BackCall("double", {"x": 4}), BackCall("nope", {})]})
    session = open_session(tmp_path, ScriptedModel([call("home")]), kernel)

    async def double(arguments: Any) -> int:
        return int(arguments["x"]) * 2

    session.offer("double", double)
    await collect(session, "go")
    assert kernel.answers == [(8, ""), (None, "terp has no service 'nope' here")]


async def test_a_service_that_gives_no_json_is_an_error_of_the_code_that_called_it(tmp_path: Path) -> None:
    class Strict(EchoKernel):
        async def answer(self, value: Any, error: str = "") -> None:
            await super().answer(json.loads(json.dumps(value)), error)

    kernel = Strict({"home": [BackCall("names", {})]})
    session = open_session(tmp_path, ScriptedModel([call("home")], "ok"), kernel)

    async def names(_: Any) -> set[str]:
        return {"a", "b"}

    session.offer("names", names)
    events = await collect(session, "go")
    assert kernel.answers == [(None, "TypeError: Object of type set is not JSON serializable")]
    assert events[-1] == TurnFinished("done", "ok")


async def test_an_interrupt_ends_a_service_that_code_waits_for(tmp_path: Path) -> None:
    kernel, called = EchoKernel({"home": [BackCall("slow", {})]}), asyncio.Event()
    session = open_session(tmp_path, ScriptedModel([call("home")]), kernel)

    async def slow(_: Any) -> None:
        called.set()
        await asyncio.Event().wait()

    session.offer("slow", slow)
    turn = asyncio.create_task(collect(session, "go"))
    await called.wait()
    await session.interrupt()
    assert (await turn)[-1] == TurnFinished("interrupted", "")


async def test_late_output_is_an_event_and_reaches_the_model_with_the_next_result(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = open_session(tmp_path, ScriptedModel([call("1")], "ok", [call("2")], "ok"), kernel)
    await collect(session, "go")
    kernel.put_out_late("c1", Text("stdout", "tick\n"))
    await collect(session, "again")
    assert LateOutput("c1", Text("stdout", "tick\n")) in [record.event for record in session.log.since(0)]
    assert results(session)[1] == "[an earlier run put out after its end:]\ntick\n[this run:]\n2"


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
