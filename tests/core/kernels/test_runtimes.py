"""Which languages are offered."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels, best_runtimes
from terp.kernels.runtimes.deno import find_deno
from terp.kernels.runtimes.runtime import Machine


def test_python_comes_first_and_is_always_there() -> None:
    assert LocalKernels(environ={}).languages[0] == "python"


def test_the_languages_that_were_chosen_may_be_given_by_any_of_their_names() -> None:
    assert LocalKernels(options=KernelOptions(languages=("py",))).languages == ("python",)


def test_a_chosen_language_that_nobody_knows_is_named_with_those_that_are() -> None:
    kernels = LocalKernels(options=KernelOptions(languages=("cobol",)))
    with pytest.raises(SettingsError, match=r"languages: terp runs no 'cobol'; it runs python"):
        kernels.get("python")


def test_programs_are_looked_for_on_the_persons_path() -> None:
    machine = Machine({"PATH": "/usr/bin:/bin"})
    assert (machine.which("no-such-program", "sh"), Machine({}).which("no-such-program")) == (
        machine.which("sh"),
        "",
    )


def test_spellings_of_one_language_share_a_kernel() -> None:
    kernels = LocalKernels()
    assert kernels.get("py") is kernels.get("python3")


def program(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


def test_node_runs_javascript_where_there_is_no_deno(tmp_path: Path) -> None:
    program(tmp_path, "node")
    without = best_runtimes(Machine({"PATH": str(tmp_path)}))["javascript"]
    program(tmp_path, "deno")
    beside = best_runtimes(Machine({"PATH": str(tmp_path)}))["javascript"]
    # terp's own environment may have one.
    expected = find_deno(Machine({"PATH": ""})) or f"{tmp_path}/node"
    assert (without[1], beside[1]) == (expected, f"{tmp_path}/deno")


def test_a_language_that_one_program_runs_is_not_listed_as_missing_another(tmp_path: Path) -> None:
    program(tmp_path, "deno")
    program(tmp_path, "node")
    listed = [row.names for row in LocalKernels(environ={"PATH": str(tmp_path)}).known()]
    assert [names for names in listed if "javascript" in names] == [("javascript", "typescript")]


def test_looking_for_languages_imports_nothing_of_jupyter() -> None:
    code = (
        "import sys; from terp.kernels.jupyter.local import LocalKernels; LocalKernels().known();"
        "print([m for m in ('zmq', 'jupyter_client', 'IPython', 'ipykernel') if m in sys.modules])"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "core")}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"
