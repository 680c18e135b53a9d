"""What bounds a turn, and what becomes of failures in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from terp.compaction import compacted
from terp.errors import AuthFailed, ContextFull, Unavailable
from terp.events import (
    CodeRejected,
    HistoryCompacted,
    ModelRetrying,
    TurnFinished,
    UsageReported,
)
from terp.limits import Limits
from terp.messages import Assistant, Image, Message, Result, ToolCall, User
from terp.models.protocol import Chunk, Retrying
from terp.models.protocol import Text as TextChunk
from terp.outputs import Error, RunEnded
from terp.testing import EchoKernel, Part, ScriptedModel, call, collect
from tests.core.sessions import of, open_session, results, untimed


async def test_an_unknown_tool_is_told_and_the_turn_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel([ToolCall("a", "nope", "{}")], "ok")
    session = open_session(tmp_path, model)
    events = await collect(session, "go")
    assert of(CodeRejected, events)[0].call_id == "c1"
    assert "Tool `nope` not found. Please use a provided tool." in results(session)[0]
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
    assert results(session)[1].endswith("[same error as before; try something else]")


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


async def test_a_summary_costs_what_any_other_request_costs(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel(ContextFull("too long"), "We talked.", "ok"))
    session.history = [User("a"), Assistant("b"), User("c"), Assistant("d")]
    events = await collect(session, "go")
    assert untimed(of(UsageReported, events)) == [UsageReported(10, 5, 0, 0.001, "scripted/model")] * 2
    assert session.spent_usd == 0.002


def _with_results(*results: Result) -> list[Message]:
    calls = tuple(call("1", id=result.call_id) for result in results)
    return [User("one"), Assistant("", calls), *results]


async def _unasked(_: Sequence[Message]) -> str:
    raise AssertionError("no summary is needed")


async def test_old_pictures_alone_are_worth_leaving_out() -> None:
    pictures = (Image("image/png", "x" * 50_000),)
    old, new, newest = Result("a", "y", pictures), Result("b", "y", pictures), Result("c", "y", pictures)
    shorter, _ = await compacted(_with_results(old, new, newest), _unasked)
    assert shorter == _with_results(Result("a", "y"), new, newest)


async def test_an_output_that_was_shortened_once_is_left_as_it_is() -> None:
    history = _with_results(Result("a", "x" * 5000), Result("b", "y"), Result("c", "z"))
    shorter, _ = await compacted(history, _unasked)
    assert "[… 4,600 characters left out …]" in str(shorter)
    with pytest.raises(ContextFull):
        await compacted(shorter, _unasked)


async def test_what_was_written_for_another_outcome_does_not_run(tmp_path: Path) -> None:
    kernel = EchoKernel({"1/0": [Error("ZeroDivisionError", "division by zero"), RunEnded("error")]})
    session = open_session(tmp_path, ScriptedModel([call("1/0"), call("2")], [call("3")], "ok"), kernel)
    events = await collect(session, "go")
    reason = "Not run: an earlier call of the same reply failed."
    assert kernel.ran == ["1/0", "3"]
    assert of(CodeRejected, events) == [CodeRejected("c2", reason)]
    assert results(session) == ["ZeroDivisionError: division by zero", reason, "3"]
