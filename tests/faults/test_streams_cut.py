"""An answer of a model that breaks off at any byte: code never runs twice, and never by half."""

from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from terp.events import CodeStarted, Event, TurnFinished
from terp.models.adapters.retrying import RetryingModel
from terp.models.building import open_adapter
from terp.person import AutoRun
from terp.session.session import Session
from terp.settings.model_settings import ModelOptions
from terp.testing import EchoKernel
from tests.core.sessions import of, unanswered
from tests.loopback import Call, Loopback, Part, Raw, Scripted, sse

REPLY: list[Part] = ["I compute.", Call(code="6 * 7")]
BODY = b"".join(sse(REPLY))


async def at_once(seconds: float) -> None:
    """No wait between tries."""


class Server(Loopback):
    """Its first answer breaks off; whoever asks again gets the whole, and who has run the code an end."""

    def take(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Scripted:
        first = super().take(path, headers, body)
        if len(self.requests) == 1:
            return first
        return "It is 42." if body["messages"][-1]["role"] == "tool" else REPLY


async def turn(folder: Path, cut: Raw) -> tuple[list[Event], Session, EchoKernel]:
    kernel = EchoKernel()
    with Server([cut]) as server:
        adapter = open_adapter(ModelOptions("openai/m", api_base=server.url), environ={})
        model = RetryingModel(adapter, retries=3, sleep=at_once)
        session = Session(model, kernel, AutoRun(), folder=folder)
        async with aclosing(session.turn("go")) as turn:
            events = [event async for event in turn]
        await session.aclose()
    return events, session, kernel


@pytest.mark.parametrize("broken", [True, False], ids=["cut", "ended"])
async def test_code_runs_once_wherever_the_answer_breaks_off(broken: bool, tmp_path: Path) -> None:
    # 13 is no part of the length of an event, so every place inside of one is met.
    for end in range(0, len(BODY), 13):
        events, session, kernel = await turn(tmp_path / str(end), Raw(BODY[:end], broken=broken))
        assert kernel.ran == ["6 * 7"], end
        assert len(of(CodeStarted, events)) == 1
        assert of(TurnFinished, events)[-1] == TurnFinished("done", "It is 42.")
        assert unanswered(session.history) == []
