"""Turns of a session that is served, as a client sees them."""

import asyncio
from pathlib import Path

from starlette.types import Message

from terp.checks.until.goal import Goal, check_of
from terp.kernels.jupyter.local import LocalKernels
from terp.testing import EchoKernel, call
from terp_cli.server.connections import ServerLimits
from terp_cli.server.following import EventStream
from tests.cli.server.serving import SECRET, decision, events_of, names, serving, until


async def test_a_turn_is_told_as_events_to_its_end(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server:
        events = await server.asked(await server.created(), "hi")
    assert names(events) == [
        "turn_started",
        "model_called",
        "text_delta",
        "text_delta",
        "usage_reported",
        "turn_finished",
    ]
    assert events[-1]["answer"] == "hello"
    assert [event["id"] for event in events] == ["1", "2", "3", "4", "5", "6"]


async def test_a_turn_that_is_not_streamed_says_where_its_events_come(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two") as server:
        session = await server.created()
        await server.asked(session, "first")
        answer = await server.client.post(
            f"/v1/sessions/{session}/turns", json={"prompt": "second", "stream": False}
        )
        assert (answer.status_code, answer.json()) == (202, {"after": 5, "waiting": 0})
        async with server.client.stream("GET", f"/v1/sessions/{session}/events?after=5") as stream:
            started = await until(events_of(stream), "turn_started")
    assert started["prompt"] == "second"


async def test_who_comes_again_with_the_last_id_misses_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, "a long reply") as server:
        session = await server.created()
        whole = await server.asked(session, "hi")
        seen = []
        for at in range(len(whole)):
            headers = {"Last-Event-ID": str(at)}
            async with server.client.stream(
                "GET", f"/v1/sessions/{session}/events", headers=headers
            ) as again:
                seen.append(await anext(events_of(again)))
    assert seen == whole


async def test_many_clients_read_the_same(tmp_path: Path) -> None:
    async with serving(tmp_path, "an answer") as server:
        session = await server.created()

        async def follow() -> list[str]:
            async with server.client.stream("GET", f"/v1/sessions/{session}/events") as answer:
                seen = []
                async for event in events_of(answer):
                    seen.append(event["event"])
                    if event["event"] == "turn_finished":
                        return seen
            return seen

        following = [asyncio.create_task(follow()) for _ in range(5)]
        told = names(await server.asked(session, "hi"))
        assert await asyncio.gather(*following) == [told] * 5


async def test_turns_wait_for_one_another(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two", "three") as server:
        session = await server.created()
        answers = await asyncio.gather(*(server.asked(session, f"ask {number}") for number in range(3)))
    assert [(events[0]["event"], events[-1]["event"]) for events in answers] == [
        ("turn_started", "turn_finished")
    ] * 3
    assert sorted(events[-1]["answer"] for events in answers) == ["one", "three", "two"]


async def test_more_turns_than_may_wait_are_refused(tmp_path: Path) -> None:
    limits = ServerLimits(queue=1)
    async with serving(tmp_path, call(EchoKernel.ENDLESS), limits=limits) as server:
        session = await server.created()
        path = f"/v1/sessions/{session}/turns"
        statuses = [
            (await server.client.post(path, json={"prompt": "go", "stream": False})).status_code
            for _ in range(3)
        ]
        dropped = await server.client.post(f"/v1/sessions/{session}/interrupt")
    assert statuses == [202, 202, 429]
    assert dropped.json() == {"dropped": 1}


async def test_a_turn_that_waits_can_be_dropped_alone(tmp_path: Path) -> None:
    async with serving(tmp_path, call(EchoKernel.ENDLESS)) as server:
        served = server.sessions.get(await server.created())
        going, second, third = (served.ask(lambda session: session.turn("go")) for _ in range(3))
        await going.began
        dropped = [served.turns.drop(turn) for turn in (going, second, second)]
        assert (dropped, await second.began, served.turns.waiting) == ([False, True, False], -1, 1)
        assert (served.turns.busy, third.began.done()) == (True, False)


async def test_a_turn_that_waits_is_played_when_its_client_leaves(tmp_path: Path) -> None:
    async def leaves() -> Message:
        return {"type": "http.disconnect"}

    async def sent(_: Message) -> None:
        """Nobody reads it."""

    async with serving(tmp_path, call(EchoKernel.ENDLESS), "two", "three") as server:
        served = server.sessions.get(await server.created())
        going, second, third = (served.ask(lambda session: session.turn("go")) for _ in range(3))
        await EventStream(served, 0, second)({}, leaves, sent)
        await served.session.interrupt()
        async with asyncio.timeout(10):
            ends = [await turn.ended for turn in (going, second, third)]
    assert ends == sorted(ends) and ends[0] > 0


async def test_an_interrupt_ends_the_run_and_keeps_the_kernel(tmp_path: Path) -> None:
    async with serving(tmp_path, call(EchoKernel.ENDLESS), "again") as server:
        session = await server.created()
        path = f"/v1/sessions/{session}"
        async with server.client.stream("POST", f"{path}/turns", json={"prompt": "go"}) as answer:
            events = events_of(answer)
            proposed = await until(events, "code_proposed")
            await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
            await until(events, "code_started")
            await server.client.post(f"{path}/interrupt")
            finished = await until(events, "turn_finished")
        [made] = server.opener.made
        assert finished["reason"] == "interrupted"
        assert made.kernels.get("python").generation == 1


async def test_a_turn_goes_on_when_its_client_leaves(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x = 1"), "done") as server:
        session = await server.created()
        path = f"/v1/sessions/{session}"
        async with server.client.stream("POST", f"{path}/turns", json={"prompt": "go"}) as answer:
            proposed = await until(events_of(answer), "code_proposed")
        await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
        async with server.client.stream("GET", f"{path}/events") as again:
            finished = await until(events_of(again), "turn_finished")
    assert finished["answer"] == "done"


async def test_a_secret_that_comes_in_two_pieces_is_not_told(tmp_path: Path) -> None:
    async with serving(tmp_path, f"it is {SECRET}, keep it") as server:
        events = await server.asked(await server.created(), "hi")
    text = "".join(event["text"] for event in events if event["event"] == "text_delta")
    assert text == "it is [redacted], keep it"


async def test_an_empty_prompt_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        session = await server.created()
        answer = await server.client.post(f"/v1/sessions/{session}/turns", json={"prompt": " "})
    assert (answer.status_code, answer.json()["error"]["message"]) == (409, "The prompt is empty.")


async def test_a_kernel_that_did_nothing_is_closed_and_that_is_said(tmp_path: Path) -> None:
    limits = ServerLimits(idle_s=0.05)
    async with serving(tmp_path, call("x = 1"), "done", call("x"), "gone", limits=limits) as server:
        session = await server.created()
        path = f"/v1/sessions/{session}"
        async with server.client.stream("GET", f"{path}/events") as following:
            events = events_of(following)
            await server.client.post(f"{path}/turns", json={"prompt": "go", "stream": False})
            proposed = await until(events, "code_proposed")
            await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
            await until(events, "kernel_changed", state="stopped")
            said = await until(events, "noticed")
            await server.client.post(f"{path}/turns", json={"prompt": "again", "stream": False})
            proposed = await until(events, "code_proposed")
            await server.client.post(f"{path}/approvals/c2", json=decision(proposed))
            await until(events, "turn_finished")
        [made] = server.opener.made
        told = made.history[-2]
    assert said["text"] == "The python kernel did nothing for 0.05 s and was closed: its variables are gone."
    assert "[The python kernel was closed: its variables and imports are gone.]" in str(told)


async def test_a_turn_of_a_session_with_a_check_is_told_to_the_end_of_that(tmp_path: Path) -> None:
    kernels = lambda: LocalKernels(str(tmp_path))  # noqa: E731
    async with serving(tmp_path, "one", "two", kernels=kernels) as server:
        session = await server.created()
        server.opener.made[0].resources.goal = Goal(check_of("false"), max_revisions=1)
        events = await server.asked(session, "hi")
    told = [name for name in names(events) if name.startswith(("turn", "check"))]
    attempt = ["turn_started", "turn_finished", "check_started", "check_finished"]
    assert told == [*attempt, *attempt, "turn_finished"]
    assert (events[-1]["reason"], events[-1]["answer"]) == ("until_failed", "two")
