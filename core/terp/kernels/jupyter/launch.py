"""Connectors and command lines for kernels that terp starts, and the bootstrap code for Python."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import terp
from terp.errors import SettingsError
from terp.kernels.jupyter.channels import Connection, Connector
from terp.kernels.sandbox.effects import HeldEffects
from terp.kernels.sandbox.tier import Confined, unconfined
from terp.settings.interpreter import Interpreter
from terp.text.dataclasses import dataclass, field
from terp.text.importing import import_slow

if TYPE_CHECKING:
    from terp.kernels.jupyter.local import LocalKernels

# `-E` and `-P` keep the user's PYTHONPATH and directory from the host; programs that it starts get them.
_START = """
import runpy, sys
home, module = sys.argv.pop(1), sys.argv.pop(1)
if home not in sys.path:
    sys.path.insert(0, home)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True, slots=True)
class Provisioner:
    """An entry point of the group `jupyter_client.kernel_provisioners`, and its configuration."""

    name: str
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """Options for the start of kernels.

    `python` is the interpreter for Python code ("": the active environment's, else terp's own). `shell` is a
    bash or zsh by name or path ("": bash, else the user's zsh). `env_pass` names variables that a kernel gets
    besides the harmless ones. `prelude` is code that the Python kernel runs silently at each start.
    `provisioner` starts kernels of Python and of kernelspecs in place of terp. `languages` are offered if
    they are installed (none: all of terp's table). A run's output past `max_output_chars` is counted and
    dropped. With `keep` kernels at a gateway outlive the session.
    """

    python: str = ""
    shell: str = ""
    env_pass: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    prelude: str = ""
    provisioner: Provisioner | None = None
    start_timeout_s: float = 60.0
    max_output_chars: int = 64_000_000
    keep: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(Connector):
    """A command line, which has `{connection_file}` in it.

    `why` is the reason for this kernel, for the user. `bootstrap` is code that the kernel runs silently
    before the first cell. `transport` is "ipc" (sockets in a private directory), or "tcp" (ports of
    127.0.0.1) for kernels that support nothing else. `interrupt_by` is "signal" (SIGINT to the process group)
    or "message". With `results_lag` a result may arrive after the kernel's `idle` status. A kernel that
    `keeps_unread` drops no unread messages. `needs` are folders that it must read, wherever they lie.
    `confined` is its sandbox, `effects` where its effects are decided if they are held. A `provisioner` runs
    the command in place of terp, without a sandbox.
    """

    argv: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    language: str
    why: str = ""
    bootstrap: str = ""
    start_timeout_s: float = 60.0
    transport: Literal["ipc", "tcp"] = "ipc"
    interrupt_by: Literal["signal", "message"] = "signal"
    results_lag: bool = False
    keeps_unread: bool = False
    needs: tuple[str, ...] = ()
    confined: Confined = field(default_factory=unconfined)
    effects: HeldEffects = field(default_factory=HeldEffects)
    provisioner: Provisioner | None = None
    starting: AbstractAsyncContextManager[Any] = field(default_factory=nullcontext)

    @property
    def tier(self) -> str:
        """The sandbox of the process."""
        return self.confined.what

    def load(self) -> Callable[[], Connection]:
        """Return a function that makes the connection."""
        # Importing jupyter_client takes 100 ms, in which a front end can draw.
        if self.provisioner is not None:
            return partial(import_slow("terp.kernels.jupyter.provisioned").ProvisionedKernel, self)
        return partial(import_slow("terp.kernels.jupyter.process").KernelProcess, self)


# With `-m` and `-c` the working directory is first on the path: a module there would run before any approval.
# Until it is removed only built-in modules may be imported. The folders are added last, so that they shadow
# nothing of the environment, and not by a variable, which child processes would inherit.
# Without garbage collection until terp's package turns it on, and without debugpy, which terp does not use
# and which takes 80 ms to import.
_LAUNCH = """
import sys
sys.path[:] = [one for one in sys.path if one]
import gc, os, runpy
gc.disable()
sys.path += [one for one in sys.argv.pop(1).split(os.pathsep) if one]
sys.modules["debugpy"] = None
try:
    import ipykernel.debugger
except ImportError:
    pass
del sys.modules["debugpy"]
runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
"""


def python_argv(python: Interpreter) -> Sequence[str]:
    """Return the command line of an ipykernel, with options that make it fast and quiet.

    It imports nothing from its working directory before the first cell.
    """
    return (
        python.path,
        "-c",
        _LAUNCH,
        os.pathsep.join(python.folders),
        "-f",
        "{connection_file}",
        "--InteractiveShellApp.ignore_cwd=True",
        # Many kernels would lock one SQLite file.
        "--HistoryManager.enabled=False",
        # The first completion through jedi takes over a second.
        "--Completer.use_jedi=False",
        # Saves 0.6 ms of the 3 ms of a short run.
        "--IPythonKernel._execute_sleep=0",
        # terp's package puts its own pipes behind file descriptors 1 and 2.
        "--IPKernelApp.capture_fd_output=False",
    )


