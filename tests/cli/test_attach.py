"""`terp attach`: a conversation in a kernel that somebody else has started."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Result, Terp, said
from tests.core.kernels.attached.foreign import ForeignKernel
from tests.loopback import Call, Scripted


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runtime")


@pytest.fixture(scope="module")
def foreign(runtime: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignKernel]:
    with ForeignKernel(runtime, cwd=tmp_path_factory.mktemp("theirs")) as kernel:
        kernel.run("theirs = 41")
        yield kernel


@pytest.fixture
def terp(tmp_path: Path, runtime: Path) -> Terp:
    terp = Terp(tmp_path)
    terp.environ["JUPYTER_RUNTIME_DIR"] = str(runtime)
    return terp


TOLD = (
    "terp: Python code runs in another program's kernel (kernel-feedbeef.json): its variables are theirs as "
    "well, and terp leaves it running.\n"
)


def test_code_runs_in_the_running_kernel_and_leaves_it_running(terp: Terp, foreign: ForeignKernel) -> None:
    script: list[Scripted] = [[Call(code="ours = theirs + 1\nprint(ours)")], "It is 42."]
    result = terp.asked(script, "-y", "attach", "newest", "what is it?")
    assert (result.code, result.out) == (0, "It is 42.\n")
    assert result.notes.startswith(TOLD)
    assert said(result.requests[1])[-1] == ("tool", "42\n[note: variables: +ours int]")
    assert foreign.printed("print(ours)") == "42\n"


def test_the_model_is_told_whose_kernel_it_is_and_where_it_works(terp: Terp, foreign: ForeignKernel) -> None:
    result = terp.asked(["Hello."], "attach", str(foreign.file), "hello", "there")
    prompt = said(result.requests[0])[0][1]
    cwd = foreign.printed("import os; print(os.getcwd(), end='')")
    assert f"The python kernel is one that somebody else uses at the same time. It works in {cwd}." in prompt


def test_a_file_of_code_runs_there_too(terp: Terp, foreign: ForeignKernel) -> None:
    code = terp.cwd / "code.py"
    code.write_text("print(theirs)")
    assert terp("run", "code.py", "--attach", "feedbeef") == Result(0, "41\n", TOLD)


@pytest.mark.parametrize("flag", [(), ("--quiet",)])
def test_a_name_that_no_kernel_has_is_one_line_and_a_mistake(
    terp: Terp, runtime: Path, flag: tuple[str, ...]
) -> None:
    result = terp("attach", "nowhere.json", "go", *flag)
    assert result == Result(
        2,
        "",
        f"terp: attach: there is no connection file 'nowhere.json', and none called so in {runtime}. "
        "`terp attach newest` takes the newest kernel that runs.\n",
    )


def test_a_file_that_is_no_connection_file_is_one_line_and_a_mistake(terp: Terp) -> None:
    path = terp.cwd / "notes.json"
    path.write_text("{}")
    result = terp("attach", "notes.json", "go")
    assert result == Result(
        2,
        "",
        f"terp: attach: '{path}' is no connection file of Jupyter. "
        "In a notebook, %connect_info shows its kernel's file.\n",
    )


def test_a_kernel_that_has_ended_is_one_line_and_an_error(terp: Terp, foreign: ForeignKernel) -> None:
    told = json.loads(foreign.file.read_text())
    path = terp.cwd / "ended.json"
    path.write_text(json.dumps({**told, **{name: 1 for name in told if name.endswith("_port")}}))
    result = terp("attach", "ended.json", "go")
    assert result.code == 1
    assert result.notes.startswith("terp: No kernel answers behind ")
    assert result.notes.endswith(": it has ended, or is out of reach. These run: feedbeef.\n")


def test_the_doctor_says_that_sessions_run_in_such_a_kernel(terp: Terp) -> None:
    assert (
        "- kernel    sessions run in a kernel that terp did not start: attach is newest (TERP_ATTACH)."
        in (terp("doctor", TERP_ATTACH="newest").out)
    )


def test_a_profile_cannot_attach(terp: Terp) -> None:
    (terp.home / "config.yaml").write_text("attach: newest\n")
    result = terp("go")
    assert result.code == 2
    assert "'attach'" in result.notes
