from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from prompt_toolkit.input import DummyInput

from terp.errors import TerpError
from terp.events import CodeFinished, Event, JobChanged, TextDelta
from terp.events.kernel import Variable
from terp.events.outputs import Display, FileChange, Text
from terp.kernels.jupyter.local import LocalKernels
from terp.testing import EchoKernel
from terp_cli.fronts.titles import Titles
from terp_cli.prompt.prompt_app import PromptApp
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.table import Misused
from terp_cli.repl.repl import Repl
from terp_cli.terminal.desktop import osc52
from tests.cli.repl.commands.here import Here, training
from tests.cli.screens import Watched
from tests.core.store.export.scripted import ran, turn


def worked(tmp_path: Path, environ: Mapping[str, str] | None = None) -> Here:
    """A turn with two runs: the first shows its end alone, and has all of its output in a file."""
    whole = tmp_path / "c1.txt"
    whole.write_text("one\ntwo\nthree\n", encoding="utf-8")
    *first, _ = ran("c1", "print(all)", Text("stdout", "three\n"), Display({}, path="/s/c1-1.png"))
    second = ran("c2", "ls", Text("stdout", "a.csv\n"), count=2, language="shell")
    ended = CodeFinished("c1", "ok", 1.0, output_path=str(whole))
    return Here(tmp_path, *turn("go", *first, ended, *second, TextDelta("There are\ntwo.")), environ=environ)


async def test_a_run_is_picked_by_its_code(tmp_path: Path) -> None:
    here = worked(tmp_path)
    here.picking.picked = 1
    assert await here.does("/out") == [
        "Output of which run?",
        "  1  print(all)  python  ok  14 bytes, 1 picture",
        "* 2  ls  shell  ok  6 bytes",
    ]
    assert here.paged("out[2]") == ["a.csv"]


def test_the_key_for_all_output_knows_the_last_run_of_a_resumed_session(tmp_path: Path) -> None:
    assert Repl(worked(tmp_path), Titles.none()).whole_output() == "/out 2"


async def test_the_full_output_of_a_run_is_paged(tmp_path: Path) -> None:
    here = worked(tmp_path)
    assert await here.does("/out 1") == []
    assert here.paged("out[1]") == ["one", "two", "three", "/s/c1-1.png"]
    await here.does("/out 2")
    assert here.paged("out[2]") == ["a.csv"]


@pytest.mark.parametrize(
    ("term", "reads_aloud"), [("dumb", False), ("xterm", True)], ids=["dumb terminal", "screen reader"]
)
async def test_where_nothing_is_redrawn_output_needs_no_pager(
    tmp_path: Path, term: str, reads_aloud: bool
) -> None:
    (tmp_path / "less").write_text("#!/bin/sh\necho paged > paged/less\n")
    (tmp_path / "less").chmod(0o700)
    here = worked(tmp_path, environ={"PAGER": "", "PATH": str(tmp_path), "TERM": term})
    here.settings = replace(here.settings, screen_reader=reads_aloud)
    assert await here.does("/out 1") == ["one", "two", "three", "/s/c1-1.png"]


async def test_a_run_without_output_opens_no_empty_pager(tmp_path: Path) -> None:
    here = Here(tmp_path, *turn("go", *ran("c1", "a = 1")))
    assert await here.does("/out 1") == ["Run 1: no output."]


async def test_of_a_run_without_an_end_no_effects_are_known(tmp_path: Path) -> None:
    *begun, _ = ran("c1", "a = 1")
    assert await Here(tmp_path, *turn("go", *begun)).does("/effects") == [
        "No effects of run 1 were reported. It has not ended."
    ]


async def test_a_picture_that_the_output_names_is_paged_once(tmp_path: Path) -> None:
    whole = tmp_path / "c1.txt"
    whole.write_text("drawn\n[image: /s/c1-1.png, 8×4]\n", encoding="utf-8")
    *first, _ = ran("c1", "plot()", Text("stdout", "drawn\n"), Display({}, path="/s/c1-1.png"))
    here = Here(tmp_path, *turn("go", *first, CodeFinished("c1", "ok", 1.0, output_path=str(whole))))
    await here.does("/out 1")
    assert here.paged("out[1]") == ["drawn", "[image: /s/c1-1.png, 8×4]"]


async def test_a_file_that_is_gone_leaves_what_was_shown(tmp_path: Path) -> None:
    here = worked(tmp_path)
    (tmp_path / "c1.txt").unlink()
    await here.does("/out 1")
    why, *rest = here.paged("out[1]")
    assert why.endswith("c1.txt cannot be read: No such file or directory; this is what was shown]")
    assert rest == ["three", "/s/c1-1.png"]


