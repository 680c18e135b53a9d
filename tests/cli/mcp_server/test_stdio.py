"""Agents over stdio: the official client drives the real server, its kernel and its sandbox."""

import asyncio
import base64
import json
from pathlib import Path

import pytest
from mcp import MCPError, types

from tests.cli.mcp_server.connecting import User, over_stdio, text_of
from tests.cli.running import Terp

# The first asks for a version without sessions, which the server does not have.
OPENINGS = pytest.mark.parametrize("mode", ["auto", "legacy"])
PLOT = """
import csv, base64
from IPython.display import Image, display
rows = list(csv.DictReader(open("sales.csv")))
png = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
open("plot.png", "wb").write(png)
display(Image(png))
"""

ENDLESS = "print('begun')\nfor done in range(600): time.sleep(0.1)"


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    found = Terp(tmp_path)
    (found.cwd / "sales.csv").write_text("month,sold\nmay,3\njune,4\n")
    return found


async def test_a_variable_stays_from_a_csv_to_a_plot_to_a_further_question(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        plotted = await agent.call("execute", code=PLOT)
        assert not plotted.is_error
        [picture] = [one for one in plotted.content if isinstance(one, types.ImageContent)]
        assert picture.mime_type == "image/png"
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        assert await agent.run("sum(int(row['sold']) for row in rows)") == "7\n[note: run 2]"
        assert "rows  list  2" in await agent.text("variables")


async def test_a_configuration_without_code_is_one_of_conversations(terp: Terp) -> None:
    (terp.home / "config.yaml").write_text("code: false\n")
    async with over_stdio(terp) as agent:
        assert await agent.run("6 * 7") == "42\n[note: run 1]"


async def test_files_that_code_has_made_are_resources_and_others_are_not(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        made = await agent.call("execute", code=PLOT + "import os; os.symlink('/etc/passwd', 'link.txt')")
        links = [one.uri for one in made.content if isinstance(one, types.ResourceLink)]
        uri = f"file://{terp.cwd}/plot.png"
        assert uri in links
        assert uri in [str(one.uri) for one in (await agent.client.list_resources()).resources]
        [content] = (await agent.client.read_resource(uri)).contents
        assert isinstance(content, types.BlobResourceContents)
        assert base64.b64decode(content.blob).startswith(b"\x89PNG")
        for other in ("sales.csv", "link.txt", "../home/state"):
            with pytest.raises(MCPError, match="cannot be read"):
                await agent.client.read_resource(f"file://{terp.cwd}/{other}")


@OPENINGS
async def test_the_user_is_asked_at_an_effect_through_the_client(terp: Terp, mode: str) -> None:
    user = User("yes, once")
    async with over_stdio(terp, user=user, mode=mode) as agent:
        assert await agent.run("kept = 1; import os; os.remove('sales.csv')") == (
            "[note: The code ran; it has no output, and its last expression is None.]\n"
            "[note: variables: +kept int]\n"
            "[note: files: deleted sales.csv]\n[note: run 1]"
        )
    assert user.asked == ["python wants to delete sales.csv."]
    assert not (terp.cwd / "sales.csv").exists()


async def test_a_declined_effect_fails_in_the_code_and_the_kernel_lives_on(terp: Terp) -> None:
    async with over_stdio(terp, user=User("decline")) as agent:
        refused = await agent.call("execute", code="kept = 1; import os; os.remove('sales.csv')")
        assert refused.is_error
        assert "PermissionError: [Errno 1] Operation not permitted: 'sales.csv'" in text_of(refused)
        assert (
            "[note: python wants to delete sales.csv: declined through the client. If nobody was asked: "
            "run terp mcp-server --watch in a terminal, to be asked there, or allow it by --allow "
            "'deletes: ./*'.]"
        ) in text_of(refused)
        assert await agent.run("kept") == "1\n[note: run 2]"
    assert (terp.cwd / "sales.csv").exists()


async def test_without_elicitation_an_effect_is_refused_with_the_reason_and_the_remedy(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        refused = await agent.call("execute", code="import os; os.remove('sales.csv')")
    assert (
        "[note: An effect of the code was refused, because nobody was there to be asked. Run terp mcp-server "
        "--watch in a terminal, to be asked there, or allow it by --allow 'deletes: ./*'.]"
    ) in text_of(refused)
    assert (terp.cwd / "sales.csv").exists()


async def test_a_rule_decides_before_anybody_is_asked(terp: Terp) -> None:
    user = User("yes")
    async with over_stdio(terp, "--allow", "deletes: ./*", "--deny", "shell: echo **", user=user) as agent:
        assert not (await agent.call("execute", code="import os; os.remove('sales.csv')")).is_error
        denied = await agent.call("execute", language="shell", code="echo hi")
    assert denied.is_error
    assert "a rule of the user denies" in text_of(denied)
    assert user.asked == []


async def test_code_that_needs_approval_is_shown_and_the_reason_of_a_no_is_read(terp: Terp) -> None:
    user = User("do not", reason="use pandas")
    async with over_stdio(terp, "--approve", "before", user=user) as agent:
        declined = await agent.call("execute", code="1 + 1")
        assert declined.is_error
        said = "[note: Not run: the person declined to run this code. They said: use pandas]"
        assert text_of(declined) == said
        user.answer = "run it"
        assert await agent.run("1 + 1") == "2\n[note: run 1]"
    assert user.asked == [f"Run this code in {terp.cwd}?\n\n```python\n1 + 1\n```"] * 2


async def test_input_is_typed_by_the_user_but_no_password(terp: Terp) -> None:
    user = User("Ada")
    async with over_stdio(terp, user=user) as agent:
        assert await agent.run("input('name? ')") == "'Ada'\n[note: run 1]"
        secret = await agent.run("import getpass; getpass.getpass('password? ')")
    assert "EOFError" in secret
    assert user.asked == ["name? "]


async def test_an_interrupt_stops_the_code_and_keeps_the_variables(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        assert await agent.text("interrupt") == "Nothing is running."
        await agent.run("import time; done = 0")
        running = asyncio.create_task(agent.call("execute", code=ENDLESS))
        await agent.begun()
        assert await agent.text("interrupt") == "Interrupted; variables stay."
        assert "KeyboardInterrupt" in text_of(await running)
        assert (await agent.run("0 <= done < 600")).startswith("True\n")


async def test_a_call_that_the_client_cancels_is_interrupted(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        await agent.run("import time; done = 0")
        running = asyncio.create_task(agent.call("execute", code=ENDLESS))
        await agent.begun()
        running.cancel()
        await asyncio.wait({running})
        assert (await agent.run("0 <= done < 600")).startswith("True\n")


async def test_calls_at_once_run_one_after_the_other_and_one_that_waits_can_be_given_up(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        await agent.run("import time; ran = []")
        slow = "print('begun'); time.sleep(1); ran.append('first'); ran"
        first = asyncio.create_task(agent.run(slow))
        await agent.begun()
        second, third = (asyncio.create_task(agent.run(f"ran.append({n}); ran")) for n in (2, 3))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait({second})
        assert (await first).startswith("begun\n['first']\n")
        assert (await third).startswith("['first', 3]\n")


async def test_a_restart_forgets_variables_and_says_so(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        assert await agent.text("restart") == "The python kernel has not started yet."
        await agent.run("x = 1")
        said = "The python kernel is new: its variables are gone, files are still there."
        assert await agent.text("restart") == said
        assert "x is gone: the kernel has restarted since it was set." in await agent.run("x")


async def test_progress_is_reported_while_code_runs(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        await agent.run("import time\nfor n in range(6): print('step', n); time.sleep(0.25)")
    assert agent.progress[0] in ("running", "starting the python kernel")
    assert any(said.startswith("step ") for said in agent.progress)


async def test_the_whole_output_of_a_run_can_be_read_in_parts(terp: Terp) -> None:
    async with over_stdio(terp, "--max-output-chars", "500") as agent:
        cut = await agent.run("for n in range(1000): print('line', n)")
        assert "line 500" not in cut
        assert await agent.text("output", n=1, lines="501-502") == "501: line 500\n502: line 501"
        assert await agent.text("output", n=-1, lines="-1") == "1000: line 999"
        assert await agent.text("output", n=1, grep="LINE 77|line 998") == (
            "78: line 77\n" + "".join(f"{n + 1}: line {n}\n" for n in range(770, 780)) + "999: line 998"
        )
        assert await agent.text("output", n=1, lines="0-1") == "1: line 0"
        assert "There is no run 7." in await agent.text("output", n=7)
        assert "must be the number of a run" in await agent.text("output", n="last")


async def test_secrets_of_the_environment_are_in_no_result(terp: Terp) -> None:
    terp.environ["ACME_API_KEY"] = "acme-0123456789abcdef0123456789"
    async with over_stdio(terp) as agent:
        said = await agent.run(
            "import os; print(os.environ.get('ACME_API_KEY'), 'acme-0123456789' + 'abcdef0123456789')"
        )
        said += await agent.text("output", n=1)
    assert "acme-0123" not in said


async def test_packages_are_installed_only_with_consent(terp: Terp) -> None:
    user = User("no")
    async with over_stdio(terp, user=user) as agent:
        refused = await agent.call("install", packages=["a-package-of-nobody"])
        assert refused.is_error
        assert "a-package-of-nobody is not installed: no user agreed to it." in text_of(refused)
        assert "must be names of packages" in await agent.text("install", packages=["--index-url=http://x"])
    assert user.asked[0].startswith("Install a-package-of-nobody?")


async def test_wrong_calls_are_answered_with_what_is_wrong(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        assert "There is no tool 'nope'." in await agent.text("nope")
        assert "cobol" in await agent.run("DISPLAY 'HI'.", "cobol")
        assert await agent.text("execute") == "The argument 'code' is missing."
        await agent.run("1")
        assert "must be 1-50, 200-, or -20" in await agent.text("output", n=1, lines="a-b")


async def test_packages_that_are_no_list_are_not_taken_letter_by_letter(terp: Terp) -> None:
    user = User("no")
    async with over_stdio(terp, user=user) as agent:
        assert "must be names of packages in a list" in await agent.text("install", packages="numpy")
    assert user.asked == []


async def test_two_clients_at_once_have_kernels_of_their_own(terp: Terp) -> None:
    async def client(name: str) -> tuple[str, str]:
        async with over_stdio(terp, name=name) as agent:
            await agent.run(f"whose = {name!r}")
            started.release()
            async with asyncio.timeout(60):
                await both.wait()
            # In the sandbox all process ids are the same.
            return await agent.run("whose"), await agent.run("id(whose), __import__('time').time_ns()")

    started, both = asyncio.Semaphore(0), asyncio.Event()

    async def gather() -> None:
        await started.acquire()
        await started.acquire()
        both.set()

    (one, one_is), (two, two_is), _ = await asyncio.gather(client("one"), client("two"), gather())
    assert (one, two) == ("'one'\n[note: run 2]", "'two'\n[note: run 2]")
    assert one_is != two_is


async def test_the_session_is_stored_like_any_other(terp: Terp) -> None:
    async with over_stdio(terp) as agent:
        await agent.run("6 * 7")
    listed = json.loads(terp("sessions", "--json").out)
    assert [row["title"] for row in listed["sessions"]] == ["an-agent: call 1"]
    assert "6 * 7" in Path(terp("export", "py").out.strip()).read_text()
    resumed = terp.asked(["It was 42."], "-c", "what was it?", OPENAI_API_KEY="unused")
    assert (resumed.code, resumed.out) == (0, "It was 42.\n")
