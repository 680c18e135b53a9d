"""Cells that break naive shell kernels: each ends, keeps or reports its state, and loses no byte."""

import os
from pathlib import Path

import pytest

from terp.events.kernel import Kernel, Variable
from terp.events.outputs import FileChange, Text
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import Listener, ran, ran_with

LONG = "x" * 6000
NUMBERS = "".join(f"{number}\n" for number in range(1, 20_001))


@pytest.mark.parametrize(
    ("code", "stdout"),
    [
        pytest.param("read x\necho SECOND-LINE", "SECOND-LINE\n", id="swallow-stdin"),
        pytest.param("cat\necho after", "after\n", id="cat-eats-script"),
        pytest.param(
            "python3 -c 'import sys; print(repr(sys.stdin.read(20)))'\necho after",
            "''\nafter\n",
            id="python-reads",
        ),
        pytest.param("head -c 5 >/dev/null; echo ok", "ok\n", id="head-reads"),
        pytest.param('echo "hello!world"; echo "a!b"', "hello!world\na!b\n", id="history-expansion"),
        pytest.param("if true; then\n\techo tabbed\nfi", "tabbed\n", id="tabs"),
        pytest.param(
            "cat <<'EOF'\nline1\n\tline2 $x\nEOF\necho done", "line1\n\tline2 $x\ndone\n", id="heredoc"
        ),
        pytest.param("cat <<-EOF\n\tcut\n\tEOF", "cut\n", id="heredoc-with-tabs"),
        pytest.param(
            "python3 - <<'EOF'\nfor i in range(2):\n    print(i)\nEOF", "0\n1\n", id="heredoc-python"
        ),
        pytest.param(f"echo {LONG} | wc -c", "6001\n", id="long-line"),
        pytest.param("false\necho still", "still\n", id="an-error-on-the-way"),
        pytest.param("f() {\n  echo a\n  return 4\n}\nf; echo rc=$?", "a\nrc=4\n", id="function"),
        pytest.param("# only comment", "", id="comment"),
        pytest.param("", "", id="nothing"),
        pytest.param("echo a\n\n\necho b", "a\nb\n", id="empty-lines"),
        pytest.param("seq 1 20000 | tail -1; seq 1 20000", f"20000\n{NUMBERS}", id="big"),
        pytest.param("printf 'a\\x00b\\r\\n\\xff\\xe2\\x82\\xac'", "a\0b\r\n\ufffd€", id="binary"),
        pytest.param("echo 'ü €'; echo -n no-newline", "ü €\nno-newline", id="unicode"),
        pytest.param(r"""echo "a\tb" 'c"d' $'e\tf' \\""", 'a\\tb c"d e\tf \\\n', id="quotes"),
        pytest.param("for i in 1 2 3; do printf '\\r%d%%' $i; done; echo", "\r1%\r2%\r3%\n", id="progress"),
        pytest.param("test -t 1 || echo pipe; echo $TERM; tput cols", "pipe\ndumb\n100\n", id="no-terminal"),
        pytest.param("sleep 0 & wait; echo waited", "waited\n", id="job"),
        pytest.param("echo to-out; echo $0", "to-out\nbash\n", id="its-name"),
        pytest.param("set -x; true; set +x 2>/dev/null; echo traced", "traced\n", id="trace"),
    ],
)
async def test_a_cell_puts_out_just_this_and_succeeds(shell: Kernel, code: str, stdout: str) -> None:
    run = await ran_with(shell, code)
    assert (run.stdout, run.error, run.ended.status) == (stdout, "", "ok")


@pytest.mark.parametrize(
    ("code", "status", "message"),
    [
        ("(exit 3)", "3", ""),
        ("false", "1", ""),
        ("return 4", "4", ""),
        ("no-such-program", "127", "bash: no-such-program: command not found\n"),
        ("echo 'abc", "2", "cell: line 1: unexpected EOF while looking for matching `''\n"),
        ("if true; then echo x", "2", "cell: line 2: syntax error: unexpected end of file\n"),
        ("kill -TERM $BASHPID & wait $!", "143", ""),
    ],
)
async def test_the_exit_status_is_the_error(shell: Kernel, code: str, status: str, message: str) -> None:
    run = await ran(shell, code)
    assert (run.error, run.ended.status) == (f"ExitStatus {status}", "error")
    assert run.stderr.endswith(message)
    assert (await ran(shell, "echo fine")).stdout == "fine\n"


