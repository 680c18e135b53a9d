import os
import time
from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import FileAction, FileChange
from terp.kernels.jupyter.files import FileWatch
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import Ran, ran


@pytest.fixture
async def folder(kernel: Kernel, tmp_path: Path) -> Path:
    """A directory that the kernel is in, below the one it was started in."""
    folder = Path(kernel.cwd, tmp_path.name)
    folder.mkdir(exist_ok=True)
    await ran(kernel, f"import os; os.chdir({str(folder)!r})")
    return folder


def changes(run: Ran, folder: Path) -> dict[str, FileAction]:
    return {os.path.relpath(change.path, folder): change.action for change in run.ended.files}


async def test_files_are_found_however_they_were_made(kernel: Kernel, folder: Path) -> None:
    code = """
import os, subprocess, pathlib
name = "comp" + "uted"
_ = open(name + ".csv", "w").write("abc")
os.makedirs("sub/deep"); _ = pathlib.Path("sub/deep/inner.txt").write_text("x")
!echo shell > shell.txt
subprocess.run("echo child > sub/child.txt", shell=True);
"""
    run = await ran(kernel, code)
    assert changes(run, folder) == {
        "computed.csv": "created",
        "shell.txt": "created",
        "sub/child.txt": "created",
        "sub/deep/inner.txt": "created",
    }
    assert run.ended.files[0].size == 3


async def test_inputs_are_not_listed_and_a_rewritten_one_is_modified(kernel: Kernel, folder: Path) -> None:
    (folder / "iris.csv").write_text("a,b\n1,2\n")
    await ran(kernel, "1")
    assert changes(await ran(kernel, "_ = open('iris.csv').read()"), folder) == {}
    rewritten = await ran(kernel, "_ = open('iris.csv', 'a').write('3,4')")
    assert changes(rewritten, folder) == {"iris.csv": "modified"}
    assert changes(await ran(kernel, "!sed -i s/a/c/ iris.csv"), folder) == {"iris.csv": "modified"}


async def test_a_deleted_file_is_listed(kernel: Kernel, folder: Path) -> None:
    await ran(kernel, "_ = open('a', 'w').write('1'); _ = open('b', 'w').write('1')")
    assert changes(await ran(kernel, "import os; os.remove('a')"), folder) == {"a": "deleted"}
    assert changes(await ran(kernel, "!rm b"), folder) == {"b": "deleted"}


async def test_a_file_replaced_in_one_step_is_modified(kernel: Kernel, folder: Path) -> None:
    await ran(kernel, "_ = open('a', 'w').write('1')")
    run = await ran(kernel, "_ = open('a.tmp', 'w').write('22'); os.replace('a.tmp', 'a')")
    assert changes(run, folder) == {"a": "modified"}


async def test_files_written_before_an_exception_are_listed(kernel: Kernel, folder: Path) -> None:
    run = await ran(kernel, "_ = open('early', 'w').write('1')\n1/0")
    assert (run.ended.status, changes(run, folder)) == ("error", {"early": "created"})


async def test_files_written_before_a_death_are_listed(kernel: Kernel) -> None:
    await kernel.restart()
    code = "import os; _ = open('early', 'a').write('1'); os._exit(1)"
    created, modified = await ran(kernel, code), await ran(kernel, code)
    assert [change.action for change in created.ended.files] == ["created"]
    assert [(change.path, change.action) for change in modified.ended.files] == [
        (str(Path(kernel.cwd, "early")), "modified")
    ]


