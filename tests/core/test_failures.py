"""What bounds a turn, and what becomes of failures in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from terp.errors import AuthFailed, Unavailable
from terp.events import (
    CodeRejected,
    ModelRetrying,
    TurnFinished,
)
from terp.events.kernel import KnownLanguage
from terp.events.messages import Assistant, ToolCall, User
from terp.events.model import Chunk, Retrying, TextChunk
from terp.events.outputs import Error, RunEnded
from terp.session.resources import Limits
from terp.testing import EchoKernel, Part, ScriptedModel, call, collect
from tests.core.sessions import of, open_session, results


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


async def test_several_calls_in_missing_languages_in_one_reply_are_one_failure(tmp_path: Path) -> None:
    missing = [call("x", language) for language in ("go", "kotlin", "julia")]
    session = open_session(tmp_path, ScriptedModel(missing, "I see."))
    events = await collect(session, "go")
    assert events[-1] == TurnFinished("done", "I see.")
    assert len(results(session)) == 3


async def test_a_language_that_is_missing_is_refused_with_how_to_get_it(tmp_path: Path) -> None:
    class WithoutDeno(EchoKernel):
        def known(self) -> Sequence[KnownLanguage]:
            return (*super().known(), KnownLanguage(("javascript", "typescript"), "", "pip install deno."))

    session = open_session(tmp_path, ScriptedModel([call("let a: number", "ts")]), WithoutDeno())
    await collect(session, "go")
    assert results(session) == [
        "`ts` cannot run here; `language` is one of: python. The user can add it: pip install deno."
    ]


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


async def test_what_was_written_for_another_outcome_does_not_run(tmp_path: Path) -> None:
    kernel = EchoKernel({"1/0": [Error("ZeroDivisionError", "division by zero"), RunEnded("error")]})
    session = open_session(tmp_path, ScriptedModel([call("1/0"), call("2")], [call("3")], "ok"), kernel)
    events = await collect(session, "go")
    why = "an earlier call of the same reply failed."
    assert kernel.ran == ["1/0", "3"]
    assert of(CodeRejected, events) == [CodeRejected("c2", why)]
    assert results(session) == ["ZeroDivisionError: division by zero", f"Not run: {why}", "3"]