async def test_the_state_is_kept(shell: Kernel, tmp_path: Path) -> None:
    await ran(shell, f"x=5; cd {tmp_path}; f() {{ echo in f; }}; alias hi='echo alias'; export Y=6; set -u")
    run = await ran(shell, "echo $x $Y; pwd; f; hi; set +u; python3 -c 'import os; print(os.environ[\"Y\"])'")
    assert run.stdout == f"5 6\n{tmp_path}\nin f\nalias\n6\n"


async def test_a_cell_knows_the_exit_status_of_the_one_before_it(shell: Kernel) -> None:
    await ran(shell, "(exit 7)")
    assert (await ran(shell, "echo $?")).stdout == "7\n"
    assert (await ran(shell, "echo $?")).stdout == "0\n"


async def test_streams_stay_apart_and_in_order(shell: Kernel) -> None:
    run = await ran(shell, "echo one >&2; sleep 0.1; echo two; sleep 0.1; echo three >&2")
    assert run.outputs == [Text("stderr", "one\n"), Text("stdout", "two\n"), Text("stderr", "three\n")]


async def test_an_unfinished_line_is_seen_at_once(shell: Kernel) -> None:
    run = await ran(shell, "printf working; sleep 0.2; echo done")
    assert run.outputs == [Text("stdout", "working"), Text("stdout", "done\n")]


@pytest.mark.parametrize(("code", "status"), [("y=5; exit 3", "3"), ("y=5; set -e; false; echo no", "1")])
async def test_a_shell_that_ends_is_told_and_replaced(
    shell: Kernel, heard: Listener, tmp_path: Path, code: str, status: str
) -> None:
    await ran(shell, f"cd {tmp_path}")
    generation = shell.generation
    run = await ran(shell, code)
    assert (run.stdout, run.error) == ("", f"ExitStatus {status}")
    assert run.ended.note.startswith(
        f"The shell ended with exit status {status}; a new one was started in {tmp_path}."
    )
    assert (heard.states, shell.generation) == (["restarted"], generation + 1)
    assert (await ran(shell, "echo y=$y; pwd")).stdout == f"y=\n{tmp_path}\n"


async def test_exit_without_an_error_is_told_too(shell: Kernel) -> None:
    run = await ran(shell, "echo bye; exit")
    assert (run.stdout, run.ended.status) == ("bye\n", "ok")
    assert "Variables, functions and aliases are lost." in run.ended.note


async def test_a_shell_that_is_replaced_by_exec_or_killed_is_told(shell: Kernel) -> None:
    assert "exit status 5" in (await ran(shell, "exec sh -c 'sleep 0.1; exit 5'")).ended.note
    run = await ran(shell, "kill -9 $$")
    assert (run.error, "ended by SIGKILL" in run.ended.note) == ("ExitStatus 137", True)


async def test_set_e_holds_to_the_end_of_its_cell(shell: Kernel) -> None:
    await ran(shell, "kept=1; set -e; true")
    await ran(shell, "false")
    assert (await ran(shell, "echo $kept")).stdout == "1\n"


async def test_redirections_of_a_cell_end_with_it(shell: Kernel, tmp_path: Path) -> None:
    await ran(shell, f"exec >{tmp_path / 'log'} 2>&1; echo logged")
    assert (await ran(shell, f"cat {tmp_path / 'log'}")).stdout == "logged\n"


async def test_the_streams_can_be_opened_by_name(shell: Kernel) -> None:
    run = await ran(shell, "echo a >/dev/stdout; echo b >/dev/stderr")
    assert (run.stdout, run.stderr) == ("a\n", "b\n")


async def test_output_of_a_job_belongs_to_the_cell_that_started_it(shell: Kernel, heard: Listener) -> None:
    async for _ in shell.execute("(sleep 0.3; echo late) & echo started", run_id="first"):
        pass
    async for _ in shell.execute("echo between", run_id="second"):
        pass
    assert await heard.until_late("late") == "first"


