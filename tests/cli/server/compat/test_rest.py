"""What the protocol has over HTTP."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from terp.events.messages import Assistant, Image, Message, Result, User
from terp.events.model import Model
from terp.events.outputs import Display, RunItem, Text
from terp.testing import EchoKernel, ScriptedModel, call
from tests.cli.server.compat.speaking import (
    COMPLETE,
    INSECURE,
    KEY,
    code,
    console,
    joined,
    message,
    speaking,
)
from tests.cli.server.compat.test_past import PNG
from tests.cli.server.serving import TOKEN

FORM = {"file": ("a.txt", b"content")}


async def test_messages_are_loaded_and_the_model_is_told_them(tmp_path: Path) -> None:
    """C15"""
    loaded = [
        {"role": "user", "type": "message", "content": "I am Ada."},
        {"role": "assistant", "type": "message", "content": "Hello, Ada."},
    ]
    async with speaking(tmp_path, "Ada.") as server, server.client() as client:
        answer = await server.http.post("/settings", json={"messages": loaded})
        await client.answer("Who am I?")
        [asked] = server.model.requests
        messages = await server.setting("messages")
    assert (answer.status_code, answer.json()) == (200, {"status": "success"})
    assert asked[1:] == [User("I am Ada."), Assistant("Hello, Ada."), User("Who am I?")]
    assert [one["content"] for one in messages] == ["I am Ada.", "Hello, Ada.", "Who am I?", "Ada."]


async def test_no_messages_forget_all_and_the_code_that_waits(tmp_path: Path) -> None:
    """C15"""
    async with speaking(tmp_path, call("x"), "new", auto_run=False) as server, server.client() as client:
        await client.answer("run")
        await server.http.post("/settings", json={"messages": []})
        await client.command("go")
        error, complete = await client.until()
        await client.answer("hi")
        [_, asked] = server.model.requests
        ran = list(server.kernel.ran)
    assert (error["content"], complete) == ("There is no code to run.", COMPLETE)
    assert (asked[1:], ran) == ([User("hi")], [])


async def test_loaded_code_runs_at_go(tmp_path: Path) -> None:
    """C15"""
    loaded = [
        {"role": "user", "type": "message", "content": "6*7?"},
        {"role": "assistant", "type": "code", "format": "python", "content": "6*7"},
    ]
    async with speaking(tmp_path, "ok", auto_run=False) as server, server.client() as client:
        await server.http.post("/settings", json={"messages": loaded})
        await client.command("go")
        frames = joined(await client.until())
        [asked] = server.model.requests
    assert frames == [*console("6*7\n"), *message("ok"), COMPLETE]
    assert (asked[1], type(asked[2]), type(asked[3])) == (User("6*7?"), Assistant, Result)


async def test_settings_are_changed_and_count_from_the_next_answer_on(tmp_path: Path) -> None:
    """C15"""
    sent = {
        "llm": {"model": "openai/gpt-5", "temperature": 0.5, "max_tokens": None},
        "custom_instructions": "Be brief.",
        "computer": {"emit_images": False},
        "verbose": True,
    }
    async with speaking(tmp_path, "one", "two") as server, server.client() as client:
        await client.answer("hi")
        answer = await server.http.post("/settings", json=sent)
        await client.answer("and now?")
        read = [await server.setting(name) for name in ("custom_instructions", "verbose", "auto_run")]
        [(_, after)] = server.opener.changes
    assert answer.json() == {"status": "success"}
    assert (after.model, after.temperature, after.instructions) == ("openai/gpt-5", 0.5, "Be brief.")
    assert read == ["Be brief.", True, True]


@pytest.mark.parametrize(
    ("sent", "status", "error"),
    [
        ({"nope": 1}, 404, "Setting nope not found"),
        ({"llm": {"zzz": 1}}, 404, "Sub-setting zzz not found in llm"),
        ({"computer": {"zzz": 1}}, 404, "Sub-setting zzz not found in computer"),
        (
            {"llm": {"api_base": "http://evil"}},
            403,
            "llm.api_base cannot be changed: it was set when the server was started.",
        ),
        (
            {"llm": {"api_key": "x"}},
            403,
            "llm.api_key cannot be changed: it was set when the server was started.",
        ),
        ({"llm": {"temperature": 5}}, 422, "llm.temperature must be a number, from 0 to 2."),
        ({"llm": 5}, 422, "llm must be an object with sub-settings."),
        ({"messages": 5}, 422, "messages must be a list of objects."),
        ({"auto_run": "yes"}, 422, "auto_run must be true or false."),
        ([], 400, "The body must be an object."),
    ],
)
async def test_a_setting_that_cannot_be_changed_has_a_status_that_says_so(
    tmp_path: Path, sent: Any, status: int, error: str
) -> None:
    """C15"""
    async with speaking(tmp_path) as server:
        answer = await server.http.post("/settings", json=sent)
    assert (answer.status_code, answer.json()) == (status, {"error": error})


async def test_settings_that_may_be_changed_are_and_the_others_are_named(tmp_path: Path) -> None:
    sent = {"llm": {"temperature": 0.5, "api_base": "http://evil"}, "verbose": True, "nope": 1}
    async with speaking(tmp_path) as server:
        answer = await server.http.post("/settings", json=sent)
        read = await server.setting("verbose")
        temperature = server.compat.wanted.settings.temperature
    assert answer.status_code == 403
    assert answer.json() == {
        "error": "llm.api_base cannot be changed: it was set when the server was started. "
        "Setting nope not found",
        "applied": ["llm.temperature", "verbose"],
    }
    assert (read, temperature) == (True, 0.5)


async def test_the_system_prompt_can_be_read_and_sent_back_with_more(tmp_path: Path) -> None:
    async with speaking(tmp_path) as server:
        before = await server.setting("system_message")
        await server.http.post("/settings", json={"system_message": f"{before} Speak Greek."})
        after = await server.setting("system_message")
    assert (before, after) == ("Be brief.", "Be brief. Speak Greek.")


async def test_the_id_of_the_server_can_be_read(tmp_path: Path) -> None:
    async with speaking(tmp_path, environ={"INTERPRETER_ID": "ada"}) as server:
        assert await server.setting("id") == "ada"


async def test_a_setting_that_cannot_be_read_has_a_status_that_says_so(tmp_path: Path) -> None:
    """C15"""
    async with speaking(tmp_path) as server:
        answers = [await server.http.get(f"/settings/{name}") for name in ("nope", "llm", "api_key")]
        plain = await server.http.get("/settings/auto_run")
    assert [(one.status_code, one.json()) for one in answers] == [
        (404, {"error": "Setting not found"}),
        (500, {"error": "Failed to serialize the setting value"}),
        (404, {"error": "Setting not found"}),
    ]
    assert plain.text == '"{\\"auto_run\\": true}"'


async def test_code_runs_unasked_over_the_wire_only_where_that_was_opened(tmp_path: Path) -> None:
    """C15"""
    for unsafe, status in ((False, 403), (True, 200)):
        async with speaking(tmp_path, call("x"), auto_run=False, unsafe=unsafe) as server:
            answer = await server.http.post("/settings", json={"auto_run": True})
            async with server.client() as client:
                frames = await client.answer("go")
        ran = [*console("x\n"), *message("done")] if unsafe else []
        assert (answer.status_code, frames) == (status, [*code("x"), *ran, COMPLETE])


async def test_a_client_may_want_to_be_asked(tmp_path: Path) -> None:
    """C15"""
    async with speaking(tmp_path, call("x"), auto_run=True) as server, server.client() as client:
        await server.http.post("/settings", json={"auto_run": False})
        assert await client.answer("go") == [*code("x"), COMPLETE]


async def test_frames_can_be_posted(tmp_path: Path) -> None:
    """C2"""
    async with speaking(tmp_path, "ok") as server:
        for frame in ({"role": "user", "start": True}, {"type": "message", "content": "hi"}, {"end": True}):
            answer = await server.http.post("/", json=frame)
            assert (answer.status_code, answer.json()) == (200, {"status": "success"})
        wrong = await server.http.post("/", json={"end": True})
        async with server.client() as client:
            assert joined(await client.until()) == [*message("ok"), COMPLETE]
    assert (wrong.status_code, list(wrong.json())) in [(400, ["error"]), (200, ["status"])]


@pytest.mark.parametrize(
    ("environ", "unsafe", "statuses"),
    [
        ({}, False, [404, 404, 404]),
        ({}, True, [404, 404, 404]),
        (INSECURE, False, [404, 200, 200]),
        (INSECURE, True, [200, 200, 200]),
    ],
)
async def test_insecure_routes_are_there_where_they_were_opened(
    tmp_path: Path, environ: dict[str, str], unsafe: bool, statuses: list[int]
) -> None:
    """C16"""
    async with speaking(tmp_path, unsafe=unsafe, environ=environ) as server:
        found = [
            await server.http.post("/run", json={"language": "python", "code": "1"}),
            await server.http.post("/upload", files=FORM, data={"path": "b.txt"}),
            await server.http.get("/download/b.txt"),
        ]
    assert [answer.status_code for answer in found] == statuses
    if environ:
        assert (found[1].json(), found[2].content) == ({"status": "success"}, b"content")


async def test_code_that_is_run_is_answered_with_what_it_put_out(tmp_path: Path) -> None:
    """C16"""
    outputs: list[RunItem] = [Text("stdout", "1\n"), Display({"text/plain": "5"}, is_result=True)]
    kernel = EchoKernel({"print(1);2+3": outputs})
    async with (
        speaking(tmp_path, "ok", unsafe=True, kernels=lambda: kernel, environ=INSECURE) as server,
        server.client() as client,
    ):
        ran = await server.http.post("/run", json={"language": "python", "code": "print(1);2+3"})
        wrong = await server.http.post("/run", json={"language": "python"})
        other = await server.http.post("/run", json={"language": "cobol", "code": "x"})
        # Nothing of it is told to those who talk.
        assert await client.answer("hi") == [*message("ok"), COMPLETE]
    assert ran.json() == {"output": [{"type": "console", "format": "output", "content": "1\n5"}]}
    assert (wrong.status_code, wrong.json()) == (400, {"error": "Both 'language' and 'code' are required."})
    assert other.status_code == 422


@pytest.mark.parametrize(
    "path", ["../up.txt", "/etc/up.txt", ".hidden", "a/../../up.txt", "\0", "", "x" * 300]
)
async def test_files_stay_in_the_directory_of_the_session(tmp_path: Path, path: str) -> None:
    """C16"""
    before = sorted(tmp_path.rglob("up.txt"))
    async with speaking(tmp_path, environ=INSECURE) as server:
        answer = await server.http.post("/upload", files=FORM, data={"path": path})
    assert (answer.status_code in (403, 404, 422), sorted(tmp_path.rglob("up.txt"))) == (True, before)


async def test_files_elsewhere_are_reached_only_where_that_was_opened(tmp_path: Path) -> None:
    """C16"""
    target, config = tmp_path / "elsewhere.txt", tmp_path / "config" / "config.yaml"
    config.parent.mkdir()
    async with speaking(tmp_path, unsafe=True, environ=INSECURE) as server:
        (server.sessions.workspaces.root / "in.txt").write_text("of the root")
        answers = [
            await server.http.post("/upload", files=FORM, data={"path": str(target)}),
            await server.http.post("/upload", files=FORM, data={"path": str(config)}),
            await server.http.get("/download/in.txt"),
            await server.http.get("/download/missing"),
            await server.http.get("/download/..%2Fin.txt"),
        ]
    assert [answer.status_code for answer in answers] == [200, 403, 200, 404, 404]
    assert (target.read_bytes(), config.exists(), answers[2].text) == (b"content", False, "of the root")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"X-API-KEY": "wrong"}, 403),
        ({"X-API-KEY": KEY}, 200),
        ({"Authorization": f"Bearer {KEY}"}, 200),
        ({"X-API-KEY": TOKEN}, 200),
    ],
)
async def test_every_path_but_the_heartbeat_needs_the_key(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    """C17"""
    async with speaking(tmp_path, environ={**INSECURE, "INTERPRETER_API_KEY": KEY}) as server:
        read = await server.http.get("/settings/auto_run", headers=headers)
        changed = await server.http.post("/settings", json={}, headers=headers)
        unknown = await server.http.get("/docs", headers=headers)
        alive = await server.http.get("/heartbeat", headers=headers)
    assert (read.status_code, changed.status_code, alive.json()) == (status, status, {"status": "alive"})
    assert unknown.status_code == (404 if status == 200 else status)
    if status == 403:
        assert read.json() == {"detail": "Authentication failed"}


async def test_the_key_opens_nothing_of_the_native_interface(tmp_path: Path) -> None:
    """C17"""
    async with speaking(tmp_path) as server:
        found = [
            await server.http.get(path, headers={"X-API-KEY": KEY})
            for path in ("/v1/sessions", "/metrics", "/openapi.json")
        ]
        own = await server.http.get("/v1/sessions", headers={"Authorization": f"Bearer {TOKEN}"})
    assert [answer.status_code for answer in [*found, own]] == [401, 401, 401, 200]


async def test_pages_of_others_and_other_names_are_refused(tmp_path: Path) -> None:
    """C17"""
    async with speaking(tmp_path) as server:
        origin = await server.http.post("/settings", json={}, headers={"Origin": "http://evil.example"})
        host = await server.http.post("/settings", json={}, headers={"Host": "evil.example"})
        forms = [
            await server.http.post("/settings", data={"auto_run": "true"}),
            await server.http.post(
                "/settings", content="{}", headers={"Content-Type": "multipart/form-data"}
            ),
        ]
    assert [answer.status_code for answer in (origin, host, *forms)] == [403, 421, 415, 415]


async def test_the_heartbeat_answers_while_code_runs(tmp_path: Path) -> None:
    """C23"""
    async with (
        speaking(tmp_path, call(EchoKernel.ENDLESS), unsafe=True, environ=INSECURE) as server,
        server.client() as client,
    ):
        await client.ask("loop")
        await client.until({"format": "active_line"})
        running = asyncio.create_task(server.http.post("/run", json={"language": "python", "code": "1"}))
        alive = await server.http.get("/heartbeat")
        answered = not running.done()
        await client.command("stop")
        await client.until()
        await running
    assert (answered, alive.json()) == (True, {"status": "alive"})


async def test_a_session_that_was_closed_is_opened_again_with_what_was_said(tmp_path: Path) -> None:
    """C15"""
    async with speaking(tmp_path, "one", "two") as server, server.client() as client:
        await client.answer("first")
        [served] = server.sessions.open
        await server.sessions.close(served.id)
        again = await client.answer("second")
        model = server.opener.made[1].model
    assert again == [*message("one"), COMPLETE]
    assert [type(one) for one in asked_of(model)] == [User, Assistant, User]


async def test_a_session_that_was_removed_is_made_anew_and_told_what_was_said(tmp_path: Path) -> None:
    """C15"""
    async with speaking(tmp_path, "one", "two") as server, server.client() as client:
        await client.answer("first")
        [served] = server.sessions.open
        await server.sessions.delete(served.id)
        await client.answer("second")
        model = server.opener.made[1].model
    assert asked_of(model) == [User("first"), Assistant("one"), User("second")]


def asked_of(model: Model) -> list[Message]:
    """What the first request told a model, without the system prompt."""
    assert isinstance(model, ScriptedModel)
    return model.requests[0][1:]


async def test_sound_is_kept_as_a_file_that_code_can_read(tmp_path: Path) -> None:
    """C25"""
    head = {"role": "user", "type": "audio", "format": "bytes.raw"}
    async with speaking(tmp_path, "ok") as server, server.client() as client:
        await client.send({**head, "start": True}, b"RIFF", b"data", {**head, "end": True})
        frames = joined(await client.until())
        [asked] = server.model.requests
        [served] = server.sessions.open
        kept = (served.cwd / "sound-1.wav").read_bytes()
        messages = await server.setting("messages")
    assert (frames, kept) == ([*message("ok"), COMPLETE], b"RIFFdata")
    assert asked[1:] == [User("[audio: sound-1.wav]")]
    assert messages[0]["content"] == "[8 bytes]"


async def test_a_message_of_several_parts_is_one_question(tmp_path: Path) -> None:
    """C25"""
    async with speaking(tmp_path, "ok") as server, server.client() as client:
        await client.send(
            {"role": "user", "start": True},
            {"role": "user", "type": "message", "content": "what is in it?"},
            {"role": "user", "type": "file", "format": "path", "content": "/data/a.csv"},
            {"role": "user", "type": "image", "format": "base64.png", "content": PNG},
            {"role": "user", "end": True},
        )
        await client.until()
        [asked] = server.model.requests
    note = "[Attachment: picture 1] image/png, 70 bytes."
    picture = Image("image/png", PNG)
    assert asked[1:] == [User(f"what is in it?\n\n[file: /data/a.csv]\n\n{note}", (picture,))]


async def test_the_heartbeat_answers_while_an_answer_is_stopped(tmp_path: Path) -> None:
    """C23"""
    async with speaking(tmp_path, call(EchoKernel.ENDLESS)) as server, server.client() as client:
        await client.ask("loop")
        await client.until({"format": "active_line"})
        _, alive = await asyncio.gather(client.command("stop"), server.http.get("/heartbeat"))
        await client.until()
    assert alive.json() == {"status": "alive"}
