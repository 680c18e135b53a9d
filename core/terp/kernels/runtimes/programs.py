"""Languages that an installed program runs: through a driver (Ruby, Perl …) or compiled (C, Go …)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from terp.kernels.jupyter.launch import KernelOptions, Launch, host_argv
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.secrets.environment import kernel_environment

if TYPE_CHECKING:
    from terp.kernels.jupyter.kernel import JupyterKernel
    from terp.kernels.jupyter.local import LocalKernels

# Unless the user passes their own: nothing is fetched because a program was compiled.
_COMPILER_SET = {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
_COMPILER_PASSED = (
    "CC",
    "CXX",
    "GOROOT",
    "GOPATH",
    "GOCACHE",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "JAVA_HOME",
    "CPATH",
    "LIBRARY_PATH",
)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A language of `COMPILERS`: the compilers, the best first, and how to get one."""

    name: str
    programs: tuple[str, ...]
    remedy: str
    tested: bool = True


COMPILED = (
    Compiled(
        "c", ("cc", "gcc", "clang"), "Debian: apt install gcc libc6-dev. macOS: xcode-select --install."
    ),
    Compiled("c++", ("c++", "g++", "clang++"), "Debian: apt install g++. macOS: xcode-select --install."),
    Compiled("go", ("go",), "Debian: apt install golang-go. macOS: brew install go."),
    Compiled("rust", ("rustc",), "Debian: apt install rustc. macOS: brew install rust."),
    Compiled("java", ("javac",), "Debian: apt install default-jdk-headless. macOS: brew install openjdk."),
    Compiled("applescript", ("osascript",), "Only macOS has it.", tested=False),
)


def compiled_runtimes() -> Sequence[Runtime]:
    """One row for each of them."""
    return [
        Runtime(
            (row.name,),
            _finder(row.programs),
            row.remedy,
            _compiled_maker(row),
            keeps_state=False,
            tested=row.tested,
        )
        for row in COMPILED
    ]


def compiler_launch(
    name: str, program: str, cwd: str, environ: Mapping[str, str], options: KernelOptions | None = None
) -> Launch:
    """The launch of the kernel that compiles code with `program` and runs it."""
    options = options or KernelOptions()
    arguments = (f"--CompiledKernel.language={name}", f"--CompiledKernel.program={program}")
    environment = _COMPILER_SET | kernel_environment(
        environ, (*_COMPILER_PASSED, *_COMPILER_SET, *options.env_pass)
    )
    return Launch(
        argv=host_argv("compiled", *arguments),
        cwd=cwd,
        environment=environment | {"TERM": "dumb"},
        language=name,
        why=program,
        start_timeout_s=options.start_timeout_s,
        keeps_unread=True,
    )


def _compiled_maker(row: Compiled) -> "Callable[[LocalKernels], JupyterKernel]":
    def make(kernels: "LocalKernels") -> "JupyterKernel":
        def launch(_: str) -> Launch:
            program = Machine(kernels.environ).which(*row.programs)
            return compiler_launch(row.name, program, kernels.cwd, kernels.environ, kernels.options)

        return kernels.jupyter(row.name, launch)

    return make


@dataclass(frozen=True, slots=True)
class Driven:
    """A language of `DRIVERS`: the programs that run it, the best first, and how to get one."""

    names: tuple[str, ...]
    driver: str
    programs: tuple[str, ...]
    remedy: str
    tested: bool = True
    tells_variables: bool = True


DRIVEN = (
    Driven(
        ("javascript",),
        "javascript",
        ("node", "nodejs"),
        "Debian: apt install nodejs. macOS: brew install node.",
    ),
    Driven(
        ("java",),
        "java",
        ("jshell",),
        "Debian: apt install default-jdk-headless. macOS: brew install openjdk.",
    ),
    Driven(("ruby",), "ruby", ("ruby",), "Debian: apt install ruby. macOS: brew install ruby."),
    Driven(("php",), "php", ("php",), "Debian: apt install php-cli. macOS: brew install php."),
    Driven(("perl",), "perl", ("perl",), "Debian: apt install perl. macOS has it."),
    Driven(
        ("lua",),
        "lua",
        ("lua5.4", "lua", "lua5.3"),
        "Debian: apt install lua5.4. macOS: brew install lua.",
    ),
    Driven(
        ("powershell",),
        "powershell",
        ("pwsh",),
        "Debian: the package powershell of Microsoft. macOS: brew install powershell.",
        tested=False,
        tells_variables=False,
    ),
)


def driven_runtimes() -> Sequence[Runtime]:
    """One row for each of them."""
    return [
        Runtime(
            row.names,
            _finder(row.programs),
            row.remedy,
            _driven_maker(row),
            tested=row.tested,
            tells_variables=row.tells_variables,
        )
        for row in DRIVEN
    ]


def driver_launch(
    driver: str, program: str, cwd: str, environ: Mapping[str, str], options: KernelOptions | None = None
) -> Launch:
    """The launch of the kernel that runs code with `program` through a driver."""
    options = options or KernelOptions()
    arguments = (f"--DriverKernel.language={driver}", f"--DriverKernel.program={program}")
    return Launch(
        argv=host_argv("driver", *arguments),
        cwd=cwd,
        # Colours and cursor movements are for a terminal that the cells do not have.
        environment=kernel_environment(environ, options.env_pass) | {"TERM": "dumb"},
        language=driver,
        why=program,
        start_timeout_s=options.start_timeout_s,
        keeps_unread=True,
    )


def _finder(programs: tuple[str, ...]) -> Callable[[Machine], str]:
    return lambda machine: machine.which(*programs)


def _driven_maker(row: Driven) -> "Callable[[LocalKernels], JupyterKernel]":
    def make(kernels: "LocalKernels") -> "JupyterKernel":
        def launch(_: str) -> Launch:
            program = Machine(kernels.environ).which(*row.programs)
            return driver_launch(row.driver, program, kernels.cwd, kernels.environ, kernels.options)

        return kernels.jupyter(row.names[0], launch)

    return make
