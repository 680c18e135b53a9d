"""Turns in an editor: text, tool calls, approval, cancelling."""

import asyncio
import hashlib
from typing import Any

import pytest
from acp.helpers import embedded_text_resource, image_block, resource_block, resource_link_block
from acp.schema import RequestPermissionResponse

from tests.cli.acp.editor import Editor, opened, parts_of, texts_of
from tests.cli.running import Terp, said
from tests.loopback import Call, Loopback, Raw

pytestmark = pytest.mark.anyio
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SHOW = f"""
import base64
from IPython.display import Image
Image(base64.b64decode("{PIXEL}"))
"""
ADD = "x = 41\nprint(x + 1)"


def code_of(call: Any) -> str:
    """The code that a request for permission is about."""
    return str(call.raw_input["command"])


async def test_approved_code_runs_and_its_call_has_code_and_output(terp: Terp) -> None:
    with Loopback([["I add. ", Call(code=ADD)], "It is 42."]) as server:
        async with opened(terp, server, Editor("once")) as editor:
            await editor.begin()
            ended = await editor.ask(await editor.new(terp.cwd), "add")
    assert ended.stop_reason == "end_turn"
    assert editor.text() == "I add. It is 42."
    (call,) = editor.calls().values()
    assert (call["kind"], call["status"], call["title"]) == ("execute", "completed", "x = 41")
    assert f"```python\n{ADD}\n```" in texts_of(call)
    assert "```console\n42\n```" in texts_of(call)
    # marimo shows the first title for good, and Jupyter AI no other code and output.
    assert editor.updates("tool_call")[0]["title"] == "x = 41"
    assert (call["rawInput"]["command"], call["rawOutput"]) == (ADD, "42")
    # Toad drops an update with a text as `rawOutput`.
    assert [one.keys() for one in editor.updates("tool_call_update") if "rawOutput" in one] == [
        {"sessionUpdate", "toolCallId", "rawOutput"}
    ]
    # CodeCompanion takes an update after the end of a call for another call.
    assert editor.updates("tool_call_update")[-1]["status"] == "completed"


async def test_a_request_for_permission_names_the_digest_of_the_code_that_it_shows(terp: Terp) -> None:
    with Loopback([Call(code=ADD), "done"]) as server:
        async with opened(terp, server, Editor("once")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "add")
    ((call, options, meta),) = editor.asked
    digest = hashlib.sha256(ADD.encode()).hexdigest()
    assert code_of(call) == ADD
    assert call.raw_input is not None and meta is not None
    assert (call.raw_input["digest"], meta["terp"]["digest"]) == (digest, digest)
    assert [(one.option_id, one.kind) for one in options] == [
        (f"once:{digest}", "allow_once"),
        (f"always:{digest}", "allow_always"),
        ("decline", "reject_once"),
        ("stop", "reject_once"),
    ]


async def test_code_that_is_always_allowed_runs_again_unasked_and_other_code_is_asked_about(
    terp: Terp,
) -> None:
    with Loopback([Call(code=ADD), Call(code=ADD), Call(code="x = 1"), "done"]) as server:
        async with opened(terp, server, Editor("always", "decline")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "add")
    assert [code_of(call) for call, *_ in editor.asked] == [ADD, "x = 1"]
    assert [call["status"] for call in editor.calls().values()] == ["completed", "completed", "failed"]


async def test_a_reason_to_decline_reaches_the_model(terp: Terp) -> None:
    with Loopback([Call(code=ADD), "I use 40."]) as server:
        async with opened(terp, server, Editor(("decline", {"reason": "use 40"}))) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "add")
    assert "use 40" in said(server.requests[1])[-1][1]
    assert "[not run] use 40" in texts_of(editor.calls()["c1"])
    assert "42" not in texts_of(editor.calls()["c1"])


async def test_an_editor_with_forms_asks_for_the_reason(terp: Terp) -> None:
    with Loopback([Call(code=ADD), "I use 40."]) as server:
        async with opened(terp, server, Editor("stop", line="use 40")) as editor:
            await editor.begin(forms=True)
            await editor.ask(await editor.new(terp.cwd), "add")
    assert editor.forms == ["What should the model do instead?"]
    assert "use 40" in said(server.requests[1])[-1][1]


