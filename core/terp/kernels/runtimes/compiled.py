"""C, C++, Go, Rust, and Java where there is no jshell: each run is a whole program."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from terp.kernels.jupyter.launch import Launch, host_argv
from terp.kernels.options import KernelOptions
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.secrets.environment import kernel_environment

if TYPE_CHECKING:
    from terp.kernels.jupyter.kernel import JupyterKernel
    from terp.kernels.jupyter.local import LocalKernels

# Unless the person passes their own: nothing is fetched because a program was compiled.
_SET = {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
_PASSED = (
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
    """A language of `compiler_table`: the compilers, the best first, and how to get one."""

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


def runtimes() -> Sequence[Runtime]:
    """One row for each of them."""
    return [
        Runtime(
            (row.name,), _finder(row.programs), row.remedy, _maker(row), keeps_state=False, tested=row.tested
        )
        for row in COMPILED
    ]


def compiler_launch(
    name: str, program: str, cwd: str, environ: Mapping[str, str], options: KernelOptions | None = None
) -> Launch:
    """How the kernel is started that compiles code by `program` and runs it."""
    options = options or KernelOptions()
    arguments = (f"--CompiledKernel.language={name}", f"--CompiledKernel.program={program}")
    environment = _SET | kernel_environment(environ, (*_PASSED, *_SET, *options.env_pass))
    return Launch(
        argv=host_argv("compiled", *arguments),
        cwd=cwd,
        environment=environment | {"TERM": "dumb"},
        language=name,
        why=program,
        start_timeout_s=options.start_timeout_s,
        keeps_unread=True,
    )


def _finder(programs: tuple[str, ...]) -> Callable[[Machine], str]:
    return lambda machine: machine.which(*programs)


def _maker(row: Compiled) -> "Callable[[LocalKernels], JupyterKernel]":
    def make(kernels: "LocalKernels") -> "JupyterKernel":
        def launch(_: str) -> Launch:
            program = Machine(kernels.environ).which(*row.programs)
            return compiler_launch(row.name, program, kernels.cwd, kernels.environ, kernels.options)

        return kernels.jupyter(row.name, launch)

    return make
