"""%terp in a notebook's own kernel: asked, approved, run there, declined, undone, kept."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from tests.cli.notebook.driven import opened, sent, shown, surroundings
from tests.cli.running import Terp
from tests.loopback import Call, Http, Loopback, Scripted

PLOT = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 3, 2]);"


async def test_approved_code_runs_in_the_kernel_with_its_outputs_in_the_cell(tmp_path: Path) -> None:
    replies: list[Scripted] = [["I add.", Call(code="y = x + 1\nprint('adding')\ny")], "It is **42**."]
    async with opened(tmp_path, replies, "y") as notebook:
        await notebook.run("x = 41")
        outputs = await notebook.run("%terp what is x plus one?")
        kinds = [output["output_type"] for output in outputs]
        assert ("adding\n" in shown(outputs), "42" in shown(outputs)) == (True, True)
        assert "execute_result" in kinds
        assert outputs[-2]["data"]["text/markdown"] == "It is **42**."
        assert await notebook.value("y") == "42"


async def test_the_model_reads_cells_variables_and_errors_without_secrets(tmp_path: Path) -> None:
    async with opened(tmp_path, ["Hello."]) as notebook:
        await notebook.run("import os\ntoken = 'ghp_1234567890abcdefghijABCDEFGHIJ123456'\ncount = 7")
        await notebook.run("one = 1\none / 0")
        await notebook.run("%terp why?")
        question = sent(notebook.model)
        assert "count int 7" in question
        assert "raised ZeroDivisionError: division by zero (line 2)" in question
        assert "ghp_1234" not in question


async def test_the_kernel_loads_no_model_and_no_session(tmp_path: Path) -> None:
    async with opened(tmp_path, ["Hello."]) as notebook:
        await notebook.run("%terp hello")
        loaded = await notebook.value(
            "__import__('json').dumps([m for m in __import__('sys').modules if m.startswith('terp.')])"
        )
        names = set(json.loads(loaded.strip("'")))
        assert {name for name in names if not name.startswith("terp.notebook")} == set()


async def test_a_run_of_the_inserted_cell_approves_it_and_the_turn_continues_there(tmp_path: Path) -> None:
    async with opened(tmp_path, [["", Call(code="z = 6 * 7\nz")], "Done."]) as notebook:
        await notebook.run("%terp multiply")
        assert notebook.inserted == ["z = 6 * 7\nz"]
        outputs = await notebook.run(notebook.inserted[0])
        assert (outputs[0]["output_type"], shown(outputs[-2:-1])) == ("execute_result", "Done.")
        assert sent(notebook.model).startswith("42\n")


async def test_an_edited_cell_is_approved_as_it_was_edited(tmp_path: Path) -> None:
    async with opened(tmp_path, [["", Call(code="total = 6 * 7\ntotal")], "Done."]) as notebook:
        await notebook.run("%terp multiply")
        await notebook.run("total = 6 * 8\ntotal")
        assert sent(notebook.model).startswith("48\n")


async def test_another_cell_is_no_approval(tmp_path: Path) -> None:
    async with opened(tmp_path, [["", Call(code="total = 6 * 7\ntotal")], "Done."]) as notebook:
        await notebook.run("%terp multiply")
        await notebook.run("import sys")
        assert len(notebook.model.requests) == 1


async def test_words_are_the_reason_not_to_run_the_code_that_waits(tmp_path: Path) -> None:
    async with opened(tmp_path, [["", Call(code="z = 1")], "As you like."]) as notebook:
        await notebook.run("%terp begin")
        outputs = await notebook.run("%terp use numpy instead")
        assert "As you like." in shown(outputs)
        assert "use numpy instead" in sent(notebook.model)


async def test_an_error_goes_to_the_model_which_recovers(tmp_path: Path) -> None:
    replies: list[Scripted] = [["", Call(code="nope + 1")], ["", Call(code="z = 5\nz")], "Five."]
    async with opened(tmp_path, replies, "y", "y") as notebook:
        outputs = await notebook.run("%terp five")
        assert "NameError" in sent(notebook.model, 1)
        assert [output["output_type"] for output in outputs].count("error") == 1
        assert shown(outputs[-2:-1]) == "Five."


async def test_a_plot_appears_in_the_cell(tmp_path: Path) -> None:
    async with opened(tmp_path, [["", Call(code=PLOT)], "Drawn."], "y") as notebook:
        outputs = await notebook.run("%terp plot")
        assert [1 for output in outputs if "image/png" in output.get("data", ())] == [1]


async def test_each_switch_to_auto_says_that_there_is_no_sandbox(tmp_path: Path) -> None:
    async with opened(tmp_path, [["", Call(code="z = 3\nz")], "Three."]) as notebook:
        first = shown(await notebook.run("%terp --auto set z"))
        assert ("has no sandbox" in first, "Three." in first) == (True, True)
        assert "before code runs" in shown(await notebook.run("%terp --no-auto"))
        assert "has no sandbox" in shown(await notebook.run("%terp --auto"))


async def test_a_second_option_is_no_question_that_runs_code(tmp_path: Path) -> None:
    async with opened(tmp_path, [["", Call(code="z = 3")], "Three."]) as notebook:
        assert "unknown option: --auto --no-auto" in shown(await notebook.run("%terp --auto --no-auto"))
        assert notebook.model.requests == []


async def test_with_auto_no_note_says_that_the_user_is_asked(tmp_path: Path) -> None:
    async with opened(tmp_path, ["Hello."]) as notebook:
        assert "You are asked" not in shown(await notebook.run("%terp --auto hello"))


async def test_a_sandbox_is_no_setting_of_a_notebook(tmp_path: Path) -> None:
    async with opened(tmp_path, []) as notebook:
        assert "unknown setting 'sandbox'" in shown(await notebook.run("%terp_config sandbox=workspace"))


async def test_a_mistyped_setting_is_answered_with_the_nearest(tmp_path: Path) -> None:
    async with opened(tmp_path, []) as notebook:
        assert "Did you mean 'temperature'?" in shown(await notebook.run("%terp_config temprature=1"))


async def test_a_quote_without_an_end_is_a_mistake(tmp_path: Path) -> None:
    async with opened(tmp_path, []) as notebook:
        told = shown(await notebook.run('%terp_config watch="x > 1'))
        assert told == "terp: No closing quotation. Write NAME='VALUE' for a value with spaces."


async def test_a_corrected_file_of_settings_counts_at_the_next_question(tmp_path: Path) -> None:
    async with opened(tmp_path, ["Hello."]) as notebook:
        config = tmp_path / "home/config.yaml"
        config.write_text("temprature: 1\n")
        assert "unknown setting 'temprature'" in shown(await notebook.run("%terp hello"))
        config.write_text("temperature: 1\n")
        assert "Hello." in shown(await notebook.run("%terp hello"))


async def test_an_empty_question_shows_the_usage(tmp_path: Path) -> None:
    async with opened(tmp_path, []) as notebook:
        assert "%terp QUESTION" in shown(await notebook.run("%%terp\n"))


async def test_code_that_awaits_runs_in_the_loop_of_the_notebook(tmp_path: Path) -> None:
    code = "import asyncio\nsame = asyncio.get_running_loop() is loop\nawait asyncio.sleep(0.01)\nsame"
    async with opened(tmp_path, [["", Call(code=code)], "Yes."], "y") as notebook:
        await notebook.run("import asyncio\nloop = asyncio.get_running_loop()")
        outputs = await notebook.run("%%terp\nis it the same loop?")
        assert "True" in shown(outputs)


async def test_a_traceback_names_the_cell_and_the_line(tmp_path: Path) -> None:
    async with opened(
        tmp_path, [["", Call(code="a = 1\n\nraise ValueError(a)")], "Failed."], "y"
    ) as notebook:
        outputs = await notebook.run("%terp fail")
        [error] = [output for output in outputs if output["output_type"] == "error"]
        frame = error["traceback"][2]
        assert f"In[{notebook.client.nb.cells[-1].execution_count}]" in frame
        assert "line 3" in frame


def test_ipython_at_a_terminal_sends_a_traceback_once(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback([["", Call(code="1/0")], "Failed."]) as model:
        code = "%load_ext terp\n%terp --auto divide"
        subprocess.run(
            [sys.executable, "-m", "IPython", "-c", code], check=True, env=surroundings(terp, model)
        )
        assert sent(model).count("Traceback (most recent call last)") == 1


async def test_an_interrupt_stops_the_code_and_keeps_its_variables(tmp_path: Path) -> None:
    code = "import time\nkept = 1\nprint('begun', flush=True)\nfor _ in range(600): time.sleep(0.1)"
    async with opened(tmp_path, [["", Call(code=code)]], "y") as notebook:
        stopping = notebook.interrupt_soon("begun\n")
        outputs = await notebook.run("%terp wait")
        await stopping
        assert "Interrupted. Variables are kept." in shown(outputs)
        assert await notebook.value("kept") == "1"
        assert len(notebook.model.requests) == 1


async def test_an_interrupt_stops_code_that_awaits(tmp_path: Path) -> None:
    code = "import asyncio\nprint('begun', flush=True)\nawait asyncio.sleep(600)"
    async with opened(tmp_path, [["", Call(code=code)], "Again."], "y") as notebook:
        stopping = notebook.interrupt_soon("begun\n")
        outputs = await notebook.run("%terp wait")
        await stopping
        assert "Interrupted." in shown(outputs)
        assert "Again." in shown(await notebook.run("%terp go on"))


async def test_an_interrupt_stops_the_model(tmp_path: Path) -> None:
    async with opened(tmp_path, ["word " * 2_000, "Next."], pause_s=0.05) as notebook:
        stopping = notebook.interrupt_soon("word")
        outputs = await notebook.run("%terp write")
        await stopping
        assert "Interrupted." in shown(outputs)
        assert "Next." in shown(await notebook.run("%terp go on"))


async def test_a_rewind_takes_the_turn_out_of_the_conversation(tmp_path: Path) -> None:
    async with opened(tmp_path, ["First.", "Second."]) as notebook:
        await notebook.run("%terp remember the word banana")
        assert "1: remember the word banana" in shown(await notebook.run("%terp_rewind"))
        await notebook.run("%terp which word?")
        assert "banana" not in str(notebook.model.requests[-1]["messages"][1:-1])


async def test_settings_can_be_changed_within_a_conversation(tmp_path: Path) -> None:
    async with opened(tmp_path, ["First.", "Second."]) as notebook:
        await notebook.run("%terp one")
        assert "temperature: 0.1" in shown(await notebook.run("%terp_config temperature=0.1"))
        await notebook.run("%terp two")
        assert notebook.model.requests[-1]["temperature"] == 0.1


async def test_a_saved_conversation_is_in_the_notebook_and_continues(tmp_path: Path) -> None:
    async with opened(tmp_path, ["Noted.", "Banana."]) as notebook:
        await notebook.run("%terp remember the word banana")
        await notebook.run("%terp --save")
        saved = tmp_path / "saved.ipynb"
        saved.write_text(json.dumps(notebook.client.nb))
        await notebook.run("%reload_ext terp")
        await notebook.run(f"import os\nos.environ['JPY_SESSION_NAME'] = {str(saved)!r}")
        assert "Resumed a conversation of 1 turn," in shown(await notebook.run("%terp --resume"))
        await notebook.run("%terp which word?")
        assert "remember the word banana" in str(notebook.model.requests[-1]["messages"])


async def test_an_indented_question_may_end_in_a_question_mark(tmp_path: Path) -> None:
    async with opened(tmp_path, ["It is."]) as notebook:
        assert "It is." in shown(await notebook.run("if True:\n    %terp what's it?"))
        assert sent(notebook.model).endswith("what's it?")


async def test_a_question_in_a_text_is_text(tmp_path: Path) -> None:
    async with opened(tmp_path, []) as notebook:
        assert await notebook.value('text = """\n%terp why?\n"""\ntext') == r"'\n%terp why?\n'"


async def test_the_account_knows_variables_of_the_cells_of_the_user(tmp_path: Path) -> None:
    code = "xs.append(math.pi)\nopen('a')"
    async with opened(tmp_path, [["", Call(code=code)], "Done."], "n") as notebook:
        await notebook.run("import math\nxs = [1]")
        assert "reads only: a" in shown(await notebook.run("%terp append pi"))


@pytest.mark.parametrize("typed", ["y", "cell"])
async def test_a_run_that_breaks_a_watched_condition_stops_the_turn(tmp_path: Path, typed: str) -> None:
    async with opened(tmp_path, [["", Call(code="rows = 3")], "Never asked."], typed) as notebook:
        await notebook.run("%terp_config watch='rows > 700'")
        outputs = await notebook.run("%terp drop rows")
        if typed == "cell":
            outputs = await notebook.run(notebook.inserted[0])
        assert "Watch: rows > 700 does not hold: rows is 3." in shown(outputs)
        remedy = "Conditions are changed by /watch or %terp_config watch=…."
        assert remedy in shown(outputs)
        assert len(notebook.model.requests) == 1


async def test_an_answer_without_a_question_is_not_sent(tmp_path: Path) -> None:
    async with opened(tmp_path, []) as notebook:
        assert "no code waits for an answer" in shown(await notebook.run("%terp y"))
        assert notebook.model.requests == []


async def test_a_remedy_names_the_magic_for_settings(tmp_path: Path) -> None:
    async with opened(tmp_path, [Http(404)]) as notebook:
        assert "and %terp_config model=…." in shown(await notebook.run("%terp hello"))


async def test_buttons_without_ipywidgets_are_refused_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path, []) as notebook:
        await notebook.run("import sys\nsys.modules['ipywidgets'] = None")
        assert "buttons need ipywidgets" in shown(await notebook.run("%terp --by button"))


async def test_code_reads_the_output_of_an_earlier_run(tmp_path: Path) -> None:
    replies: list[Scripted] = [["", Call(code="print('six')")], ["", Call(code="out[1].text")], "Read."]
    async with opened(tmp_path, replies, "y", "y") as notebook:
        await notebook.run("%terp read")
        assert sent(notebook.model).startswith("six")


async def test_two_notebooks_have_separate_conversations(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    async with opened(one, ["Noted.", "Banana."]) as first, opened(other, ["Unknown."]) as second:
        await first.run("%terp remember the word banana")
        await second.run("%terp which word?")
        assert "banana" not in str(second.model.requests)
        await first.run("%terp which word?")
        assert "banana" in str(first.model.requests[-1])


async def test_a_restart_of_the_kernel_ends_the_conversation_and_its_process(tmp_path: Path) -> None:
    async with opened(tmp_path, ["Noted.", "Which?"]) as notebook:
        await notebook.run("%terp remember the word banana")
        process = psutil.Process(
            int(await notebook.value("__import__('psutil').Process().children()[0].pid"))
        )
        assert "terp_cli.notebook" in process.cmdline()
        manager = cast("Any", notebook.client.km)
        await manager.restart_kernel(now=True)
        await cast("Any", notebook.client.kc).wait_for_ready()
        process.wait(20)
        await notebook.run("%load_ext terp")
        await notebook.run("%terp which word?")
        assert "banana" not in str(notebook.model.requests[-1])


def test_ipython_at_a_terminal_sends_values_and_displays_once(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    code = "from IPython.display import Markdown, display\ndisplay(Markdown('seen'))\n'val' + 'ue'"
    with Loopback([["", Call(code=code)], "Done."]) as model:
        cells = "%load_ext terp\n%terp --auto show"
        subprocess.run(
            [sys.executable, "-m", "IPython", "-c", cells], check=True, env=surroundings(terp, model)
        )
        assert [sent(model).count(text) for text in ("Markdown object", "'value'")] == [1, 1]


async def test_a_question_can_be_timed(tmp_path: Path) -> None:
    async with opened(tmp_path, ["Hello."]) as notebook:
        outputs = shown(await notebook.run("%%time\n%terp hello"))
        assert ("Hello." in outputs, "Wall time" in outputs) == (True, True)


async def test_code_that_cannot_await_fails_and_the_turn_continues(tmp_path: Path) -> None:
    replies: list[Scripted] = [
        ["", Call(code="import asyncio\nawait asyncio.sleep(0)")],
        "It failed.",
        "Yes.",
    ]
    async with opened(tmp_path, replies) as notebook:
        assert "It failed." in shown(await notebook.run("for _ in '1':\n    %terp --auto wait"))
        assert "Yes." in shown(await notebook.run("%terp go on"))