async def test_without_forms_the_turn_stops_and_the_next_prompt_is_the_reason(terp: Terp) -> None:
    with Loopback([Call(code=ADD), "I use 40."]) as server:
        async with opened(terp, server, Editor("stop")) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            assert (await editor.ask(session, "add")).stop_reason == "end_turn"
            assert len(server.requests) == 1
            await editor.ask(session, "use 40")
    assert said(server.requests[1])[-1] == ("user", "use 40")


async def test_edited_code_is_asked_about_again_before_it_runs(terp: Terp) -> None:
    with Loopback([Call(code=ADD), "done"]) as server:
        editor = Editor(("always", {"code": "print('edited')"}), "once")
        async with opened(terp, server, editor):
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "add")
    assert [code_of(call) for call, *_ in editor.asked] == [ADD, "print('edited')"]
    assert "```console\nedited\n```" in texts_of(editor.calls()["c1"])


async def test_an_option_that_was_not_offered_runs_nothing(terp: Terp) -> None:
    class Forging(Editor):
        async def request_permission(self, *given: Any, **named: Any) -> RequestPermissionResponse:
            named["options"][0].option_id = "once:0"
            return await super().request_permission(*given, **named)

    with Loopback([Call(code=ADD), "done"]) as server:
        async with opened(terp, server, Forging("once")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "add")
    assert editor.calls()["c1"]["status"] == "failed"
    assert len(server.requests) == 1


async def test_a_picture_is_image_content_of_its_call(terp: Terp) -> None:
    with Loopback([Call(code=SHOW), "done"]) as server:
        async with opened(terp, server, Editor("once")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "plot")
    (picture,) = (part for part in parts_of(editor.calls()["c1"]) if part["type"] == "image")
    assert (picture["mimeType"], picture["data"]) == ("image/png", PIXEL)
    path = picture["uri"].removeprefix("file://")
    assert editor.calls()["c1"]["rawOutput"] == f"[picture] {path}"


async def test_code_that_reads_or_deletes_is_shown_before_it_is_approved(terp: Terp) -> None:
    (terp.cwd / "a.txt").touch()
    codes = ["print(open('a.txt').read())", "import os\nos.remove('a.txt')"]
    with Loopback([*(Call(code=code) for code in codes), "done"]) as server:
        async with opened(terp, server, Editor("decline", "decline")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "go")
    # Clients show the paths of a `read` or a `delete` in place of its code, or approve a `read` themselves.
    assert [(call.kind, code_of(call)) for call, *_ in editor.asked] == [("execute", code) for code in codes]


async def test_a_changed_file_is_a_diff_and_a_place(terp: Terp) -> None:
    notes = terp.cwd / "notes.txt"
    notes.write_text("one\ntwo\n")
    with Loopback([Call(code="edit_file('notes.txt', 'two', 'zwei')"), "done"]) as server:
        async with opened(terp, server, Editor("once")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "edit")
    (asked, *_) = editor.asked[0]
    call, diff = editor.calls()["c1"], {"oldText": "one\ntwo", "newText": "one\nzwei"}
    assert asked.kind == call["kind"] == "edit"
    # CodeCompanion shows no other diff.
    assert call["content"][0]["type"] == "diff"
    assert call["locations"] == [{"path": str(notes), "line": 1}]
    (shown,) = (part for part in parts_of(call) if part["type"] == "diff")
    assert shown == {"type": "diff", "path": str(notes), **diff}
    assert notes.read_text() == "one\nzwei\n"


async def test_an_edit_with_another_write_is_shown_as_code(terp: Terp) -> None:
    (terp.cwd / "notes.txt").write_text("one\n")
    code = "edit_file('notes.txt', 'one', 'two')\nopen('b.txt', 'w').write('x')"
    with Loopback([Call(code=code), "done"]) as server:
        async with opened(terp, server, Editor("decline")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "edit")
    # Clients show only the diffs of an `edit`.
    assert [call.kind for call, *_ in editor.asked] == ["execute"]


