"""Kernels that were installed for Jupyter become languages."""

import json
import sys
from pathlib import Path

from terp.events.kernel import KnownLanguage
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.runtimes.kernelspecs import Spec, find_specs, spec_folders, spec_launch
from terp.kernels.runtimes.runtime import Machine
from tests.core.kernels.running import ran


def install(data: Path, name: str, **told: object) -> Path:
    folder = data / "kernels" / name
    folder.mkdir(parents=True)
    spec = {"argv": ["sh", "-f", "{connection_file}"], "language": name} | told
    (folder / "kernel.json").write_text(json.dumps(spec))
    return folder


def environ(data: Path, **more: str) -> dict[str, str]:
    return {"JUPYTER_DATA_DIR": str(data), "PATH": "/usr/bin:/bin", "HOME": str(data), **more}


def test_a_kernelspec_is_offered_by_its_language(tmp_path: Path) -> None:
    install(tmp_path, "julia-1.11", language="Julia")
    kernels = LocalKernels(environ=environ(tmp_path))
    assert KnownLanguage(("julia",), "the kernelspec julia-1.11", tells_variables=False) in kernels.known()
    assert kernels.get("jl").language == "julia"


def test_a_second_one_for_a_language_goes_by_its_own_name(tmp_path: Path) -> None:
    install(tmp_path, "julia-1.10", language="julia")
    install(tmp_path, "julia-1.11", language="julia")
    offered = LocalKernels(environ=environ(tmp_path)).languages
    assert [name for name in offered if "julia" in name] == ["julia", "julia-1.11"]


def test_what_terp_runs_itself_is_not_offered_twice(tmp_path: Path) -> None:
    install(tmp_path, "bash")
    install(tmp_path, "python3", language="python")
    offered = LocalKernels(environ=environ(tmp_path)).languages
    assert [name for name in offered if name in ("python", "python3", "shell", "bash")] == ["python", "shell"]


def test_a_kernelspec_whose_program_is_gone_is_not_offered(tmp_path: Path) -> None:
    install(tmp_path, "julia", argv=["/nowhere/julia", "{connection_file}"])
    assert "julia" not in LocalKernels(environ=environ(tmp_path)).languages


def test_files_that_are_no_kernelspecs_are_passed_over(tmp_path: Path) -> None:
    for name, text in (("a", "{"), ("b", "[]"), ("c", "{}"), ("d", '{"argv": 7}')):
        (tmp_path / "kernels" / name).mkdir(parents=True)
        (tmp_path / "kernels" / name / "kernel.json").write_text(text)
    found = find_specs(Machine(environ(tmp_path)))
    assert [spec.name for spec in found if spec.folder.startswith(str(tmp_path))] == []


def test_no_project_brings_kernels_of_its_own(tmp_path: Path) -> None:
    folders = spec_folders(environ(tmp_path, JUPYTER_PATH=".:share:/opt/jupyter"))
    assert [str(folder) for folder in folders] == [
        "/opt/jupyter/kernels",
        f"{tmp_path}/kernels",
        "/usr/local/share/jupyter/kernels",
        "/usr/share/jupyter/kernels",
    ]


def test_it_is_started_as_its_kernelspec_says(tmp_path: Path) -> None:
    folder = install(
        tmp_path,
        "calc",
        argv=["sh", "{resource_dir}/run", "{connection_file}"],
        env={"CALC_HOME": "${HOME}/calc"},
        interrupt_mode="message",
    )
    there = environ(tmp_path)
    spec = next(spec for spec in find_specs(Machine(there)) if spec.name == "calc")
    launch = spec_launch(spec, LocalKernels(str(tmp_path), environ=there))
    sh = Machine(there).which("sh")
    assert (launch.argv, launch.interrupt_by, launch.environment["CALC_HOME"]) == (
        (sh, f"{folder}/run", "{connection_file}"),
        "message",
        f"{tmp_path}/calc",
    )


def test_the_folder_of_a_person_wins(tmp_path: Path) -> None:
    install(tmp_path / "first", "calc", language="one")
    install(tmp_path / "second", "calc", language="two")
    there = environ(tmp_path / "second", JUPYTER_PATH=str(tmp_path / "first"))
    spec = next(spec for spec in find_specs(Machine(there)) if spec.name == "calc")
    assert spec == Spec("calc", "one", ("sh", "-f", "{connection_file}"), f"{tmp_path}/first/kernels/calc")


async def test_such_a_kernel_runs_code(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    install(tmp_path, "other", argv=argv, language="snake")
    kernels = LocalKernels(str(tmp_path), environ=environ(tmp_path))
    try:
        assert (await ran(kernels.get("snake"), "6 * 7")).results == ["42"]
    finally:
        await kernels.aclose()
