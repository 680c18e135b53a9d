"""A last message that is sent again, or edited, goes on in its session, as if the first had not been said."""

import asyncio
from pathlib import Path

import pytest

from terp.events.outputs import InputRequest
from terp.testing import EchoKernel, ScriptedModel, call
from tests.cli.server.openai.asking import ASKS, assistant, openai_client, said, user
from tests.cli.server.serving import ResistingKernel, serving


@pytest.mark.parametrize("again", ["b", "c"], ids=["again", "edited"])
async def test_a_last_message_again_or_edited_winds_the_session_back(tmp_path: Path, again: str) -> None:
    model = ScriptedModel("one", "two", "three", "four")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        first = await said(client, user("a"))
        await said(client, user("a"), assistant(first), user("b"))
        third = await said(client, user("a"), assistant(first), user(again))
        await said(client, user("a"), assistant(first), user(again), assistant(third), user("d"))
        [session] = server.opener.made
    assert third == "three"
    assert [turn.prompt for turn in session.turns] == ["a", again, "d"]
    assert [getattr(message, "text", "") for message in model.requests[2]][:3] == ["Be brief.", "a", "one"]


async def test_a_question_that_was_answered_is_wound_back_to_before_its_turn(tmp_path: Path) -> None:
    replies = call("x"), "one", call("x"), "two"
    async with serving(tmp_path, *replies) as server, openai_client(server) as client:
        asked = await said(client, user("a"))
        await said(client, user("a"), assistant(asked), user("yes"))
        again = await said(client, user("a"), assistant(asked), user("yes"))
        done = await said(client, user("a"), assistant(asked), user("yes"), assistant(again), user("yes"))
        assert len(server.opener.made) == 1
    assert (again, done) == (asked, "```output\nx\n```\n\ntwo")


async def test_a_question_that_waits_is_wound_back_with_its_turn(tmp_path: Path) -> None:
    replies = "one", call("x"), "two"
    async with serving(tmp_path, *replies) as server, openai_client(server) as client:
        past = [user("a"), assistant(await said(client, user("a")))]
        asked = await said(client, *past, user("b"))
        other = await said(client, *past, user("c"))
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        assert (asked.endswith(ASKS), other, session.kernels.ran) == (True, "two", [])


async def test_code_that_asks_and_resists_is_wound_back_without_its_kernel(tmp_path: Path) -> None:
    kernel = ResistingKernel({"input()": [InputRequest("name? ")]})
    replies = "one", call("input()"), "two"
    async with (
        serving(tmp_path, *replies, kernels=lambda: kernel) as server,
        openai_client(server) as client,
    ):
        past = [user("a"), assistant(await said(client, user("a")))]
        asked = await said(client, *past, user("b"))
        await said(client, *past, user("b"), assistant(asked), user("yes"))
        other = await said(client, *past, user("c"))
        assert (other, kernel.interrupts, len(server.opener.made)) == ("two", 2, 1)


async def test_a_way_that_was_left_goes_on_in_another_session(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two", "three") as server, openai_client(server) as client:
        past = [user("a"), assistant(await said(client, user("a")))]
        left = await said(client, *past, user("b"))
        await said(client, *past, user("c"))
        await said(client, *past, user("b"), assistant(left), user("d"))
        assert [len(session.turns) for session in server.opener.made] == [2, 3]


async def test_a_conversation_that_is_answered_now_is_wound_back_by_nobody(tmp_path: Path) -> None:
    replies = "one", call(EchoKernel.ENDLESS)
    async with serving(tmp_path, *replies) as server, openai_client(server) as client:
        past = [user("a"), assistant(await said(client, user("a")))]
        asked = await said(client, *past, user("b"))
        running = asyncio.create_task(said(client, *past, user("b"), assistant(asked), user("yes")))
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        await session.kernels.busy()
        await said(client, *past, user("c"))
        assert len(server.opener.made) == 2
        running.cancel()
