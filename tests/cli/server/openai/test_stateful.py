"""One conversation for all clients, as Open Interpreter's server has it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from fastapi import APIRouter

from terp.testing import EchoKernel, Scripted, ScriptedModel, call
from terp_cli.server.openai import routes
from terp_cli.server.openai.threads import Stateful
from terp_cli.server.opening import SessionRequest
from terp_cli.server.sessions import Served, Sessions
from tests.cli.server.openai.asking import ASKS, assistant, openai_client, said, user
from tests.cli.server.serving import Running, serving


class Shared:
    """One session, made when it is asked for."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._served: Served | None = None

    async def __call__(self) -> Served:
        if self._served is None:
            self._served = await self._sessions.new(SessionRequest())
        return self._served


@asynccontextmanager
async def compatible(
    folder: Path, *replies: Scripted, switches: list[bool] | None = None
) -> AsyncGenerator[tuple[Running, openai.AsyncOpenAI, ScriptedModel], None]:
    """A server with the one conversation, a client of it, and its model."""
    model = ScriptedModel(*replies)

    def also(sessions: Sessions) -> APIRouter:
        auto_run = None if switches is None else switches.append
        return routes.router(sessions, stateful=Stateful(Shared(sessions), auto_run))

    async with (
        serving(folder, model=lambda: model, also=also) as server,
        openai_client(server, "/openai") as client,
    ):
        yield server, client, model


async def answer(server: Running, text: str) -> Any:
    """The body of an answer: null for a switch, else its text."""
    body = {"model": "gpt-4o", "messages": [user(text)]}
    told = (await server.client.post("/openai/chat/completions", json=body)).json()
    return told if told is None or "choices" not in told else told["choices"][0]["message"]["content"]


async def test_only_the_last_message_counts(tmp_path: Path) -> None:
    async with compatible(tmp_path, "one", "two") as (server, client, model):
        await said(client, {"role": "system", "content": "Be loud."}, user("a"))
        await said(client, user("never"), assistant("said"), user("b"))
        assert len(server.opener.made) == 1
    told = [getattr(message, "text", "") for message in model.requests[1]]
    assert told == ["Be brief.", "a", "one", "b"]


async def test_the_last_message_must_be_of_the_user(tmp_path: Path) -> None:
    async with compatible(tmp_path) as (_, client, _):
        with pytest.raises(openai.BadRequestError):
            await said(client, user("a"), assistant("b"))


async def test_yes_runs_the_code_that_was_shown(tmp_path: Path) -> None:
    async with compatible(tmp_path, call("x"), "done") as (server, client, _):
        assert await said(client, user("go")) == f"```python\nx\n```\n\n{ASKS}"
        assert await said(client, user("yes.")) == "```output\nx\n```\n\ndone"
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        assert session.kernels.ran == ["x"]


async def test_another_message_declines_it(tmp_path: Path) -> None:
    async with compatible(tmp_path, call("x"), "fine") as (_, client, _):
        await said(client, user("go"))
        assert await said(client, user("use y")) == "> Not run: use y\n\nfine"


@pytest.mark.parametrize(
    ("on", "off"),
    [("{CONTEXT_MODE_ON}", "{CONTEXT_MODE_OFF}"), ("{REQUIRE_START_ON}", "{REQUIRE_START_OFF}")],
)
async def test_messages_are_gathered_until_they_are_to_be_answered(tmp_path: Path, on: str, off: str) -> None:
    async with compatible(tmp_path, "both", "at once", "again") as (server, _, model):
        quiet = [await answer(server, text) for text in ("{START}", on, "a", "b")]
        assert (quiet, model.requests) == ([None] * 4, [])
        assert await answer(server, "{START}") == "both"
        assert await answer(server, "c") == "at once"
        assert await answer(server, off) is None
        assert await answer(server, "d") == "again"
        prompts = [past.prompt for past in server.opener.made[0].turns]
    assert prompts == ["a\n\nb", "c", "d"]


async def test_stop_ends_what_goes_on(tmp_path: Path) -> None:
    async with compatible(tmp_path, call("x")) as (server, client, _):
        await said(client, user("go"))
        [session] = server.opener.made
        assert await answer(server, "{STOP}") is None
        await session.idle()
        assert isinstance(session.kernels, EchoKernel)
        assert (session.kernels.ran, await answer(server, "yes")) == ([], "done")


async def test_code_runs_unasked_only_where_clients_may_say_so(tmp_path: Path) -> None:
    switches: list[bool] = []
    async with compatible(tmp_path, switches=switches) as (server, _, _):
        assert [await answer(server, text) for text in ("{AUTO_RUN_ON}", "{AUTO_RUN_OFF}")] == [None, None]
    (tmp_path / "safe").mkdir()
    async with compatible(tmp_path / "safe") as (server, _, _):
        refused = await answer(server, "{AUTO_RUN_ON}")
        assert (refused["error"]["code"], await answer(server, "{AUTO_RUN_OFF}")) == ("not_allowed", None)
    assert switches == [True, False]


async def test_no_more_is_gathered_than_can_be_answered(tmp_path: Path) -> None:
    def also(sessions: Sessions) -> APIRouter:
        return routes.router(sessions, stateful=Stateful(Shared(sessions), most_gathered=1_000))

    async with serving(tmp_path, "all of it", also=also) as server:
        assert await answer(server, "{CONTEXT_MODE_ON}") is None
        assert await answer(server, "x" * 800) is None
        body = {"model": "gpt-4o", "messages": [user("x")]}
        refused = await server.client.post("/openai/chat/completions", json=body)
        answered = await answer(server, "{START}")
    assert (refused.status_code, answered) == (413, "all of it")
