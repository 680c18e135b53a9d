"""Sessions in an editor: stored, loaded after a crash, listed, closed; modes, models and commands."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from acp.exceptions import RequestError
from acp.schema import EnvVariable, McpServerStdio

from tests.cli.acp.editor import Editor, opened, texts_of
from tests.cli.running import Terp, said
from tests.loopback import Call, Loopback, Scripted

pytestmark = pytest.mark.anyio
WORKSHOP = Path(__file__).parents[2] / "core" / "tools" / "mcp" / "workshop.py"
ADD = "x = 41\nprint(x + 1)"


async def run_once(terp: Terp, script: list[object], *prompts: str, editor: Editor) -> str:
    """Run prompts in one new session; return its id."""
    with Loopback(script) as server:  # type: ignore[arg-type]
        async with opened(terp, server, editor):
            await editor.begin()
            session = await editor.new(terp.cwd)
            for prompt in prompts:
                await editor.ask(session, prompt)
            return session.session_id


async def test_a_session_can_be_loaded_after_terp_was_killed(terp: Terp) -> None:
    editor = Editor("once")
    with Loopback([["I add. ", Call(code=ADD)], "It is 42."]) as server:
        async with opened(terp, server, editor):
            await editor.begin()
            session = (await editor.new(terp.cwd)).session_id
            await editor.ask(session, "add")
            editor.process.send_signal(signal.SIGKILL)
            await editor.process.wait()
    again = Editor()
    with Loopback(["As before."]) as server:
        async with opened(terp, server, again):
            await again.begin()
            await again.agent.load_session(cwd=str(terp.cwd), session_id=session, mcp_servers=[])
            shown = again.text("user_message_chunk"), again.text(), again.calls()["c1"]
            await again.ask(session, "and now?")
    assert shown[0] == "add"
    # Behind it may be the note that the kernel is a new one.
    assert shown[1].startswith("I add. It is 42.")
    assert (shown[2]["status"], "```console\n42\n```" in texts_of(shown[2])) == ("completed", True)
    assert ("user", "add") in said(server.requests[0])


async def test_a_resumed_session_continues_without_its_past(terp: Terp) -> None:
    session = await run_once(terp, ["Hello."], "hi", editor=Editor())
    editor = Editor()
    with Loopback(["Again."]) as server:
        async with opened(terp, server, editor):
            await editor.begin()
            await editor.agent.resume_session(session_id=session, cwd=str(terp.cwd))
            await editor.ask(session, "and now?")
    assert editor.text("user_message_chunk") == ""
    assert editor.text().endswith("Again.")
    assert ("user", "hi") in said(server.requests[0])


async def test_sessions_are_listed_with_title_and_directory(terp: Terp) -> None:
    session = await run_once(terp, ["Hello."], "count the rows", editor=Editor())
    with Loopback([]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            here = await editor.agent.list_sessions(cwd=str(terp.cwd))
            elsewhere = await editor.agent.list_sessions(cwd="/")
    (found,) = here.sessions
    assert (found.session_id, found.cwd, found.title) == (session, str(terp.cwd), "count the rows")
    assert elsewhere.sessions == []


async def test_a_closed_session_takes_no_prompt_and_can_be_resumed(terp: Terp) -> None:
    with Loopback(["Hello.", "Again."]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            session = (await editor.new(terp.cwd)).session_id
            await editor.ask(session, "hi")
            await editor.agent.close_session(session_id=session)
            with pytest.raises(RequestError, match=r"is not open\. session/load opens it\."):
                await editor.ask(session, "hi")
            await editor.agent.resume_session(session_id=session, cwd=str(terp.cwd))
            assert (await editor.ask(session, "hi")).stop_reason == "end_turn"


async def test_a_session_without_a_turn_can_be_loaded(terp: Terp) -> None:
    with Loopback(["Hello."]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            session = (await editor.new(terp.cwd)).session_id
        async with opened(terp, server, again := Editor()):
            await again.begin()
            await again.agent.load_session(cwd=str(terp.cwd), session_id=session, mcp_servers=[])
            await again.ask(session, "hi")
            listed = await again.agent.list_sessions(cwd=str(terp.cwd))
    assert "*[note] Nothing is stored of this session: it begins without earlier turns.*" in again.text()
    assert [one.session_id for one in listed.sessions] == [session]


async def test_a_session_that_cannot_be_is_not_loaded(terp: Terp) -> None:
    with Loopback([]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            with pytest.raises(
                RequestError, match=r"There is no session '\.\./x'\. session/list lists them\."
            ):
                await editor.agent.load_session(cwd=str(terp.cwd), session_id="../x", mcp_servers=[])


async def test_two_sessions_have_kernels_of_their_own(terp: Terp) -> None:
    with Loopback([Call(code="x = 1"), "one", Call(code="print('x' in globals())"), "two"]) as server:
        async with opened(terp, server, Editor("once", "once")) as editor:
            await editor.begin()
            first, second = await editor.new(terp.cwd), await editor.new(terp.cwd)
            await editor.ask(first, "one")
            await editor.ask(second, "two")
    assert "False" in texts_of(editor.calls()["c1"])


async def test_an_editor_that_vanishes_ends_the_program_and_its_kernel(terp: Terp) -> None:
    code = "import os, time\nprint(os.getpid())\ntime.sleep(600)"
    editor = Editor("once")
    with Loopback([Call(code=code)]) as server:
        async with opened(terp, server, editor):
            await editor.begin()
            session = await editor.new(terp.cwd)
            turn = asyncio.create_task(editor.ask(session, "wait"))
            await editor.until(
                lambda one: any("```console" in texts_of(call) for call in one.calls().values())
            )
        assert (await turn).stop_reason == "cancelled"
    pid = int(texts_of(editor.calls()["c1"]).split("```console\n")[1].split("\n")[0])
    assert editor.process.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_mode_without_questions_runs_code_in_the_sandbox(terp: Terp) -> None:
    with Loopback([Call(code="x = 1"), "done"]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            assert session.modes is not None
            if "unasked" not in {one.id for one in session.modes.available_modes}:
                pytest.skip("no sandbox works here")
            await editor.agent.set_session_mode(session_id=session.session_id, mode_id="unasked")
            await editor.ask(session, "go")
    assert editor.asked == []
    assert editor.calls()["c1"]["status"] == "completed"
    assert "no sandbox" not in texts_of(editor.calls()["c1"])
    assert [one["currentModeId"] for one in editor.updates("current_mode_update")] == ["unasked"]


async def test_a_mode_that_does_not_work_here_is_refused_with_those_that_do(terp: Terp) -> None:
    with Loopback([]) as server:
        async with opened(terp, server, Editor(), ["--sandbox", "off"]) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            with pytest.raises(RequestError, match=r"There is no mode 'unasked' here: use one of ask\."):
                await editor.agent.set_session_mode(session_id=session.session_id, mode_id="unasked")


async def test_another_model_takes_the_next_prompt(terp: Terp) -> None:
    with Loopback(["Hello."]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            changed = await editor.agent.set_config_option(
                config_id="model", session_id=session.session_id, value="openai/other"
            )
            await editor.ask(session, "hi")
    assert changed is not None
    assert changed.config_options[1].current_value == "openai/other"
    assert server.requests[0]["model"] == "other"


async def test_a_command_answers_without_the_model(terp: Terp) -> None:
    with Loopback([Call(code="total = 42"), "done"]) as server:
        async with opened(terp, server, Editor("once")) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            await editor.ask(session, "go")
            await editor.ask(session, "/vars")
    assert len(server.requests) == 2
    assert "total  int" in editor.text()
    (commands,) = editor.updates("available_commands_update")
    assert {"undo", "vars", "cost"} <= {one["name"] for one in commands["availableCommands"]}


async def test_rewind_restores_the_variables_of_a_turn_before(terp: Terp) -> None:
    with Loopback([Call(code="x = 1"), "one", Call(code="x = 2"), "two"]) as server:
        async with opened(terp, server, Editor("once", "once")) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            for prompt in ("one", "two", "/rewind 2", "/vars"):
                await editor.ask(session, prompt)
    assert "x     int          28 bytes  1" in editor.text()


async def test_unsaved_changes_are_read_and_edited_in_the_editor(terp: Terp) -> None:
    path = str(terp.cwd / "open.py")
    Path(path).write_text("saved = 1\n")
    script: list[Scripted] = [
        Call(code="print(read_file('open.py'))\nedit_file('open.py', 'unsaved', 'edited')"),
        "done",
    ]
    editor = Editor("once", buffers={path: "unsaved = 2\n"})
    with Loopback(script) as server:
        async with opened(terp, server, editor):
            await editor.begin(files=True)
            await editor.ask(await editor.new(terp.cwd), "edit")
    assert editor.buffers == {path: "edited = 2\n"}
    assert Path(path).read_text() == "saved = 1\n"
    call = editor.calls()["c1"]
    assert "Expected: reads open.py" in texts_of(call)
    assert "unsaved = 2" in texts_of(call)
    (diff,) = (one for one in call["content"] if one["type"] == "diff")
    assert (diff["oldText"], diff["newText"]) == ("unsaved = 2\n", "edited = 2\n")


async def test_code_that_runs_unasked_in_a_sandbox_edits_the_disk(terp: Terp) -> None:
    (terp.cwd / "a.txt").write_text("one\n")

    class WithoutFiles(Editor):
        async def write_text_file(self, *_: object, **__: object) -> None:  # type: ignore[override]
            raise AssertionError("nothing is written there")

    with Loopback([Call(code="edit_file('a.txt', 'one', 'eins')"), "done"]) as server:
        async with opened(terp, server, WithoutFiles("once"), ["--sandbox", "workspace", "-y"]) as editor:
            await editor.begin(files=True)
            await editor.ask(await editor.new(terp.cwd), "edit")
    assert (terp.cwd / "a.txt").read_text() == "eins\n"


async def test_in_the_mode_of_effects_code_starts_at_once_and_its_effect_is_asked_about(terp: Terp) -> None:
    (terp.cwd / "a.txt").write_text("one\n")
    with Loopback([Call(code="print('begun')\nopen('a.txt', 'w').write('two\\n');"), "done"]) as server:
        async with opened(terp, server, Editor("y")) as editor:
            await editor.begin(files=True)
            session = await editor.new(terp.cwd)
            assert session.modes is not None
            if "effect" not in {one.id for one in session.modes.available_modes}:
                pytest.skip("effects cannot be held here")
            await editor.agent.set_session_mode(session_id=session.session_id, mode_id="effect")
            await editor.ask(session, "write")
    ((call, options, _),) = editor.asked
    assert (call.tool_call_id, call.title) == ("c1", "python wants to change a.txt.")
    assert ("y", "allow_once") in [(one.option_id, one.kind) for one in options]
    assert (terp.cwd / "a.txt").read_text() == "two\n"


async def test_a_question_between_calls_is_a_call_by_itself(terp: Terp) -> None:
    with Loopback([Call(code="x = 1"), "done", Call(code="print('x' in globals())"), "gone"]) as server:
        async with opened(terp, server, Editor("once", "y", "once")) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            assert session.modes is not None
            if "unasked" not in {one.id for one in session.modes.available_modes}:
                pytest.skip("no sandbox works here")
            await editor.ask(session, "go")
            await editor.agent.set_session_mode(session_id=session.session_id, mode_id="unasked")
            await editor.ask(session, "and now?")
    first, question, last = editor.calls().values()
    assert (first["title"], first["status"]) == ("x = 1", "completed")
    assert (question["kind"], question["status"]) == ("other", "completed")
    assert question["title"] == "Restart python now? Variables there are lost; files stay."
    assert [call.title for call, *_ in editor.asked] == ["x = 1", question["title"]]
    assert "False" in texts_of(last)
    assert "No sandbox" not in editor.text()


ARGUMENTS = {"why": "total", "install": "numpy", "rename": "Sales", "export": "md", "save": "out.py total",
             "allow": ".", "rewind": "1", "jobs": "", "watch": "total > 1"}  # fmt: skip


async def test_each_command_that_is_offered_works_in_an_editor(terp: Terp) -> None:
    script: list[Scripted] = [Call(code="total = 42\ntotal"), "done", *["again"] * 9]
    failed: dict[str, str] = {}
    with Loopback(script) as server:
        async with opened(terp, server, Editor("once", *["y"] * 20)) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            await editor.ask(session, "go")
            (offered,) = editor.updates("available_commands_update")
            ending = ("undo", "retry", "rewind", "reset", "restart")
            names = sorted((one["name"] for one in offered["availableCommands"]), key=ending.__contains__)
            for name in names:
                try:
                    await editor.ask(session, f"/{name} {ARGUMENTS.get(name, '')}".rstrip())
                except RequestError as error:
                    failed[name] = str(error)
    # Those say why: numpy is on no index here, and there is one turn and no plan.
    assert set(failed) <= {"install", "compact", "rewind", "undo", "retry", "go"}, failed
    assert "Internal error" not in failed.values()


async def test_help_lists_the_commands_of_an_editor_and_shows_one(terp: Terp) -> None:
    with Loopback([]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            await editor.ask(session, "/help")
            listed = [line[1:].split()[0] for line in editor.text().splitlines() if line[:1] == "/"]
            await editor.ask(session, "/help diff")
            (offered,) = editor.updates("available_commands_update")
    assert listed == [one["name"] for one in offered["availableCommands"]]
    assert "/diff [N|NAME]  show what a run changed" in editor.text()


async def test_planned_changes_are_declined_until_the_plan_is_carried_out(terp: Terp) -> None:
    make = Call(code="open('made', 'w').close()")
    with Loopback([make, "1. Make it.", make, "Made."]) as server:
        # A kernel that started meanwhile may be in the sandbox: then the code is asked about again.
        async with opened(terp, server, Editor("once", "once")) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            await editor.ask(session, "/plan make it")
            assert not (terp.cwd / "made").exists()
            await editor.ask(session, "/go")
    assert (terp.cwd / "made").exists()
    assert "1. Make it." in editor.text()
    assert said(server.requests[2])[-1][1].startswith("Carry out the plan.")


async def test_a_plan_is_kept_when_the_editor_starts_terp_again(terp: Terp) -> None:
    make = Call(code="open('made', 'w').close()")
    with Loopback(["1. Make it.", make, "No.", make, "Made."]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            session = (await editor.new(terp.cwd)).session_id
            await editor.ask(session, "/plan make it")
        async with opened(terp, server, Editor("once", "once")) as again:
            await again.begin()
            await again.agent.load_session(cwd=str(terp.cwd), session_id=session, mcp_servers=[])
            await again.ask(session, "make it now")
            assert not (terp.cwd / "made").exists()
            await again.ask(session, "/go")
    assert (terp.cwd / "made").exists()
    statuses = [[one["status"] for one in plan["entries"]] for plan in again.updates("plan")]
    assert statuses == [["pending"], ["in_progress"], ["completed"]]


async def test_a_command_of_ones_own_is_offered_and_becomes_the_prompt(terp: Terp) -> None:
    commands = terp.home / "commands"
    commands.mkdir()
    (commands / "review.md").write_text(
        "---\ndescription: review a file\n---\nReview $1, after !`echo seen`.\n"
    )
    with Loopback(["Fine."]) as server:
        async with opened(terp, server, Editor("y")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "/review a.py")
    (offered,) = editor.updates("available_commands_update")
    assert offered["availableCommands"][-1] == {
        "name": "review",
        "description": "review a file",
        "input": {"hint": "[…]"},
    }
    assert [call.title for call, *_ in editor.asked] == ["Run `echo seen` for /review?"]
    *_, ran = editor.calls().values()
    assert "```console\nseen\n```" in texts_of(ran)
    assert said(server.requests[0])[-1][1].startswith("Review a.py, after `echo seen`")
    assert editor.text().endswith("Fine.")


async def test_a_project_that_is_not_trusted_is_named_with_the_command_for_it(terp: Terp) -> None:
    commands = terp.cwd / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "fix.md").write_text("Fix $1.")
    with Loopback(["Fixed."]) as server:
        async with opened(terp, server, Editor("y")) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "/trust")
            noted = editor.text()
            await editor.ask(await editor.new(terp.cwd), "/fix it")
    assert "this project is not trusted, so nothing is taken from it: .claude/commands/fix.md" in noted
    assert said(server.requests[0])[-1] == ("user", "Fix it.")


async def test_what_an_editor_adds_is_no_change_of_the_settings(terp: Terp) -> None:
    server = McpServerStdio(name="workshop", command=sys.executable, args=[str(WORKSHOP)], env=[])
    with Loopback([]) as model:
        async with opened(terp, model, Editor()) as editor:
            await editor.begin(files=True)
            session = await editor.agent.new_session(cwd=str(terp.cwd), mcp_servers=[server])
            await editor.ask(session, "/settings temperature 0.5")
    assert editor.text().startswith("```\n  temperature  – → 0.5  /settings\n```\n")


async def test_skills_are_listed_in_an_editor(terp: Terp) -> None:
    skill = terp.home / "skills" / "charts"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: charts\ndescription: Draws charts.\n---\nDraw.\n")
    with Loopback([]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "/skills")
    assert "charts" in editor.text()


async def test_the_steps_of_a_plan_are_plan_entries_until_it_is_carried_out(terp: Terp) -> None:
    with Loopback(["The plan:\n\n1. Read it.\n2. Draw it.", "No.", "Done."]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            await editor.ask(session, "/plan draw it")
            await editor.ask(session, "shorter?")
            await editor.ask(session, "/go")
    plans = [[(one["content"], one["status"]) for one in plan["entries"]] for plan in editor.updates("plan")]
    assert plans == [
        [("Read it.", status), ("Draw it.", status)] for status in ("pending", "in_progress", "completed")
    ]


async def test_a_plan_that_is_not_carried_out_leaves_the_editor(terp: Terp) -> None:
    with Loopback(["1. Read it."]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            session = await editor.new(terp.cwd)
            await editor.ask(session, "/plan draw it")
            await editor.ask(session, "/plan off")
    assert [len(plan["entries"]) for plan in editor.updates("plan")] == [1, 0]


async def test_a_model_of_the_settings_command_is_the_one_that_the_editor_shows(terp: Terp) -> None:
    with Loopback([]) as server:
        async with opened(terp, server, Editor()) as editor:
            await editor.begin()
            await editor.ask(await editor.new(terp.cwd), "/settings model=openai/other")
    (changed,) = editor.updates("config_option_update")
    assert changed["configOptions"][1]["currentValue"] == "openai/other"


async def test_an_mcp_server_of_the_editor_is_used_by_code(terp: Terp) -> None:
    shop = McpServerStdio(
        name="my shop",
        command=sys.executable,
        args=[str(WORKSHOP)],
        env=[EnvVariable(name="TOKEN", value="hush")],
    )
    with Loopback([Call(code="print(mcp.my_shop.add(a=40))"), "done"]) as server:
        async with opened(terp, server, Editor("once", "y")) as editor:
            await editor.begin()
            session = await editor.agent.new_session(cwd=str(terp.cwd), mcp_servers=[shop])
            await editor.ask(session, "add")
    assert "```console\n42\n```" in texts_of(editor.calls()["c1"])


def test_a_key_among_the_arguments_is_warned_about_once(terp: Terp) -> None:
    acp = ("acp", "--api-key", "k" * 20, "-m", "openai/scripted", "--api-base", "http://127.0.0.1:9/v1")
    begin = {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    new = {"id": 2, "method": "session/new", "params": {"cwd": str(terp.cwd), "mcpServers": []}}
    with terp.start(*acp, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for request in (begin, new):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
        process.stdin.flush()
        while "sessionId" not in (line := process.stdout.readline()):
            assert line
        _, notes = process.communicate(timeout=30)
    assert notes.count("can read --api-key") == 1
