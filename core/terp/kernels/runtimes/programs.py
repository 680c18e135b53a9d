"""Languages that an installed program runs: through a driver (Ruby, Perl …), compiled (C, Go …), and R."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from terp.kernels.jupyter.launch import Launch, host_argv, host_launch
from terp.kernels.runtimes.kernelspecs import Spec, find_specs, spec_launch
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.text.dataclasses import dataclass, replace

if TYPE_CHECKING:
    from terp.kernels.jupyter.kernel import JupyterKernel
    from terp.kernels.jupyter.local import LocalKernels


@dataclass(frozen=True, slots=True)
class ProgramLanguage:
    """A language with a driver or a compiler: the programs that run it, the best first, and the remedy."""

    name: str
    programs: tuple[str, ...]
    remedy: str
    tested: bool = True
    tells_variables: bool = True


_JAVA = "Debian: apt install default-jdk-headless. macOS: brew install openjdk."
_PWSH = "Debian: the package powershell of Microsoft. macOS: brew install powershell."
DRIVEN = (
    ProgramLanguage(
        "javascript", ("node", "nodejs"), "Debian: apt install nodejs. macOS: brew install node."
    ),
    ProgramLanguage("java", ("jshell",), _JAVA),
    ProgramLanguage("ruby", ("ruby",), "Debian: apt install ruby. macOS: brew install ruby."),
    ProgramLanguage("php", ("php",), "Debian: apt install php-cli. macOS: brew install php."),
    ProgramLanguage("perl", ("perl",), "Debian: apt install perl. macOS has it."),
    ProgramLanguage(
        "lua", ("lua5.4", "lua", "lua5.3"), "Debian: apt install lua5.4. macOS: brew install lua."
    ),
    ProgramLanguage("powershell", ("pwsh",), _PWSH, tested=False, tells_variables=False),
)
COMPILED = (
    ProgramLanguage(
        "c", ("cc", "gcc", "clang"), "Debian: apt install gcc libc6-dev. macOS: xcode-select --install."
    ),
    ProgramLanguage(
        "c++", ("c++", "g++", "clang++"), "Debian: apt install g++. macOS: xcode-select --install."
    ),
    ProgramLanguage("go", ("go",), "Debian: apt install golang-go. macOS: brew install go."),
    ProgramLanguage("rust", ("rustc",), "Debian: apt install rustc. macOS: brew install rust."),
    ProgramLanguage("java", ("javac",), _JAVA),
    ProgramLanguage("applescript", ("osascript",), "Only macOS has it.", tested=False),
)
# Unless the user passes their own: a compiler downloads nothing.
_COMPILER_SET = {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
_COMPILER_PASSED = (
    *("CC", "CXX", "GOROOT", "GOPATH", "GOCACHE", "RUSTUP_HOME", "CARGO_HOME", "JAVA_HOME"),
    *("CPATH", "LIBRARY_PATH"),
)

Launcher = Callable[[str, str, "LocalKernels"], Launch]
"""Returns the launch for a language and its program, with the settings of these kernels."""


def driven_runtimes() -> Sequence[Runtime]:
    """Return a row for each language with a driver."""
    return [_runtime(row, driver_launch, keeps_state=True) for row in DRIVEN]


def compiled_runtimes() -> Sequence[Runtime]:
    """Return a row for each compiled language."""
    return [_runtime(row, compiler_launch, keeps_state=False) for row in COMPILED]


def _runtime(row: ProgramLanguage, launcher: Launcher, *, keeps_state: bool) -> Runtime:
    def find(machine: Machine) -> str:
        return machine.which(*row.programs)

    def make(kernels: "LocalKernels") -> "JupyterKernel":
        return kernels.jupyter(
            row.name, lambda _: launcher(row.name, find(Machine(kernels.environ)), kernels)
        )

    return Runtime((row.name,), find, row.remedy, make, keeps_state, row.tested, row.tells_variables)


def driver_launch(name: str, program: str, kernels: "LocalKernels") -> Launch:
    """Return the launch of the kernel that runs code with `program` through a driver."""
    return host_launch(kernels, name, program, _argv("driver", name, program), kernels.environment())


def compiler_launch(name: str, program: str, kernels: "LocalKernels") -> Launch:
    """Return the launch of the kernel that compiles code with `program` and runs it."""
    environment = _COMPILER_SET | kernels.environment(*_COMPILER_PASSED, *_COMPILER_SET)
    return host_launch(kernels, name, program, _argv("compiled", name, program), environment)


def _argv(host: str, name: str, program: str) -> Sequence[str]:
    return host_argv(host, f"--ProgramKernel.language={name}", f"--ProgramKernel.program={program}")


_R_REMEDY = "Debian: apt install r-base-core r-cran-irkernel. macOS: brew install r."
# R's package folders, below the home directory and of the machine.
_R_LIBRARIES = ("R/*-library/*", "Library/R/*/library", "Library/R/*/*/library")
_R_SHARED = (
    "/usr/lib/R/library",
    "/usr/lib/R/site-library",
    "/usr/local/lib/R/site-library",
    "/Library/Frameworks/R.framework/Resources/library",
)
_IRKERNEL = ("--no-echo", "--no-restore", "-e", "IRkernel::main()", "--args", "{connection_file}")


def r_runtimes() -> Sequence[Runtime]:
    """Return the rows of R: with IRkernel, and with a driver for Rscript."""
    return (
        Runtime(("r",), _find_irkernel, _R_REMEDY, _make_irkernel, tells_variables=False),
        Runtime(("r",), _find_r, _R_REMEDY, _make_r),
    )


def r_environment(kernels: "LocalKernels") -> dict[str, str]:
    """Return the environment of R: with the user's packages and start files, without a project's.

    R would run a `.Rprofile` in the working directory at its start.
    """
    home = kernels.environ.get("HOME", "")
    own = {"R_PROFILE_USER": f"{home}/.Rprofile", "R_ENVIRON_USER": f"{home}/.Renviron"}
    passed = kernels.environment("R_LIBS", "R_LIBS_USER", "R_LIBS_SITE", "R_HOME", *own)
    return own | passed | {"TERM": "dumb"}


def irkernel_launch(kernels: "LocalKernels") -> Launch:
    """Return the launch of IRkernel: by its kernelspec, or without one."""
    machine = Machine(kernels.environ)
    spec = _irkernel_spec(machine) or Spec("ir", "r", (machine.which("R"), *_IRKERNEL), "")
    launch = spec_launch(spec, kernels)
    return replace(launch, environment=r_environment(kernels), why=_find_irkernel(machine))


def _find_irkernel(machine: Machine) -> str:
    program = machine.which("R")
    if not program:
        return ""
    libraries = _r_libraries(machine.environ, program)
    has = _irkernel_spec(machine) is not None or any((place / "IRkernel").is_dir() for place in libraries)
    return f"{program} with IRkernel" if has else ""


def _irkernel_spec(machine: Machine) -> Spec | None:
    return next((spec for spec in find_specs(machine) if "IRkernel::main()" in spec.argv), None)


def _r_libraries(environ: Mapping[str, str], program: str) -> Iterator[Path]:
    for name in ("R_LIBS", "R_LIBS_USER", "R_LIBS_SITE"):
        yield from (
            Path(folder) for folder in environ.get(name, "").split(os.pathsep) if folder.startswith("/")
        )
    if home := environ.get("HOME", ""):
        for pattern in _R_LIBRARIES:
            yield from Path(home).glob(pattern)
    yield Path(program).parent.parent / "lib/R/library"
    yield from map(Path, _R_SHARED)


def _find_r(machine: Machine) -> str:
    return machine.which("Rscript")


def _make_irkernel(kernels: "LocalKernels") -> "JupyterKernel":
    return kernels.jupyter("r", lambda _: irkernel_launch(kernels))


def _make_r(kernels: "LocalKernels") -> "JupyterKernel":
    def launch(_: str) -> Launch:
        program = _find_r(Machine(kernels.environ))
        return host_launch(kernels, "r", program, _argv("driver", "r", program), r_environment(kernels))

    return kernels.jupyter("r", launch)