async def test_a_run_that_was_killed_shows_what_it_had_put_out(tmp_path: Path) -> None:
    *killed, _ = ran("c1", "wait()", Text("stdout", "tick 1\n"), Text("stdout", "tick 2\n"))
    here = Here(tmp_path, *turn("go", *killed))
    assert await here.does("/out") == ["Output of which run?", "* 1  wait()  python  died  14 bytes"]
    await here.does("/out 1")
    assert here.paged("out[1]") == ["tick 1", "tick 2"]
    file = here.session.folder / "outputs/1.txt"
    file.parent.mkdir(parents=True)
    file.write_text("tick 1\ntick 2\nmore than was shown\n")
    await here.does("/out 1")
    assert here.paged("out[1]") == ["tick 1", "tick 2", "more than was shown"]


async def test_the_code_of_a_run_is_shown_whole_and_the_last_without_a_number(tmp_path: Path) -> None:
    long = [f"x{number} = 1" for number in range(13)]
    events = [*ran("c1", "\n".join(long)), *ran("c2", "z = 3\nz", count=2)]
    here = Here(tmp_path, *turn("go", *events))
    await here.does("/code 1")
    assert here.paged("code of run 1") == long
    assert await here.does("/code") == ["z = 3", "z"]
    assert await Here(tmp_path).does("/code") == ["There is no code yet."]


async def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misused, match="/out: there is no run '9'"):
        await worked(tmp_path).does("/out 9")


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        ("/copy", "There are\ntwo.", "Copied the last answer: 2 lines, 14 characters."),
        ("/copy code", "ls", "Copied the code: 1 line, 2 characters."),
        ("/copy code 1", "print(all)", "Copied the code: 1 line, 10 characters."),
        ("/copy 2", "a.csv", "Copied the output of run 2: 1 line, 5 characters."),
    ],
)
async def test_what_is_copied_is_said(tmp_path: Path, line: str, text: str, said: str) -> None:
    here, terminal = worked(tmp_path), Watched()
    here.prompt = PromptApp(DummyInput(), terminal.painter())
    (shown,) = await here.does(line)
    assert terminal.getvalue() == osc52(text)
    assert shown.startswith(said)


async def test_nothing_to_copy_is_said_so(tmp_path: Path) -> None:
    assert await Here(tmp_path).does("/copy") == ["There is nothing to copy yet."]


async def test_code_comes_back_to_the_input_line(tmp_path: Path) -> None:
    here = worked(tmp_path)
    assert await here.does("/edit") == ["!ls"]
    assert await here.does("/edit 1") == [">>> print(all)"]


class Holding(EchoKernel):
    """A kernel that has variables once it runs."""

    held: Sequence[Variable] = ()

    async def variables(self) -> Sequence[Variable]:
        return self.held


async def test_variables_are_listed_once_the_kernel_runs(tmp_path: Path) -> None:
    kernel = Holding()
    here = Here(tmp_path, kernels=kernel)
    assert await here.does("/vars") == ["The kernel has not started, so there are no variables."]
    await kernel.start()
    assert await here.does("/vars") == ["There are no variables."]
    kernel.held = [
        Variable("売上", "DataFrame", (10, 2), 1_200, "x" * 100),
        Variable("n\x1b", "int", (), 28, "7\n8"),
    ]
    assert await here.does("/vars") == [
        "name  type       shape      size  head",
        f"売上  DataFrame   10×2    1.2 kB  {'x' * 45}…",
        "n^[   int               28 bytes  7^J8",
    ]
    assert await here.does("/vars zz") == ["No variable's name holds 'zz'."]


async def test_a_restart_is_told(tmp_path: Path) -> None:
    here = Here(tmp_path)
    assert await here.does("/restart") == ["The python kernel has not started yet."]
    await here.kernel.start()
    await here.does("/restart")
    assert here.kernel.generation == 2
    assert await here.taught() == [
        "[The user restarted the python kernel: its variables and imports are gone.]"
    ]


def ended(folder: Path) -> Here:
    """A REPL with a job that failed after 41 s."""
    events: list[Event] = [*ran("c1", "import time\ntrain()")[:-1]]
    events += [JobChanged("c1", 1, "python", "background", 2.0), CodeFinished("c1", "error", 41.0)]
    return Here(folder, *turn("go", *events, JobChanged("c1", 1, "python", "ended", 41.0)))


