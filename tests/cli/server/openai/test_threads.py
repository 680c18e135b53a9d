"""Which session a conversation goes on in, where that is not plain."""

import asyncio
from pathlib import Path

from terp.testing import EchoKernel, ScriptedModel, call
from terp_cli.server.openai.forms import ChatMessage
from terp_cli.server.openai.requests import fingerprint
from terp_cli.server.opening import SessionRequest
from tests.cli.server.openai.asking import ASKS, assistant, openai_client, said, user
from tests.cli.server.serving import serving


async def test_a_session_that_was_closed_meanwhile_is_opened_again(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        first = await said(client, user("a"))
        await server.sessions.close(server.opener.made[0].folder.name)
        assert await said(client, user("a"), assistant(first), user("b")) == "two"
        folders = {session.folder for session in server.opener.made}
    assert (len(folders), len(server.opener.made)) == (1, 2)


async def test_a_session_that_was_removed_meanwhile_is_begun_anew(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        first = await said(client, user("a"))
        await server.sessions.delete(server.opener.made[0].folder.name)
        assert await said(client, user("a"), assistant(first), user("b")) == "two"
        assert len({session.folder for session in server.opener.made}) == 2
    assert [getattr(message, "text", "") for message in model.requests[1]] == ["Be brief.", "a", "one", "b"]


async def test_answers_of_one_session_wait_for_one_another(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x"), "one", "two") as server, openai_client(server) as client:
        headers = {"X-Terp-Session": await server.created()}
        asked = await said(client, user("a"), extra_headers=headers)
        waiting = asyncio.create_task(said(client, user("yes"), extra_headers=headers))
        done = await waiting
        both = await asyncio.gather(*(said(client, user(text), extra_headers=headers) for text in ("b", "c")))
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        assert session.kernels.ran == ["x"]
    assert (asked, done) == (f"```python\nx\n```\n\n{ASKS}", "```output\nx\n```\n\none")
    assert sorted(both) == ["done", "two"]


def test_white_space_and_the_form_of_content_do_not_make_another_past() -> None:
    parts = ChatMessage(role="user", content=[{"type": "text", "text": "a "}])
    same = [fingerprint([one], SessionRequest()) for one in (ChatMessage(role="user", content="a"), parts)]
    others = [
        fingerprint([ChatMessage(role="user", content="b")], SessionRequest()),
        fingerprint([ChatMessage(role="assistant", content="a")], SessionRequest()),
        fingerprint([ChatMessage(role="user", content="a")], SessionRequest(model="other")),
        fingerprint([ChatMessage(role="user", content="a")], SessionRequest(settings={"temperature": 0.5})),
    ]
    assert len({*same}) == 1
    assert len({*same, *others}) == 5
