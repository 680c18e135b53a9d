"""Whatever is asked in a turn ends an answer, and the next message answers it."""

from pathlib import Path
from typing import Any

import openai
import pytest

from terp.events.outputs import BackCall, InputRequest, Text
from terp.person import Choice, Consent, Option
from terp.testing import EchoKernel, call
from tests.cli.server.openai.asking import ASKS, assistant, openai_client, said, user
from tests.cli.server.serving import decision, events_of, serving, until


async def test_a_line_that_code_waits_for_is_the_next_message(tmp_path: Path) -> None:
    kernel = EchoKernel({"input()": [InputRequest("name? "), Text("stdout", "hello\n")]})
    async with (
        serving(tmp_path, call("input()"), "done", kernels=lambda: kernel) as server,
        openai_client(server) as client,
    ):
        messages = [user("go")]
        answers = []
        for text in ("yes", " Ada ", ""):
            answers.append(await said(client, *messages))
            messages += [assistant(answers[-1]), user(text)]
    assert answers[1:] == [
        "```output\nname? \n```\n\nThe code waits for a line: name?",
        "```output\nhello\n```\n\ndone",
    ]
    assert kernel.typed == ["Ada"]


CHOICE = Choice("Where?", (Option("h", "here"), Option("t", "there")), "It matters.")


@pytest.mark.parametrize(
    ("question", "words", "reply", "chosen"),
    [
        (
            Consent("install numpy", "It is missing."),
            "install numpy\n\nIt is missing.\n\nyes or no?",
            "Yes!",
            True,
        ),
        (Consent("install numpy"), "install numpy\n\nyes or no?", "maybe", False),
        (CHOICE, "Where?\n\nIt matters.\n\n- h: here\n- t: there", " t ", "t"),
        (CHOICE, "Where?\n\nIt matters.\n\n- h: here\n- t: there", "nowhere", ""),
    ],
)
async def test_consent_and_choices_are_asked_for(
    tmp_path: Path, question: Consent | Choice, words: str, reply: str, chosen: str | bool
) -> None:
    kernel = EchoKernel({"x": [BackCall("ask", {})]})
    async with (
        serving(tmp_path, call("x"), "done", kernels=lambda: kernel) as server,
        openai_client(server) as client,
    ):
        asked = await said(client, user("go"))
        dialog = server.opener.made[0].dialog

        async def ask(*_: Any) -> Any:
            return await (
                dialog.allow(question) if isinstance(question, Consent) else dialog.choose(question)
            )

        server.opener.made[0].offer("ask", ask)
        messages = [user("go"), assistant(asked), user("yes")]
        again = await said(client, *messages)
        assert await said(client, *messages, assistant(again), user(reply)) == "done"
    assert (again, kernel.answers) == (words, [(chosen, "")])


async def test_code_that_was_edited_elsewhere_is_not_what_yes_runs(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "done") as server, openai_client(server) as client:
        asked = await said(client, user("go"))
        [session] = server.opener.made
        path = f"/v1/sessions/{session.folder.name}"
        [question] = (await server.client.get(path)).json()["questions"]
        await server.client.post(f"{path}/approvals/c1", json=decision(question, code="x = 2"))
        again = await said(client, user("go"), assistant(asked), user("yes"))
        assert isinstance(session.kernels, EchoKernel)
        before = list(session.kernels.ran)
        done = await said(client, user("go"), assistant(asked), user("yes"), assistant(again), user("yes"))
        assert (again, before) == (f"```python\nx = 2\n```\n\n{ASKS}", [])
        assert (done, session.kernels.ran) == ("```output\nx = 2\n```\n\ndone", ["x = 2"])


async def test_yes_to_code_that_somebody_else_let_run_brings_what_came_of_it(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "done", "more") as server, openai_client(server) as client:
        asked = await said(client, user("go"))
        [session] = server.opener.made
        path = f"/v1/sessions/{session.folder.name}"
        [question] = (await server.client.get(path)).json()["questions"]
        async with server.client.stream("GET", f"{path}/events") as following:
            events = events_of(following)
            await server.client.post(f"{path}/approvals/c1", json=decision(question))
            await until(events, "turn_finished")
        done = await said(client, user("go"), assistant(asked), user("yes"))
        more = await said(client, user("go"), assistant(asked), user("yes"), assistant(done), user("yes"))
    assert (done, more) == ("```output\nx = 1\n```\n\ndone", "more")


async def test_code_of_one_conversation_is_not_what_another_runs(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x"), "done") as server, openai_client(server) as client:
        asked = await said(client, user("go"))
        await said(client, user("another"), assistant(asked), user("yes"))
        ran = [
            session.kernels.ran for session in server.opener.made if isinstance(session.kernels, EchoKernel)
        ]
    assert ran == [[], []]


async def test_a_question_that_was_not_put_here_is_not_answered_here(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x"), "done") as server, openai_client(server) as client:
        session = await server.created()
        body = {"prompt": "go", "stream": False}
        await server.client.post(f"/v1/sessions/{session}/turns", json=body)
        while not server.sessions.get(session).questions.all():
            await server.opener.made[0].log.changed()
        with pytest.raises(openai.ConflictError):
            await said(
                client.with_options(max_retries=0), user("yes"), extra_headers={"X-Terp-Session": session}
            )
        [made] = server.opener.made
        assert isinstance(made.kernels, EchoKernel)
        assert made.kernels.ran == []
