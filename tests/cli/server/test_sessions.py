"""Sessions of a server: made, listed, gone on with, copied, removed; and how many there may be."""

import asyncio
import json
from importlib import import_module
from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.kernels.jupyter.local import LocalKernels
from terp.settings import Settings
from terp.settings.places import find_places
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, call
from terp_cli.server.access import ServerToken
from terp_cli.server.connections import ServerLimits
from terp_cli.server.opening import OF_CLIENTS, SessionRequest, SettingsOpener, checked_settings, settings_for
from terp_cli.server.workspaces import Workspaces
from tests.cli.server.serving import BYTES, SECRET, TOKEN, serving


async def test_a_session_is_made_without_a_kernel(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        answer = (await server.client.post("/v1/sessions", json={})).json()
        [made] = server.opener.made
    assert answer == {
        "id": made.folder.name,
        "model": "scripted/model",
        "profile": "default",
        "cwd": str(tmp_path / "state" / "work" / made.folder.name),
        "tier": "none",
        "approve": "before",
        "turns": 0,
        "busy": False,
        "waiting": 0,
        "following": 0,
        "last": 0,
        "spent_usd": 0.0,
        "usage": {
            "calls": 0,
            "input_tokens": 0,
            "output_tokens": 0,
            "cached_tokens": 0,
            "cost_usd": 0.0,
            "unpriced_calls": 0,
            "seconds": 0.0,
        },
        "questions": [],
        "pending": [],
    }
    assert made.kernels.get("python").generation == 0


async def test_a_closed_session_is_listed_and_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server:
        session = await server.created()
        await server.asked(session, "first")
        closed = await server.client.post(f"/v1/sessions/{session}/close")
        [row] = (await server.client.get("/v1/sessions")).json()["sessions"]
        gone = await server.client.get(f"/v1/sessions/{session}")
        again = await asyncio.gather(
            *(server.client.post(f"/v1/sessions/{session}/resume", json={}) for _ in range(3))
        )
    assert (closed.status_code, row["title"], row["open"], row["turns"]) == (204, "first", False, 1)
    assert (gone.status_code, gone.json()["error"]["code"]) == (409, "not_open")
    assert [(answer.status_code, answer.json()["turns"]) for answer in again] == [(200, 1)] * 3
    assert len(server.opener.made) == 2


async def test_events_of_before_a_session_was_resumed_can_be_read(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server:
        session = await server.created()
        before = await server.asked(session, "first")
        await server.client.post(f"/v1/sessions/{session}/close")
        await server.client.post(f"/v1/sessions/{session}/resume", json={})
        seen = []
        async with server.client.stream("GET", f"/v1/sessions/{session}/events") as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    seen.append(json.loads(line[6:]))
                if seen and seen[-1]["event"] == "session_resumed":
                    break
    kept = [event["number"] for event in before if event["event"] != "text_delta"]
    assert [event["number"] for event in seen if event["event"] != "text_delta"][:-1] == kept
    assert "".join(event["text"] for event in seen if event["event"] == "text_delta") == "hello"


async def test_a_fork_has_the_past_and_files_of_its_own(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server:
        session = await server.created()
        early = await server.client.post(f"/v1/sessions/{session}/fork")
        await server.client.put(f"/v1/sessions/{session}/files/a", content=b"one", headers=BYTES)
        await server.asked(session, "first")
        copy = (await server.client.post(f"/v1/sessions/{session}/fork")).json()["id"]
        await server.client.post(f"/v1/sessions/{copy}/resume", json={})
        await server.client.put(f"/v1/sessions/{copy}/files/a", content=b"two", headers=BYTES)
        contents = [
            (await server.client.get(f"/v1/sessions/{one}/files/a")).content for one in (session, copy)
        ]
        turns = (await server.client.get(f"/v1/sessions/{copy}")).json()["turns"]
    assert (early.status_code, turns, contents) == (409, 1, [b"one", b"two"])


async def test_another_model_answers_and_the_kernel_keeps_its_variables(tmp_path: Path) -> None:
    async with serving(tmp_path, [call("1")], "done", kernels=EchoKernel) as server:
        session = await server.created()
        kernel = server.opener.made[0].kernels.get("python")
        path = f"/v1/sessions/{session}"
        changed = await server.client.patch(path, json={"model": "scripted/other", "profile": "careful"})
        told = (await server.client.get(path)).json()
        [made] = server.opener.made
    assert (changed.status_code, told["model"], told["profile"]) == (200, "scripted/other", "careful")
    assert made.kernels.get("python") is kernel


async def test_a_session_and_its_copy_have_titles_of_their_own(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server:
        session = await server.created()
        await server.asked(session, "first")
        path = f"/v1/sessions/{session}"
        await server.client.patch(path, json={"title": f"Sales of {SECRET}"})
        copy = (await server.client.post(f"{path}/fork", json={"title": "Another way"})).json()["id"]
        rows = (await server.client.get("/v1/sessions")).json()["sessions"]
    titles = {row["id"]: row["title"] for row in rows}
    assert titles[copy] == "Another way"
    assert titles[session].startswith("Sales of ")
    assert SECRET not in titles[session]


async def test_turns_are_undone_from_the_last_one(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two", "three") as server:
        session = await server.created()
        for prompt in ("first", "second", "third"):
            await server.asked(session, prompt)
        path = f"/v1/sessions/{session}/rewind"
        undone = await server.client.post(path, json={"turns": 2})
        too_many = await server.client.post(path, json={"turns": 2})
        [made] = server.opener.made
        left = [turn.prompt for turn in made.turns]
    assert (undone.json()["turns"], left) == (2, ["first"])
    assert (too_many.status_code, too_many.json()["error"]["code"]) == (409, "no_turn")


async def test_a_session_that_is_deleted_leaves_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server:
        session = await server.created()
        await server.asked(session, "first")
        await server.client.put(f"/v1/sessions/{session}/files/a", content=b"one", headers=BYTES)
        deleted = await server.client.delete(f"/v1/sessions/{session}")
        again = await server.client.delete(f"/v1/sessions/{session}")
    assert (deleted.status_code, again.status_code) == (204, 404)
    assert list(tmp_path.rglob(f"*{session}*")) == []


async def test_sessions_of_other_directories_are_not_there(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server:
        session = await server.created()
        await server.asked(session, "first")
        await server.client.post(f"/v1/sessions/{session}/close")
        log = server.sessions.workspaces.places.sessions / session / "events.jsonl"
        log.write_text(log.read_text().replace(str(server.sessions.workspaces.work), "/elsewhere"))
        listed = (await server.client.get("/v1/sessions")).json()
        answers = [
            (await server.client.request(method, f"/v1/sessions/{session}{path}", json={})).status_code
            for method, path in (("POST", "/resume"), ("DELETE", ""), ("GET", ""))
        ]
    assert (listed, answers, log.exists()) == ({"sessions": []}, [404, 404, 404], True)


@pytest.mark.parametrize(
    "name", ["..", "%2e%2e", "..%2f..", "2026-01-01-00000000", "x" * 300, "events.jsonl"]
)
async def test_no_id_leads_out_of_the_sessions(tmp_path: Path, name: str) -> None:
    async with serving(tmp_path) as server:
        answer = await server.client.delete(f"{server.url}/v1/sessions/{name}")
    assert answer.status_code in (404, 405)


async def test_the_session_that_was_idle_for_longest_makes_room(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello", limits=ServerLimits(sessions=2)) as server:
        ids = [await server.created() for _ in range(2)]
        await server.asked(ids[0], "first")
        third = await server.created()
        assert {served.id for served in server.sessions.open} == {ids[0], third}


async def test_sessions_that_are_opened_at_once_stay_within_the_limit(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(sessions=1)) as server:
        await server.created()
        opening = (server.sessions.new(SessionRequest()) for _ in range(2))
        await asyncio.gather(*opening, return_exceptions=True)
        assert len(server.sessions.open) == 1


async def test_a_session_that_is_at_work_is_not_closed_for_another(tmp_path: Path) -> None:
    limits = ServerLimits(sessions=1)
    async with serving(tmp_path, call(EchoKernel.ENDLESS), limits=limits) as server:
        session = await server.created()
        await server.client.post(f"/v1/sessions/{session}/turns", json={"prompt": "go", "stream": False})
        refused = await server.client.post("/v1/sessions", json={})
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "full")


async def test_no_more_clients_follow_than_may(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(watchers=1)) as server:
        path = f"/v1/sessions/{await server.created()}/events"
        async with server.client.stream("GET", path) as first:
            await anext(first.aiter_lines())
            second = await server.client.get(path)
    assert (second.status_code, second.json()["error"]["code"]) == (429, "too_many")


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        "{" * 1_000,
        json.dumps({str(number): 0 for number in range(200_000)}),
        json.dumps({"settings": {str(number): 0 for number in range(200_000)}}),
        '{"cwd": "' + "\\ud800" + '"}',
        "NaN",
        "\xff",
        "",
    ],
)
async def test_a_body_without_sense_is_refused_in_few_words(tmp_path: Path, body: str) -> None:
    headers = {"Content-Type": "application/json"}
    async with serving(tmp_path) as server:
        answer = await server.client.post("/v1/sessions", content=body.encode("latin-1"), headers=headers)
        alive = await server.client.get("/heartbeat")
    assert (answer.status_code in (400, 409, 415, 422), alive.status_code) == (True, 200)
    assert len(answer.content) < 10_000


async def test_a_body_that_is_too_long_or_too_slow_is_refused(tmp_path: Path) -> None:
    limits = ServerLimits(body=1_000, stall_s=0.1)
    async with serving(tmp_path, limits=limits) as server:
        announced = await server.client.post("/v1/sessions", json={"model": "x" * 2_000})
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        lines = [
            "POST /v1/sessions HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            f"Authorization: Bearer {TOKEN}",
            "Content-Type: application/json",
            "Content-Length: 500",
        ]
        writer.write("\r\n".join([*lines, "", '{"mo']).encode())
        slow = await reader.readuntil(b"\r\n")
        writer.transport.abort()
    assert (announced.status_code, slow.split()[1]) == (413, b"408")


async def test_a_body_that_trickles_is_let_go(tmp_path: Path) -> None:
    limits = ServerLimits(stall_s=0.1, slowest=10**9)
    async with serving(tmp_path, limits=limits) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        head = (
            f"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Authorization: Bearer {TOKEN}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
        )
        writer.write(head.encode())
        answered = asyncio.create_task(reader.readline())
        while not answered.done():
            writer.write(b" ")
            await asyncio.wait({answered}, timeout=0.01)
        writer.close()
    assert answered.result() == b"HTTP/1.1 408 Request Timeout\r\n"


async def test_a_header_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        answer = await server.client.get("/heartbeat", headers={"X-Long": "x" * 100_000})
        alive = await server.client.get("/heartbeat")
    assert (answer.status_code, alive.status_code) == (431, 200)


async def test_no_secret_is_in_an_error_or_in_the_log(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        answers = [
            await server.client.post("/v1/sessions", json={"model": [TOKEN], SECRET: SECRET}),
            await server.client.get(f"/v1/sessions/nothing?key={SECRET}"),
            await server.client.get("/v1/sessions/nothing/events", headers={"Last-Event-ID": SECRET}),
        ]
    assert SECRET not in "".join(answer.text for answer in answers).replace(f"body.{SECRET}", "")
    assert TOKEN not in "".join(answer.text for answer in answers)
    assert (SECRET in str(server.log), TOKEN in str(server.log)) == (False, False)


async def test_a_wrong_setting_is_named_and_never_quoted(tmp_path: Path) -> None:
    wrong = [{"max_output_chars": 499}, {"max_tokens": "many"}, {"auto_run": True}]
    async with serving(tmp_path) as server:
        answers = [await server.client.post("/v1/sessions", json={"settings": one}) for one in wrong]
    assert [answer.status_code for answer in answers] == [422, 422, 422]
    assert "max_output_chars must be a whole number, from 500 to 10000000." in answers[0].text
    assert "many" not in answers[1].text


def test_a_whole_number_may_be_written_as_json_has_it() -> None:
    sent = {"max_tokens": 8388609.0, "temperature": 1.0}
    assert [type(value) for value in checked_settings(sent).values()] == [int, float]


def test_safety_is_not_loosened_by_a_client() -> None:
    started = Settings(model="openai/a", max_budget_usd=1.0, max_month_usd=9.0, profile="work")
    loose = Settings(
        model="openai/b",
        instructions="Be brief.",
        auto_run=True,
        auto_install="always",
        env_pass=("KEY",),
        python="/tmp/python",
        max_budget_usd=0.0,
        profile="loose",
        record="/tmp/record",
    )
    chosen = settings_for(
        SessionRequest(profile="loose", settings={"max_tokens": 5}), started, lambda _: loose
    )
    assert chosen == Settings(
        model="openai/b", instructions="Be brief.", max_tokens=5, max_budget_usd=1.0, max_month_usd=9.0
    )
    # Else who names another one would spend past the limit of this one.
    assert chosen.profile == "work"


def test_the_price_of_one_model_is_not_that_of_another_that_a_client_wishes() -> None:
    started = Settings(model="openai/a", input_price=1.0, output_price=2.0)
    wishes = SessionRequest(model="openai/a"), SessionRequest(model="openai/b")
    same, other = (settings_for(wish, started, lambda _: started) for wish in wishes)
    assert (same.input_price, other.input_price, other.output_price) == (1.0, None, None)


@pytest.mark.parametrize("name", sorted({*Settings.__dataclass_fields__, "nothing"} - set(OF_CLIENTS)))
def test_a_setting_that_is_not_for_clients_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"'{name}' is no setting of clients"):
        settings_for(SessionRequest(settings={name: True}), Settings(), lambda _: Settings())


@pytest.mark.parametrize("name", ["../other", "/etc/passwd", "a.yaml", "a/b", ""])
def test_a_profile_is_named_and_no_path(name: str) -> None:
    wishes = SessionRequest(profile=name)
    if not name:
        assert settings_for(wishes, Settings(), lambda _: pytest.fail("none is wanted")) == Settings()
        return
    with pytest.raises(SettingsError):
        settings_for(wishes, Settings(), lambda _: pytest.fail("no file is read"))


async def test_fifty_sessions_stream_their_own_answers(tmp_path: Path) -> None:
    async with serving(tmp_path, "word " * 50) as server:
        ids = await asyncio.gather(*(server.created() for _ in range(50)))
        turns = await asyncio.gather(*(server.asked(session, f"of {session}") for session in ids))
    assert [(turn[0]["prompt"], turn[-1]["answer"]) for turn in turns] == [
        (f"of {session}", "word " * 50) for session in ids
    ]


async def test_a_session_that_streams_without_end_starves_no_other(tmp_path: Path) -> None:
    endless = call(EchoKernel.ENDLESS)
    async with serving(tmp_path, endless, limits=ServerLimits(patience_s=30.0)) as server:
        ids = [await server.created() for _ in range(49)]
        for session in ids:
            path = f"/v1/sessions/{session}"
            await server.client.post(f"{path}/turns", json={"prompt": "go", "stream": False})
        server.opener.model = lambda: ScriptedModel("hello")
        *_, last = await server.asked(await server.created(), "hi")
        alive = (await server.client.get("/heartbeat")).json()
        assert (last["answer"], alive["sessions"]) == ("hello", 50)
        assert [served.turns.busy for served in server.sessions.open].count(True) == 49


async def test_the_server_tells_what_it_counts_and_the_schema_of_its_events(tmp_path: Path) -> None:
    jsonschema = import_module("jsonschema")
    async with serving(tmp_path, call("x = 1"), "done") as server:
        session = await server.created()
        schema = (await server.client.get("/v1/schema/events")).json()
        metrics = (await server.client.get("/metrics")).text
        await server.client.post(f"/v1/sessions/{session}/turns", json={"prompt": "go", "stream": False})
        await server.client.post(f"/v1/sessions/{session}/interrupt")
        await server.opener.made[0].idle()
        told = (await server.sessions.open[0].transcript.since(0)).events
    validator = jsonschema.Draft202012Validator(schema)
    assert [error.message for one in told for error in validator.iter_errors(json.loads(one.json))] == []
    assert "terp_sessions_open 1\n" in metrics


async def test_all_sessions_of_a_server_share_the_limit_of_starting_kernels(tmp_path: Path) -> None:
    environ = {"TERP_HOME": str(tmp_path), "OPENAI_API_KEY": "unused"}
    workspaces = Workspaces(tmp_path, find_places(environ))
    started = Settings(model="openai/scripted")
    opener = SettingsOpener(lambda: started, lambda _: started, workspaces, environ, ServerToken("t" * 22))
    made = [(await opener.new(SessionRequest(), ScriptedPerson())).session for _ in range(2)]
    limits = [session.kernels.starting for session in made if isinstance(session.kernels, LocalKernels)]
    assert limits == [opener.starting, opener.starting]
    for session in made:
        await session.aclose()
