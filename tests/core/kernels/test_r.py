"""R: IRkernel where it is, and what R is given."""

import os
import tempfile
from pathlib import Path

import pytest

from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.runtimes.programs import irkernel_launch, r_environment, r_runtimes
from terp.kernels.runtimes.runtime import Machine
from tests.core.kernels import conformance
from tests.core.kernels.running import ran

IRKERNEL = r_runtimes()[0]


def program(folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


def test_irkernel_is_found_among_the_packages_of_a_person(tmp_path: Path) -> None:
    program(tmp_path / "bin", "R")
    (tmp_path / "library" / "IRkernel").mkdir(parents=True)
    environ = {"PATH": str(tmp_path / "bin"), "R_LIBS": str(tmp_path / "library"), "HOME": str(tmp_path)}
    assert IRKERNEL.find(Machine(environ)) == f"{tmp_path}/bin/R with IRkernel"


def test_without_r_there_is_no_irkernel(tmp_path: Path) -> None:
    assert [row.find(Machine({"PATH": str(tmp_path)})) for row in r_runtimes()] == ["", ""]


def test_start_files_are_those_of_the_person_and_not_of_the_directory() -> None:
    kernels = LocalKernels(environ={"HOME": "/home/me", "R_LIBS": "/lib/r", "KEY": "secret"})
    assert r_environment(kernels).items() >= {
        ("R_PROFILE_USER", "/home/me/.Rprofile"),
        ("R_ENVIRON_USER", "/home/me/.Renviron"),
        ("R_LIBS", "/lib/r"),
    }


async def test_r_runs_no_code_of_the_directory_at_its_start(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    if "r" not in kernels.languages:
        pytest.skip("there is no R")
    (tmp_path / ".Rprofile").write_text("started <- TRUE\n")
    try:
        assert (await ran(kernels.get("R"), "exists('started')")).results == ["[1] FALSE"]
    finally:
        await kernels.aclose()


@pytest.mark.skipif(not IRKERNEL.find(Machine(os.environ)), reason="there is no IRkernel")
class TestIRkernel(conformance.Conformance):
    launch = irkernel_launch(LocalKernels(tempfile.gettempdir()))
    language_name = "R"
    file_extension = ".r"
    code_hello_world = "cat('hello, world\\n')"
    code_stderr = "message('oops')"
    code_generate_error = "stop('boom')"
    completion_samples = ({"text": "zi", "matches": {"zip"}},)
    complete_code_samples = ("1", "x <- 1")
    incomplete_code_samples = ("print('hi", "f <- function(")
    invalid_code_samples = ("2,", ")")
    code_inspect_sample = "print"
    code_display_data = ({"code": "6 * 7", "mime": "text/plain"},)
    # Values are displays, and of these it has nothing more.
    test_execute_result = test_history = test_clear_output = test_pager = None