async def test_jobs_are_listed_with_their_state(tmp_path: Path) -> None:
    async with training(tmp_path) as here:
        (running,) = await here.does("/jobs")
    number, language, _, *rest = [cell.strip() for cell in running.split("  ") if cell.strip()]
    assert (number, language, rest) == ("1", "python", ["running", "import time"])
    assert await ended(tmp_path).does("/jobs") == ["1  python  41 s  error  import time"]


async def test_without_jobs_the_way_to_have_one_is_shown(tmp_path: Path) -> None:
    assert await Here(tmp_path).does("/jobs") == [
        "No code runs in the background. /bg moves running code there; so does Ctrl+B."
    ]


async def test_the_end_of_the_output_of_a_job_is_shown(tmp_path: Path) -> None:
    async with training(tmp_path / "few", Text("stdout", "one\ntwo\n")) as here:
        assert await here.does("/jobs 1") == ["Output of job 1 so far:", "one", "two"]
    async with training(tmp_path / "many", Text("stdout", "\n".join(map(str, range(1, 31))))) as here:
        first, *lines = await here.does("/jobs 1")
    assert first == "Output of job 1 so far, without 10 lines that /out 1 has:"
    assert lines == [str(number) for number in range(11, 31)]
    async with training(tmp_path) as here:
        assert await here.does("/jobs 1") == ["Job 1: no output yet."]


@pytest.mark.parametrize("line", ["/jobs stop 1", "/jobs stop"])
async def test_a_job_is_stopped_by_its_number_or_as_the_only_one(tmp_path: Path, line: str) -> None:
    async with training(tmp_path) as here:
        assert (await here.does(line), here.session.jobs.running) == ([], {})


async def test_a_job_that_does_not_answer_is_shown_with_a_remedy(tmp_path: Path) -> None:
    async with training(tmp_path, obeys=False) as here:
        assert await here.does("/jobs stop 1") == [
            "Job 1 (python) does not answer. /jobs stop 1 again ends its kernel and the variables."
        ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/jobs 7", "there is no job '7'."),
        ("/jobs x", "there is no job 'x'."),
        ("/jobs stop 7", "no job '7' is running."),
        ("/jobs stop x", "no job 'x' is running."),
    ],
)
async def test_a_job_that_there_is_not_is_named(tmp_path: Path, line: str, why: str) -> None:
    async with training(tmp_path) as here:
        with pytest.raises(Misused) as misused:
            await here.does(line)
    assert misused.value.message == f"/jobs: {why}"


async def test_stop_needs_a_number_where_nothing_runs(tmp_path: Path) -> None:
    with pytest.raises(Misused, match="stop needs the number of a job"):
        await Here(tmp_path).does("/jobs stop")


async def test_bg_says_when_there_is_nothing_to_detach(tmp_path: Path) -> None:
    assert await Here(tmp_path).does("/bg") == ["No code is running that could continue in the background."]


async def test_quit_asks_before_it_ends_jobs(tmp_path: Path) -> None:
    asked = "? 1 job still runs: leave, and end it?"
    async with training(tmp_path) as here:
        assert (await here.does("/quit"), here.left) == ([asked], False)
        here.user.yes = True
        assert (await here.does("/quit"), here.left) == ([asked], True)


async def test_numbers_of_jobs_are_completed(tmp_path: Path) -> None:
    async with training(tmp_path) as here:
        assert here.offered("jobs", "") == ["1", "stop 1"]


@pytest.mark.parametrize(
    ("line", "at_once"),
    [("/bg", True), ("%jobs stop 1", True), ("/undo", False), ("/", False), ("/no", False), ("bg", False)],
)
def test_what_does_not_wait_for_the_end_of_a_turn(line: str, at_once: bool) -> None:
    assert all_commands().is_at_once(line) is at_once


