"""Languages that an installed program runs: through a driver (Ruby, Perl …), compiled (C, Go …), and R."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from terp.kernels.jupyter.launch import KernelOptions, Launch, host_argv
from terp.kernels.runtimes.kernelspecs import Spec, find_specs, spec_launch
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.secrets.environment import kernel_environment
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

Launcher = Callable[[str, str, str, Mapping[str, str], KernelOptions | None], Launch]
"""Returns the launch for a language, its program, a working directory, the environment, and options."""


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
        def launch(_: str) -> Launch:
            program = find(Machine(kernels.environ))
            return launcher(row.name, program, kernels.cwd, kernels.environ, kernels.options)

        return kernels.jupyter(row.name, launch)

    return Runtime((row.name,), find, row.remedy, make, keeps_state, row.tested, row.tells_variables)


def driver_launch(
    name: str, program: str, cwd: str, environ: Mapping[str, str], options: KernelOptions | None = None
) -> Launch:
    """Return the launch of the kernel that runs code with `program` through a driver."""
    options = options or KernelOptions()
    environment = kernel_environment(environ, options.env_pass)
    return _host_launch("DriverKernel", name, program, cwd, environment, options)


def compiler_launch(
    name: str, program: str, cwd: str, environ: Mapping[str, str], options: KernelOptions | None = None
) -> Launch:
    """Return the launch of the kernel that compiles code with `program` and runs it."""
    options = options or KernelOptions()
    passed = (*_COMPILER_PASSED, *_COMPILER_SET, *options.env_pass)
    environment = _COMPILER_SET | kernel_environment(environ, passed)
    return _host_launch("CompiledKernel", name, program, cwd, environment, options)


def _host_launch(
    kernel: str,
    name: str,
    program: str,
    cwd: str,
    environment: dict[str, str],
    options: KernelOptions,
) -> Launch:
    host = "driver" if kernel == "DriverKernel" else "compiled"
    return Launch(
        argv=host_argv(host, f"--{kernel}.language={name}", f"--{kernel}.program={program}"),
        cwd=cwd,
        # Colours and cursor movements are for a terminal, which cells do not have.
        environment=environment | {"TERM": "dumb"},
        language=name,
        why=program,
        start_timeout_s=options.start_timeout_s,
        keeps_unread=True,
    )


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


def r_environment(environ: Mapping[str, str], env_pass: Sequence[str] = ()) -> dict[str, str]:
    """Return the environment of R: with the user's packages and start files, without a project's.

    R would run a `.Rprofile` in the working directory at its start.
    """
    home = environ.get("HOME", "")
    own = {"R_PROFILE_USER": f"{home}/.Rprofile", "R_ENVIRON_USER": f"{home}/.Renviron"}
    passed = ("R_LIBS", "R_LIBS_USER", "R_LIBS_SITE", "R_HOME", *own)
    return own | kernel_environment(environ, (*passed, *env_pass))


def irkernel_launch(cwd: str, environ: Mapping[str, str], options: KernelOptions | None = None) -> Launch:
    """Return the launch of IRkernel: by its kernelspec, or without one."""
    machine = Machine(environ)
    spec = _irkernel_spec(machine) or Spec("ir", "r", (machine.which("R"), *_IRKERNEL), "")
    launch = spec_launch(spec, cwd, environ, options)
    return _for_r(launch, environ, options, why=_find_irkernel(machine))


def _for_r(launch: Launch, environ: Mapping[str, str], options: KernelOptions | None, *, why: str) -> Launch:
    environment = r_environment(environ, options.env_pass if options else ())
    return replace(launch, environment=environment | {"TERM": "dumb"}, why=why)


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
    return kernels.jupyter("r", lambda _: irkernel_launch(kernels.cwd, kernels.environ, kernels.options))


def _make_r(kernels: "LocalKernels") -> "JupyterKernel":
    def launch(_: str) -> Launch:
        program = _find_r(Machine(kernels.environ))
        started = driver_launch("r", program, kernels.cwd, kernels.environ, kernels.options)
        return _for_r(started, kernels.environ, kernels.options, why=program)

    return kernels.jupyter("r", launch)