async def test_jobs_live_on_between_cells(shell: Kernel) -> None:
    await ran(shell, "sleep 50 & job=$!")
    assert (await ran(shell, "kill $job && echo ended")).stdout == "ended\n"


async def test_files_of_a_run_are_reported_below_the_directory_of_the_session(
    shell: Kernel, kernels: LocalKernels, tmp_path: Path
) -> None:
    here = Path(kernels.cwd, tmp_path.name)
    await ran(shell, f"mkdir {here}; cd {here}")
    run = await ran(shell, "mkdir sub; cd sub; printf abc >new; printf x >../other")
    await ran(shell, f"cd {tmp_path}")
    elsewhere = await ran(shell, "printf x >unseen")
    there = (FileChange(str(here / "other"), "created", 1), FileChange(str(here / "sub/new"), "created", 3))
    assert (run.ended.files, elsewhere.ended.files) == (there, ())


async def test_the_environment_is_the_persons_without_keys_and_without_terps(shell: Kernel) -> None:
    run = await ran(shell, 'echo "$PATH"; env | cut -d= -f1')
    path, *names = run.stdout.splitlines()
    assert path == os.environ["PATH"]
    assert not {name for name in names if name.startswith(("JPY_", "PYDEVD_USE", "SOME_API", "PS1", "HIST"))}


async def test_a_hundred_thousand_lines_come_in_few_pieces(shell: Kernel) -> None:
    run = await ran(shell, "seq 100000")
    assert run.stdout == "".join(f"{number}\n" for number in range(1, 100_001))
    assert len(run.outputs) < 200


async def test_variables_and_functions_are_listed(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    shell = kernels.get("shell")
    await ran(shell, "word='a b'; list=(1 2); declare -A map=([k]=v); f() { :; }")
    assert await shell.variables() == (
        Variable("f", "function"),
        Variable("list", "array", head='([0]="1" [1]="2")'),
        Variable("map", "map", head='([k]="v" )'),
        Variable("word", "str", head='"a b"'),
    )
    assert await shell.names() == {"f": "function", "list": "array", "map": "map", "word": "str"}
    await kernels.aclose()


async def test_completion_knows_the_state_of_the_shell(shell: Kernel, tmp_path: Path) -> None:
    await ran(
        shell, f"cd {tmp_path}; touch 'with space'; mkdir folder; my_variable=1; my_function() {{ :; }}"
    )
    completed = [
        await shell.complete(code, len(code)) for code in ("my_f", "echo $my_v", "ls wi", "ls fol", "")
    ]
    assert completed == [("my_function",), ("$my_variable",), ("'with space'",), ("folder/",), ()]


async def test_a_cell_may_remove_the_temporary_files_of_its_own_kernel(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    shell = kernels.get("shell")
    programs = await ran(shell, "x=41; declare -f pty")
    (program,) = (word for word in programs.stdout.split() if word.endswith("/pty"))
    await ran(shell, f"rm -rf {Path(program).parent.parent}")
    assert (await ran(shell, "echo $((x + 1)); pty echo shown")).stdout == "42\nshown\n"
    await kernels.aclose()


async def test_a_shell_that_ends_where_no_directory_is_left_begins_at_home(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    kernels = LocalKernels(str(here), environ={**os.environ, "HOME": str(tmp_path)})
    shell = kernels.get("shell")
    await ran(shell, f"rmdir {here}; exit 3")
    assert (await ran(shell, "pwd")).stdout == f"{tmp_path}\n"
    await kernels.aclose()


async def test_what_terp_asks_the_shell_itself_always_ends(shell: Kernel, tmp_path: Path) -> None:
    # An interrupt makes the shell forget the line that it is reading; here code takes it away.
    await ran(shell, f"cd {tmp_path}; compgen() {{ for fd in 10 11 12; do read -r -u $fd; done; sleep 9; }}")
    await shell.complete("cd /t", 5)
    assert (await ran(shell, "unset -f compgen; echo on")).stdout == "on\n"