def shown(tmp_path: Path) -> Here:
    """Two runs: a picture, then a page and one that is gone; programs that note what they are given."""
    for name in ("1-1.png", "2-1.html"):
        (tmp_path / name).write_text("x")
    first = ran("c1", "plot()", Display({}, path=f"{tmp_path}/1-1.png"))
    pages = [Display({}, path=f"{tmp_path}/{name}") for name in ("2-1.html", "2-2.html")]
    second = ran("c2", "page()", *pages, count=2)
    for name in ("browser", "xdg-open"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $1" > {tmp_path}/opened\n')
        (tmp_path / name).chmod(0o755)
    programs = {"PATH": str(tmp_path), "DISPLAY": ":0", "BROWSER": f"{tmp_path}/browser"}
    return Here(tmp_path, *turn("go", *first, *second), environ=programs)


@pytest.mark.parametrize(
    ("line", "program", "name"),
    [
        ("/open", "browser file://", "2-1.html"),
        ("/open 2", "browser file://", "2-1.html"),
        ("/open 1", "xdg-open ", "1-1.png"),
        ("/open 1-1.png", "xdg-open ", "1-1.png"),
        ('/open "1-1.png"', "xdg-open ", "1-1.png"),
    ],
)
async def test_what_was_shown_is_opened(tmp_path: Path, line: str, program: str, name: str) -> None:
    assert await shown(tmp_path).does(line) == [f"Opened {tmp_path}/{name}."]
    assert (tmp_path / "opened").read_text() == f"{program}{tmp_path}/{name}\n"


async def test_without_a_display_the_path_and_the_reason_are_said(tmp_path: Path) -> None:
    here = shown(tmp_path)
    here.call.environ = {"PATH": str(tmp_path)}
    with pytest.raises(TerpError) as caught:
        await here.does("/open 1")
    why = "This terminal has no display: DISPLAY and WAYLAND_DISPLAY are not set."
    assert caught.value.message == f"{tmp_path}/1-1.png is not opened. {why}"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/open 7", "/open: run '7' has shown no page and no picture that is still there."),
        ("/open gone.png", "/open: there is no file 'gone.png'."),
    ],
)
async def test_what_cannot_be_opened_is_named(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(Misused) as caught:
        await shown(tmp_path).does(line)
    assert caught.value.message == told


async def test_before_anything_was_shown_it_is_said_so(tmp_path: Path) -> None:
    said = ["No run has shown a page or a picture yet. /open PATH opens a file."]
    assert await Here(tmp_path).does("/open") == said


async def test_the_changes_of_the_last_run_that_changed_a_text_file_are_shown(tmp_path: Path) -> None:
    change = FileChange(str(tmp_path / "a.py"), "modified", 9, added=1, removed=1, diff="@@ -1 +1 @@\n-x\n+y")
    binary = FileChange(str(tmp_path / "b.bin"), "modified", 2_000)
    *first, _ = ran("c1", "write()")
    ended = CodeFinished("c1", "ok", 1.0, files=(change, binary))
    here = Here(tmp_path, *turn("go", *first, ended, *ran("c2", "x = 1", count=2)))
    shown = [line.rstrip() for line in await here.does("/diff")]
    assert shown[1:] == ["  1 − x", "  1 + y", "b.bin: 2.0 kB; no diff is stored."]
    here.settings = replace(here.settings, screen_reader=True)
    assert (await here.does("/diff"))[:3] == [
        "Change of a.py, +1 −1:",
        "Line 1 removed: x",
        "Line 1 added: y",
    ]
    assert await here.does("/diff 2") == ["Run 2 changed no file."]


async def test_columns_of_the_same_name_are_compared_by_their_place(tmp_path: Path) -> None:
    here = Here(tmp_path, kernels=LocalKernels(str(tmp_path)))
    for code in (
        "import pandas as pd; df = pd.DataFrame([[1, 2], [3, 4]], columns=['a', 'a'])",
        "df.iloc[0, 1] = 7",
    ):
        assert [event async for event in here.session.run("python", code)]
    assert [line.split("  ")[-1] for line in await here.does("/diff df")] == [
        "+df DataFrame 2×2",
        "~df: a (column 2) changed",
        "0: 2 → 7",
    ]
    await here.session.aclose()


async def test_the_changes_of_a_variable_are_shown_by_run_with_rows_and_cells_of_a_table(
    tmp_path: Path,
) -> None:
    kernels = LocalKernels(str(tmp_path))
    here = Here(tmp_path, kernels=kernels)
    for code in (
        "import pandas as pd; df = pd.DataFrame({'a': [1.5, None, 3.0], 'b': list('xyz')})",
        "df = df.dropna(); df.loc[0, 'b'] = 'new'",
    ):
        assert [event async for event in here.session.run("python", code)]
    assert await here.does("/diff df") == [
        "run 1         +df DataFrame 3×2",
        "run 2         ~df 3×2 → 2×2 · a: 1 null dropped",
        "−1 row        1",
        "b: 1 changed  0: 'x' → 'new'",
    ]
    assert here.offered("diff", "d") == ["df"]
    here.settings = replace(here.settings, screen_reader=True)
    assert "run 2         changed df 3×2 to 2×2, a: 1 null dropped" in await here.does("/diff df")
    with pytest.raises(Misused, match="no run has changed a variable 'other'"):
        await here.does("/diff other")
    with pytest.raises(Misused, match="/diff: it takes the number of a run, or the name of a variable"):
        await here.does("/diff df.a")
    await here.session.aclose()