async def test_a_question_has_the_code_as_its_title_in_a_client_that_shows_no_more(terp: Terp) -> None:
    with Loopback([Call(code=ADD), "done"]) as server:
        async with opened(terp, server, Editor("once")) as editor:
            await editor.begin(name="CodeCompanion.nvim")
            await editor.ask(await editor.new(terp.cwd), "add")
    ((call, options, _),) = editor.asked
    title = call.title or ""
    # It shows the kinds of options, not their names.
    assert {one.kind for one in options} == {"allow_once", "allow_always", "reject_once"}
    assert len(options) == 3
    assert title.startswith(f"\n```python\n{ADD}\n```\nExpected: computes only.")
    assert title.endswith("\nAlways run exactly this code")


async def test_a_created_file_is_a_diff_without_a_text_before(terp: Terp) -> None:
    with Loopback([Call(code="open('new.txt', 'w').write('hello\\n');"), "done"]) as server:
        async with opened(terp, server, Editor("once")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "write")
    (shown,) = (part for part in parts_of(editor.calls()["c1"]) if part["type"] == "diff")
    assert shown == {"type": "diff", "path": str(terp.cwd / "new.txt"), "newText": "hello\n"}


async def test_cancelling_stops_the_code_and_keeps_the_variables(terp: Terp) -> None:
    code = "kept = 7\nprint('on')\nimport time\ntime.sleep(600)"
    with Loopback([Call(code=code), Call(code="print(kept)"), "seven"]) as server:
        async with opened(terp, server, Editor("once", "once")) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)

            turn = asyncio.create_task(editor.ask(session, "wait"))
            await editor.until(
                lambda one: any("console\non" in texts_of(call) for call in one.calls().values())
            )
            await editor.agent.cancel(session_id=session.session_id)
            ended = await turn
            assert ended.stop_reason == "cancelled"
            assert (await editor.ask(session, "what is it?")).stop_reason == "end_turn"
    assert "```console\n7\n```" in texts_of(editor.calls()["c2"])


async def test_pictures_links_and_embedded_files_of_a_prompt_reach_the_model(terp: Terp) -> None:
    data = terp.cwd / "data.csv"
    data.write_text("a,b\n1,2\n")
    parts = (
        "Look at ",
        resource_link_block("data.csv", data.as_uri()),
        resource_block(embedded_text_resource(f"{terp.cwd.as_uri()}/open.py", "unsaved = True\n")),
        image_block(PIXEL, "image/png"),
    )
    with Loopback(["I see."]) as server:
        async with opened(terp, server, Editor(), ["--supports-vision"]) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), *parts)
    message = str(server.requests[0]["messages"][-1])
    assert f"Look at `{data}` `{terp.cwd}/open.py`" in message
    assert "a,b" in message
    assert "unsaved = True" in message
    assert PIXEL in message


async def test_input_is_a_form(terp: Terp) -> None:
    with Loopback([Call(code="print(input('Name? ').upper())"), "done"]) as server:
        async with opened(terp, server, Editor("once", line="ada")) as editor:
            await editor.begin(forms=True)
            await editor.ask(await editor.new(terp.cwd), "ask")
    assert editor.forms == ["Name? "]
    assert "ADA" in texts_of(editor.calls()["c1"])


async def test_a_key_in_an_output_reaches_no_editor(terp: Terp) -> None:
    key = "hf_" + "k3yKEY7" * 6
    with Loopback([Call(code=f"for part in {[key[:9], key[9:]]!r}: print(part, end='')"), "done"]) as server:
        async with opened(terp, server, Editor("once"), HF_TOKEN=key) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "print")
    assert key not in str(editor.heard)


async def test_reasoning_is_a_thought_and_the_tokens_are_reported(terp: Terp) -> None:
    thought = '{"choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}}]}'
    answer = '{"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]}'
    used = '{"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}}'
    lines = "".join(f"data: {one}\n\n" for one in (thought, answer, used, "[DONE]"))
    with Loopback([Raw(lines.encode())]) as server:
        async with opened(terp, server, Editor(), ["--context-window", "32000"]) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "is it?")
    assert (editor.text("agent_thought_chunk"), editor.text()) == ("Hm.", "Yes.")
    (usage,) = editor.updates("usage_update")
    assert usage["size"] == 32_000
    assert 0 < usage["used"] < 32_000
