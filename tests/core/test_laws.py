"""The laws of the design that are about a turn, one test each; others stand with what they bind."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terp.errors import Unavailable
from terp.events import CodeFinished, CodeStarted, Event, KernelChanged, Printed, TextDelta, TurnFinished
from terp.events.messages import Assistant, Result
from terp.events.outputs import Error, Text
from terp.person import AutoRun, Decline
from terp.session.session import Session
from terp.testing import EchoKernel, Scripted, ScriptedModel, ScriptedPerson, call, collect
from tests.core.sessions import unanswered

REPLIES: list[Scripted] = [
    "text",
    [call("1")],
    ["look: ", call("1"), call("2")],
    [call("1/0"), call("3")],
    Unavailable("gone"),
]


async def test_law_1_a_consumer_that_only_pulls_runs_nothing(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = Session(ScriptedModel([call("x")] * 3), kernel, ScriptedPerson(), folder=tmp_path)
    await collect(session, "go")
    assert kernel.ran == []


@given(
    replies=st.lists(st.sampled_from(REPLIES), max_size=5),
    decisions=st.lists(st.sampled_from(["run", Decline("no"), Decline("", stop=True)]), max_size=6),
    leave_after=st.integers(min_value=0, max_value=60),
)
@settings(max_examples=150)
def test_law_2_every_call_has_one_result_whatever_happens(
    replies: list[Scripted],
    decisions: list[str | Decline],
    leave_after: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async def scenario() -> list[str]:
        kernel, person = EchoKernel(), ScriptedPerson(*decisions)
        session = Session(ScriptedModel(*replies), kernel, person, folder=tmp_path_factory.getbasetemp())
        async with aclosing(session.turn("go")) as events:
            number = 0
            async for _ in events:
                number += 1
                if number > leave_after:
                    break
        return unanswered(session.history)

    assert asyncio.run(scenario()) == []


async def test_law_3_an_interrupt_ends_the_code_and_the_turn(tmp_path: Path) -> None:
    kernel = EchoKernel()
    model = ScriptedModel([call(EchoKernel.ENDLESS, id="a"), call("never", id="b")])
    session = Session(model, kernel, AutoRun(), folder=tmp_path)
    turn = asyncio.create_task(collect(session, "go"))
    await kernel.busy()
    await session.interrupt()
    events = await turn
    assert events[-1] == TurnFinished("interrupted", "")
    assert kernel.ran == [EchoKernel.ENDLESS]
    assert session.history[-2:] == (
        Result("a", "The code printed nothing.\n[interrupted]"),
        Result("b", "Not run: the person interrupted the turn."),
    )


async def test_law_3_an_interrupt_ends_the_models_reply_and_keeps_its_text(tmp_path: Path) -> None:
    session = Session(ScriptedModel("word " * 1000), EchoKernel(), AutoRun(), folder=tmp_path)
    seen: list[Event] = []
    async with aclosing(session.turn("go")) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, TextDelta) and len(seen) == 5:
                await session.interrupt()
    assert isinstance(seen[-1], TurnFinished)
    assert seen[-1].reason == "interrupted"
    last = session.history[-1]
    assert isinstance(last, Assistant)
    assert 0 < len(last.text) < 5000


async def test_law_3_an_interrupt_takes_an_open_question_back(tmp_path: Path) -> None:
    asked = asyncio.Event()

    class Thinking(ScriptedPerson):
        async def approve(self, proposed: object) -> Decline:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    session = Session(ScriptedModel([call("x", id="a")]), EchoKernel(), Thinking(), folder=tmp_path)
    turn = asyncio.create_task(collect(session, "go"))
    await asked.wait()
    await session.interrupt()
    assert (await turn)[-1] == TurnFinished("interrupted", "")
    assert session.history[-1] == Result("a", "Not run: the person interrupted the turn.")


async def test_law_3_a_consumer_that_leaves_gets_the_same_without_the_events(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = Session(ScriptedModel([call(EchoKernel.ENDLESS)]), kernel, AutoRun(), folder=tmp_path)
    async with aclosing(session.turn("go")) as events:
        async for event in events:
            if isinstance(event, CodeStarted):
                break
    assert session.log.since(0)[-1].event == TurnFinished("interrupted", "")
    assert unanswered(session.history) == []


async def test_a_turn_yields_nothing_after_its_end(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = Session(ScriptedModel("hello"), kernel, AutoRun(), folder=tmp_path)
    seen: list[Event] = []
    async with aclosing(session.turn("go")) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, TurnFinished):
                session.log.append(KernelChanged("python", "interrupted", ""))
    assert seen[-1] == TurnFinished("done", "hello")
    assert session.log.since(0)[-1].event == KernelChanged("python", "interrupted", "")


async def test_the_next_turn_after_an_interrupt_is_an_ordinary_one(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = Session(ScriptedModel([call(EchoKernel.ENDLESS)], "fine"), kernel, AutoRun(), folder=tmp_path)
    turn = asyncio.create_task(collect(session, "go"))
    await kernel.busy()
    await session.interrupt()
    await turn
    assert (await collect(session, "and now?"))[-1] == TurnFinished("done", "fine")


async def test_law_4_a_watcher_of_the_log_sees_what_the_turn_yields(tmp_path: Path) -> None:
    session = Session(ScriptedModel([call("1")], "ok"), EchoKernel(), AutoRun(), folder=tmp_path)
    yielded = await collect(session, "go")
    await session.aclose()
    records = [record async for record in session.events()]
    assert [record.event for record in records] == yielded
    assert [record.number for record in records] == list(range(1, len(yielded) + 1))


async def test_every_start_of_code_has_one_end_after_its_last_output(tmp_path: Path) -> None:
    model = ScriptedModel([call("1"), call("2")], [call("3")], "ok")
    session = Session(model, EchoKernel(), AutoRun(), folder=tmp_path)
    kinds = [
        (type(event).__name__, event.call_id)
        for event in await collect(session, "go")
        if isinstance(event, CodeStarted | Printed | CodeFinished)
    ]
    assert kinds == [
        (name, f"c{n}") for n in (1, 2, 3) for name in ("CodeStarted", "Printed", "CodeFinished")
    ]


async def test_a_traceback_is_kept_whole_where_it_is_shown_folded(tmp_path: Path) -> None:
    frame = "File /usr/lib/python3/x.py:9\n\x1b[31m----> 9\x1b[0m raise"
    kernel = EchoKernel({"fail": [Text("stdout", "so far\n"), Error("E", "x", (frame, "E: x"))]})
    session = Session(ScriptedModel([call("fail")]), kernel, AutoRun(), folder=tmp_path)
    events = await collect(session, "go")
    path = next(event.output_path for event in events if isinstance(event, CodeFinished))
    assert Path(path).read_text() == "so far\nFile /usr/lib/python3/x.py:9\n----> 9 raise\nE: x\n"


async def test_law_7_what_the_model_reads_is_bounded_and_the_whole_is_kept(tmp_path: Path) -> None:
    flood = "H" * 10 + "x" * 100_000 + "T" * 10
    kernel = EchoKernel({"flood": [Text("stdout", flood)]})
    session = Session(ScriptedModel([call("flood")]), kernel, AutoRun(), folder=tmp_path)
    events = await collect(session, "go")
    path = next(event.output_path for event in events if isinstance(event, CodeFinished))
    told = next(message.text for message in session.history if isinstance(message, Result))
    assert Path(path).read_text() == flood
    assert told.startswith("H" * 10)
    assert told.endswith("T" * 10 + f"\n[this output stays in {path}]")
    assert "[… 84,020 characters left out …]" in told
    assert len(told) < 16_200