async def test_files_elsewhere_are_found_by_their_opening(
    kernel: Kernel, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "far.txt"
    run = await ran(kernel, f"_ = open({str(other)!r}, 'w').write('1')")
    assert [(change.path, change.action) for change in run.ended.files] == [(str(other), "created")]


async def test_elsewhere_only_what_the_code_itself_wrote_is_found(
    kernel: Kernel, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("gone")
    code = (
        f"_ = open('here', 'w').write('1')\nos.chdir({str(other)!r})\n"
        "!echo 1 > of_any_process\n_ = open('too', 'w')"
    )
    run = await ran(kernel, code)
    assert {change.path for change in run.ended.files} == {str(folder / "here"), str(other / "too")}
    assert (await ran(kernel, "!echo 2 >> of_any_process")).ended.files == ()


async def test_the_directory_of_a_kernel_is_the_one_its_code_has_gone_to(
    kernel: Kernel, tmp_path: Path
) -> None:
    await kernel.restart()
    start = kernel.cwd
    await ran(kernel, f"import os; os.chdir({str(tmp_path)!r})")
    there = kernel.cwd
    await ran(kernel, "1")
    still_there = kernel.cwd
    await kernel.restart()
    assert (there, still_there, kernel.cwd) == (str(tmp_path), str(tmp_path), start)


async def test_a_directory_that_a_thread_has_gone_to_is_told_by_the_next_run(
    kernel: Kernel, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = str(tmp_path_factory.mktemp("thread"))
    code = f"import threading, time\nthreading.Timer(0.1, os.chdir, [{other!r}]).start()"
    await ran(kernel, code)
    # It has gone there before this run begins.
    await ran(kernel, "import time; time.sleep(0.3)")
    await ran(kernel, "1")
    assert kernel.cwd == other


async def test_what_a_person_changed_between_runs_is_not_the_codes(kernel: Kernel, folder: Path) -> None:
    await ran(kernel, "1")
    (folder / "mine").write_text("typed")
    await ran(kernel, "import time; time.sleep(0.05)")
    (folder / "other").write_text("typed")
    os.utime(folder / "other")
    # A file system's clock ticks every few milliseconds.
    await ran(kernel, "import time; time.sleep(0.05)")
    assert changes(await ran(kernel, "2"), folder) == {}


async def test_caches_environments_and_devices_are_no_results(kernel: Kernel, folder: Path) -> None:
    code = """
import os
for name in (".git", "node_modules", "__pycache__", ".venv", "myenv", ".hidden"):
    os.makedirs(name); _ = open(name + "/file", "w").write("1")
_ = open("myenv/pyvenv.cfg", "w").write("1")
_ = open("/dev/null", "w").write("1")
"""
    run = await ran(kernel, code)
    assert set(changes(run, folder)) <= {"myenv/file", "myenv/pyvenv.cfg", ".hidden/file"}


def test_a_large_tree_is_seen_in_its_upper_levels_without_false_news(tmp_path: Path) -> None:
    for number in range(20):
        below = tmp_path / f"d{number:02}"
        below.mkdir()
        for inner in range(10):
            (below / f"{inner}").touch()
    watch = FileWatch(most_files=50)
    watch.look(str(tmp_path))
    top = tmp_path / "result.csv"
    top.write_text("1")
    later = top.stat().st_ctime_ns + 10_000_000_000
    assert watch.changes(later, {}) == ()
    top.write_text("12")
    found = {change.path: change.action for change in watch.changes(top.stat().st_ctime_ns, {})}
    assert found[str(top)] == "modified"


def test_what_terp_itself_writes_is_no_result_unless_the_code_opened_it(tmp_path: Path) -> None:
    recording, result = tmp_path / "recording.jsonl", tmp_path / "result.csv"
    watch = FileWatch(own_files=[str(recording)])
    watch.look(str(tmp_path))
    recording.write_text("{}")
    result.write_text("1")
    since = recording.stat().st_ctime_ns
    assert [change.path for change in watch.changes(since, {})] == [str(result)]
    recording.write_text("{} {}")
    touched = {str(recording): None}
    assert [change.path for change in watch.changes(since, touched)] == [str(recording)]


def test_nothing_in_a_folder_of_terps_is_a_result(tmp_path: Path) -> None:
    home, result = tmp_path / "home", tmp_path / "result.csv"
    home.mkdir()
    watch = FileWatch(own_folders=[str(home)])
    watch.look(str(tmp_path))
    (home / "history").write_text("x")
    result.write_text("1")
    since = (home / "history").stat().st_ctime_ns
    assert [change.path for change in watch.changes(since, {str(home / "history"): None})] == [str(result)]


def test_a_file_that_was_moved_is_one_change(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.txt").write_text("y")
    (tmp_path / "done").mkdir()
    watch = FileWatch()
    watch.look(str(tmp_path))
    started = time.time_ns()
    (tmp_path / "a.txt").rename(tmp_path / "done" / "c.txt")
    (tmp_path / "b.txt").unlink()
    moved = FileChange(f"{tmp_path}/done/c.txt", "moved", 1, source=f"{tmp_path}/a.txt")
    assert watch.changes(started, {}) == (FileChange(f"{tmp_path}/b.txt", "deleted"), moved)


async def test_a_change_is_told_by_the_run_that_made_it_and_by_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.txt").write_text("y")
    kernels = LocalKernels(str(tmp_path))
    python, shell = kernels.get("python"), kernels.get("shell")
    await ran(shell, "true")
    deleted = changes(await ran(python, "import os; os.remove('a.txt')"), tmp_path)
    moved = changes(await ran(shell, "mv b.txt c.txt"), tmp_path)
    await kernels.aclose()
    assert (deleted, moved) == ({"a.txt": "deleted"}, {"c.txt": "moved"})


def test_of_runs_at_the_same_time_the_first_to_end_tells_a_change(tmp_path: Path) -> None:
    watch = FileWatch()
    watch.look(str(tmp_path))
    started = time.time_ns()
    watch.begin("python")
    watch.begin("shell")
    (tmp_path / "a.txt").write_text("x")
    made = FileChange(f"{tmp_path}/a.txt", "created", 1)
    assert watch.changes(started, {}, kernel="shell") == (made,)
    assert watch.changes(started, {made.path: None}, kernel="python") == ()


def test_what_a_run_made_before_another_began_and_ended_is_its_own(tmp_path: Path) -> None:
    watch = FileWatch()
    watch.look(str(tmp_path))
    started = time.time_ns()
    watch.begin("python")
    (tmp_path / "a.txt").write_text("x")
    watch.begin("shell")
    later = (tmp_path / "a.txt").stat().st_ctime_ns + 10_000_000_000
    assert watch.changes(later, {}, kernel="shell") == ()
    made = FileChange(f"{tmp_path}/a.txt", "created", 1)
    assert watch.changes(started, {}, kernel="python") == (made,)
