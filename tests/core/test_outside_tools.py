"""Tools that whoever asks runs themselves: a reply that calls one ends its turn, and its result goes on."""

from contextlib import aclosing
from pathlib import Path

from terp.events import CodeDelta, TurnFinished, TurnStarted
from terp.events.messages import Assistant, Result, ToolCall, User
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel, call, collect
from tests.core.sessions import of, open_session, unanswered

PYTHON = {"type": "function", "function": {"name": "python", "parameters": {"type": "object"}}}
ASKED = ToolCall("call_p", "python", '{"code": "1 + 1"}')


def opened(tmp_path: Path, *replies: object) -> tuple[Session, ScriptedModel]:
    model = ScriptedModel(*replies)  # type: ignore[arg-type]
    session = open_session(tmp_path, model)
    session.resources.outside = {"python": PYTHON}
    return session, model


async def test_a_call_of_one_ends_the_turn_and_runs_nothing(tmp_path: Path) -> None:
    session, model = opened(tmp_path, ["Look. ", ASKED], "never asked for")
    events = await collect(session, "go")
    assert isinstance(session.kernels, EchoKernel)
    assert (events[-1], session.kernels.ran, of(CodeDelta, events)) == (
        TurnFinished("done", "Look. "),
        [],
        [],
    )
    assert (len(model.requests), unanswered(session.history)) == (1, [])
    assert [one["function"]["name"] for one in model.tools[0]] == ["execute", "python"]


async def test_own_calls_of_the_same_reply_are_served_first(tmp_path: Path) -> None:
    session, model = opened(tmp_path, [ASKED, call("x = 1")], "never asked for")
    await collect(session, "go")
    assert isinstance(session.kernels, EchoKernel)
    assert (session.kernels.ran, len(model.requests)) == (["x = 1"], 1)
    assert unanswered(session.history) == []


async def test_the_turn_goes_on_with_the_result(tmp_path: Path) -> None:
    session, model = opened(tmp_path, ASKED, "It is 2.")
    await collect(session, "go")
    session.history = [*session.history[:-1], Result("call_p", "2")]
    async with aclosing(session.continue_turn()) as events:
        seen = [event async for event in events]
    assert (seen[0], seen[-1]) == (TurnStarted("go", continued=True), TurnFinished("done", "It is 2."))
    assert model.requests[1][1:] == [User("go"), Assistant("", (ASKED,)), Result("call_p", "2")]
    assert len(session.turns) == 1


async def test_nothing_goes_on_when_the_model_has_had_the_last_word(tmp_path: Path) -> None:
    session, model = opened(tmp_path, "done")
    await collect(session, "go")
    async with aclosing(session.continue_turn()) as events:
        assert [event async for event in events] == []
    assert len(model.requests) == 1
