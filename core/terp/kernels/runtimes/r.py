"""R: IRkernel where it is installed, else a driver for Rscript."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from terp.kernels.jupyter.launch import KernelOptions, Launch
from terp.kernels.runtimes.kernelspecs import Spec, find_specs, spec_launch
from terp.kernels.runtimes.programs import driver_launch
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.secrets.environment import kernel_environment

if TYPE_CHECKING:
    from terp.kernels.jupyter.kernel import JupyterKernel
    from terp.kernels.jupyter.local import LocalKernels

_REMEDY = "Debian: apt install r-base-core r-cran-irkernel. macOS: brew install r."
# Where R keeps packages, below the folder of a user or of the machine.
_LIBRARIES = ("R/*-library/*", "Library/R/*/library", "Library/R/*/*/library")
_SHARED = (
    "/usr/lib/R/library",
    "/usr/lib/R/site-library",
    "/usr/local/lib/R/site-library",
    "/Library/Frameworks/R.framework/Resources/library",
)
_IRKERNEL = ("--no-echo", "--no-restore", "-e", "IRkernel::main()", "--args", "{connection_file}")


def runtimes() -> Sequence[Runtime]:
    """The row of IRkernel, and that of R without it."""
    return (
        Runtime(("r",), _find_irkernel, _REMEDY, _make_irkernel, tells_variables=False),
        Runtime(("r",), _find_r, _REMEDY, _make),
    )


def r_environment(environ: Mapping[str, str], env_pass: Sequence[str] = ()) -> dict[str, str]:
    """The environment of R: the user's packages and start files, none of the working directory.

    R would run a project's `.Rprofile` at its start, whoever wrote it.
    """
    home = environ.get("HOME", "")
    own = {"R_PROFILE_USER": f"{home}/.Rprofile", "R_ENVIRON_USER": f"{home}/.Renviron"}
    passed = ("R_LIBS", "R_LIBS_USER", "R_LIBS_SITE", "R_HOME", *own)
    return own | kernel_environment(environ, (*passed, *env_pass))


def _find_irkernel(machine: Machine) -> str:
    program = machine.which("R")
    if not program:
        return ""
    spec = _spec(machine)
    if spec is not None:
        return f"{program} with IRkernel"
    has = any((library / "IRkernel").is_dir() for library in _libraries(machine.environ, program))
    return f"{program} with IRkernel" if has else ""


def _spec(machine: Machine) -> Spec | None:
    return next((spec for spec in find_specs(machine) if "IRkernel::main()" in spec.argv), None)


def _libraries(environ: Mapping[str, str], program: str) -> Iterator[Path]:
    for name in ("R_LIBS", "R_LIBS_USER", "R_LIBS_SITE"):
        yield from (
            Path(folder) for folder in environ.get(name, "").split(os.pathsep) if folder.startswith("/")
        )
    if home := environ.get("HOME", ""):
        for pattern in _LIBRARIES:
            yield from Path(home).glob(pattern)
    yield Path(program).parent.parent / "lib/R/library"
    yield from map(Path, _SHARED)


def _find_r(machine: Machine) -> str:
    return machine.which("Rscript")


def irkernel_launch(cwd: str, environ: Mapping[str, str], options: KernelOptions | None = None) -> Launch:
    """The launch of IRkernel: by its kernelspec, or without one."""
    machine = Machine(environ)
    spec = _spec(machine) or Spec("ir", "r", (machine.which("R"), *_IRKERNEL), "")
    launch = spec_launch(spec, cwd, environ, options)
    passed = options.env_pass if options else ()
    return replace(launch, environment=_environment(environ, passed), why=_find_irkernel(machine))


def _make_irkernel(kernels: "LocalKernels") -> "JupyterKernel":
    return kernels.jupyter("r", lambda _: irkernel_launch(kernels.cwd, kernels.environ, kernels.options))


def _make(kernels: "LocalKernels") -> "JupyterKernel":
    def launch(_: str) -> Launch:
        program = _find_r(Machine(kernels.environ))
        started = driver_launch("r", program, kernels.cwd, kernels.environ, kernels.options)
        return replace(started, environment=_environment(kernels.environ, kernels.options.env_pass))

    return kernels.jupyter("r", launch)


def _environment(environ: Mapping[str, str], env_pass: Sequence[str]) -> dict[str, str]:
    return r_environment(environ, env_pass) | {"TERM": "dumb"}
