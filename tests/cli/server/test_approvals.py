"""Code runs when a client approved exactly what was shown, once, and never otherwise."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from terp.events.outputs import InputRequest
from terp.session.proposals import digest_of
from terp.testing import EchoKernel, call
from terp_cli.server.connections import ServerLimits
from tests.cli.server.serving import Running, decision, events_of, names, serving, until

Events = AsyncGenerator[dict[str, Any], None]


@asynccontextmanager
async def asked(server: Running, prompt: str = "go") -> AsyncGenerator[tuple[str, Events], None]:
    """The path of a new session, and the events of its turn."""
    path = f"/v1/sessions/{await server.created()}"
    async with server.client.stream("POST", f"{path}/turns", json={"prompt": prompt}) as answer:
        yield path, events_of(answer)


def ran(server: Running) -> list[str]:
    found: list[str] = []
    for session in server.opener.made:
        assert isinstance(session.kernels, EchoKernel)
        found += session.kernels.ran
    return found


async def test_approved_code_runs_and_the_answer_says_by_whom(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "done") as server, asked(server) as (path, events):
        proposed = await until(events, "code_proposed")
        answer = await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
        answered = await until(events, "answered")
        finished = await until(events, "turn_finished")
        assert (answer.status_code, answered["by"], finished["reason"]) == (200, "client", "done")
        assert ran(server) == ["x = 1"]


async def test_declined_code_does_not_run_and_the_model_hears_why(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "fine") as server, asked(server) as (path, events):
        proposed = await until(events, "code_proposed")
        body = decision(proposed, decision="decline", reason="not today")
        await server.client.post(f"{path}/approvals/c1", json=body)
        declined = await until(events, "code_declined")
        await until(events, "turn_finished")
        assert declined["reason"] == "not today"
        assert ran(server) == []
        assert "not today" in str(server.opener.made[0].history)


async def test_edited_code_is_proposed_again_and_runs_when_that_is_approved(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "done") as server, asked(server) as (path, events):
        proposed = await until(events, "code_proposed")
        await server.client.post(f"{path}/approvals/c1", json=decision(proposed, code="x = 2"))
        again = await until(events, "code_proposed")
        assert (again["code"], again["digest"], ran(server)) == ("x = 2", digest_of("x = 2"), [])
        old = await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
        assert (old.status_code, old.json()["error"]["code"]) == (409, "other_code")
        await server.client.post(f"{path}/approvals/c1", json=decision(again))
        await until(events, "turn_finished")
        assert ran(server) == ["x = 2"]


@pytest.mark.parametrize(
    ("call_id", "digest", "status"),
    [
        ("c1", digest_of("x = 2"), 409),
        ("c1", "0" * 64, 409),
        ("c1", "", 422),
        ("c1", digest_of("x = 1").upper(), 422),
        ("c1", digest_of("x = 1") + "0", 422),
        ("c2", digest_of("x = 1"), 404),
        ("q1", digest_of("x = 1"), 404),
    ],
)
async def test_an_approval_of_what_was_not_shown_runs_nothing(
    tmp_path: Path, call_id: str, digest: str, status: int
) -> None:
    async with serving(tmp_path, call("x = 1"), "done") as server, asked(server) as (path, events):
        await until(events, "asked")
        body = {"digest": digest, "decision": "run"}
        answer = await server.client.post(f"{path}/approvals/{call_id}", json=body)
        assert (answer.status_code, ran(server)) == (status, [])


async def test_an_approval_cannot_be_sent_again(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, call("x = 1"), call("x = 1"), "done") as server,
        asked(server) as (path, events),
    ):
        proposed = await until(events, "code_proposed")
        statuses = [
            (await server.client.post(f"{path}/approvals/c1", json=decision(proposed))).status_code
            for _ in range(2)
        ]
        # The same code asked for again is another call.
        await until(events, "code_proposed", call_id="c2")
        replayed = await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
        assert (statuses[0], statuses[1] in (404, 409), replayed.status_code) == (200, True, 404)
        assert ran(server) == ["x = 1"]


async def test_one_session_cannot_approve_for_another(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "done") as server, asked(server) as (_, events):
        proposed = await until(events, "code_proposed")
        other = await server.created()
        answer = await server.client.post(f"/v1/sessions/{other}/approvals/c1", json=decision(proposed))
        assert (answer.status_code, ran(server)) == (404, [])


async def test_of_two_clients_that_race_one_answers(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "done") as server, asked(server) as (path, events):
        proposed = await until(events, "code_proposed")
        bodies = [decision(proposed), decision(proposed, decision="decline", reason="no")] * 5
        answers = await asyncio.gather(
            *(server.client.post(f"{path}/approvals/c1", json=body) for body in bodies)
        )
        assert sorted({answer.status_code for answer in answers} - {404, 409}) == [200]
        assert [answer.status_code for answer in answers].count(200) == 1
        await until(events, "turn_finished")
        assert len(ran(server)) == (1 if answers[0].status_code == 200 or names_run(answers) else 0)


def names_run(answers: list[Any]) -> bool:
    """Whether the answer that counted was one of those that run the code."""
    return [answer.status_code for answer in answers].index(200) % 2 == 0


async def test_code_that_nobody_is_there_to_answer_for_is_declined(tmp_path: Path) -> None:
    limits = ServerLimits(patience_s=0.05)
    async with serving(tmp_path, call("x = 1"), "done", limits=limits) as server:
        async with asked(server) as (path, events):
            await until(events, "asked")
        await server.opener.made[0].idle()
        async with server.client.stream("GET", f"{path}/events") as answer:
            seen = []
            async for event in events_of(answer):
                seen.append(event)
                if event["event"] == "turn_finished":
                    break
        assert names(seen)[-2:] == ["code_declined", "turn_finished"]
        assert seen[-2]["reason"] == "nobody was connected to answer"
        assert ran(server) == []


async def test_an_approval_that_comes_after_the_refusal_runs_nothing(tmp_path: Path) -> None:
    limits = ServerLimits(patience_s=0.05)
    async with serving(tmp_path, call("x = 1"), "done", limits=limits) as server:
        async with asked(server) as (path, events):
            proposed = await until(events, "code_proposed")
        await server.opener.made[0].idle()
        answer = await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
        assert (answer.status_code, ran(server)) == (404, [])


async def test_an_interrupted_proposal_cannot_be_approved(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "done") as server, asked(server) as (path, events):
        proposed = await until(events, "code_proposed")
        await server.client.post(f"{path}/interrupt")
        await until(events, "turn_finished")
        answer = await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
        assert (answer.status_code, ran(server)) == (404, [])


async def test_a_line_that_code_waits_for_is_typed_by_a_client(tmp_path: Path) -> None:
    kernel = EchoKernel({"input()": [InputRequest("name? ", secret=True)]})
    async with (
        serving(tmp_path, call("input()"), "done", kernels=lambda: kernel) as server,
        asked(server) as (path, events),
    ):
        proposed = await until(events, "code_proposed")
        await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
        question = await until(events, "asked", kind="input")
        [shown] = (await server.client.get(path)).json()["questions"]
        wrong = await server.client.post(f"{path}/answers/{question['question_id']}", json={"answer": True})
        right = await server.client.post(f"{path}/answers/{question['question_id']}", json={"answer": "Ada"})
        answered = await until(events, "answered")
        await until(events, "turn_finished")
    assert (shown["kind"], shown["what"], shown["secret"]) == ("input", "name? ", True)
    assert (wrong.status_code, right.status_code, answered["answer"]) == (422, 200, "")
    assert kernel.typed == ["Ada"]


async def test_code_is_not_approved_as_an_answer(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "done") as server, asked(server) as (path, events):
        question = await until(events, "asked")
        answers = [
            await server.client.post(f"{path}/answers/{question['question_id']}", json={"answer": given})
            for given in (True, "run", "y")
        ]
        assert [answer.status_code for answer in answers] == [409, 409, 409]
        assert ran(server) == []