def host_argv(language: str, *arguments: str) -> Sequence[str]:
    """Return the command line of one of terp's own kernels: the module of that name in `hosts`.

    `arguments` are for the kernel itself, as `--ShellKernel.program=/bin/bash`.
    """
    module = f"terp.kernels.hosts.{language}"
    plain = "--IPKernelApp.capture_fd_output=False"
    return own_argv(module, "-f", "{connection_file}", plain, *arguments)


def host_launch(
    kernels: "LocalKernels", language: str, program: str, argv: Sequence[str], environment: Mapping[str, str]
) -> Launch:
    """Return the launch of one of terp's own kernels, which runs code of `language` with `program`."""
    return Launch(
        argv=argv,
        cwd=kernels.cwd,
        # Colours and cursor movements are for a terminal, which cells do not have.
        environment={**environment, "TERM": "dumb"},
        language=language,
        why=program,
        start_timeout_s=kernels.options.start_timeout_s,
        keeps_unread=True,
    )


def own_argv(module: str, *arguments: str) -> Sequence[str]:
    """Return the command line that runs a module of terp in terp's Python, in any environment."""
    home = str(Path(terp.__file__).parent.parent)
    return (sys.executable, "-E", "-P", "-c", _START, home, module, *arguments)


# A finder for the package: a module is read or compiled when it is first imported. The bytecode of a file is
# used, and never written: effects of a sandboxed kernel may be held, and the user would be asked about it.
# Either way a module has the same file name, by which its frames are left out of tracebacks.
_LOADER = """
def load(sources, files, token, session, away):
    import sys
    from importlib.machinery import ModuleSpec, SourceFileLoader
    from IPython import get_ipython

    class File(SourceFileLoader):
        __module__ = "terp_home"

        def set_data(self, path, data, *, _mode=0o666):
            pass

        def get_code(self, name):
            return named(super().get_code(name), "<" + name + ">")

    def named(code, name):
        inner = [named(one, name) if isinstance(one, type(code)) else one for one in code.co_consts]
        return code.replace(co_filename=name, co_consts=tuple(inner))

    class Sources:
        __module__ = "terp_home"

        def find_spec(self, name, path=None, target=None):
            if name not in sources:
                return None
            loader = File(name, sources[name]) if files else self
            return ModuleSpec(name, loader, is_package=name == "terp_home")

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            name = module.__name__
            exec(compile(sources[name], "<" + name + ">", "exec"), module.__dict__)

    # A kernel of terp can have guests, each of which runs this.
    if "terp_home" not in sys.modules:
        sys.meta_path.insert(0, Sources())
    import terp_home
    if session:
        terp_home.visit(get_ipython(), token, session)
    elif away and terp_home.is_at_home():
        terp_home.adopt(token)
    else:
        terp_home.install(get_ipython(), token, away)
"""


def bootstrap_code(token: str, session: str = "", *, away: bool = False, files: bool = False) -> str:
    """Code that loads the package as `terp_home` into a kernel, and leaves no other name there.

    `session` is the client id for a kernel of another program. With `away` the kernel is terp's and on
    another machine: it outlives terp, which may reconnect to it, and it reports its files itself. With
    `files` it reads the modules, compiled, from terp's folder; else their sources are part of the code.
    """
    paths = {_module(path.stem): path for path in sorted((Path(__file__).parents[1] / "inside").glob("*.py"))}
    if files:
        _write_bytecode(paths)
    sources = {name: str(path) if files else path.read_text(encoding="utf-8") for name, path in paths.items()}
    # One expression: a statement would bind a name in the user's namespace.
    load = f"space['load']({sources!r}, {files!r}, {token!r}, {session!r}, {away!r})"
    return f"(lambda space: (exec({_LOADER!r}, space), {load}))({{}})"


def _write_bytecode(paths: Mapping[str, Path]) -> None:
    """Compile modules that this Python has not compiled since they changed, as their import would."""
    for name, path in paths.items():
        compiled = Path(cache_from_source(path))
        is_old = not compiled.exists() or compiled.stat().st_mtime < path.stat().st_mtime
        # Where it cannot be written, the kernel compiles what it imports.
        if is_old and not sys.dont_write_bytecode and os.access(path.parent, os.W_OK):
            SourceFileLoader(name, str(path)).get_code(name)


def farewell_code(session: str) -> str:
    """Code that removes the package from a kernel of another program."""
    return f"(lambda home: home and home.leave({session!r}))(__import__('sys').modules.get('terp_home'))"


def _module(stem: str) -> str:
    return "terp_home" if stem == "__init__" else f"terp_home.{stem}"


def provisioner_of(name: str, config: Mapping[str, Any]) -> Provisioner | None:
    """Return the provisioner of that name with this configuration; None without a name.

    Raises:
        SettingsError: there is a configuration without the name of a provisioner.
    """
    if config and not name:
        raise SettingsError(["kernel_provisioner_config: kernel_provisioner is not set, so it has no use."])
    return Provisioner(name, config) if name else None
