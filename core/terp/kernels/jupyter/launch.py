"""How kernels are started."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import terp
from terp.kernels.jupyter.connection import Connection
from terp.kernels.sandbox.tier import Confined
from terp.kernels.sandbox.unconfined import unconfined
from terp.settings.interpreter import Interpreter
from terp.text.importing import import_slow

# `-E` and `-P` keep the person's PYTHONPATH and directory away from the host; what it starts has them.
_START = """
import runpy, sys
home, module = sys.argv.pop(1), sys.argv.pop(1)
if home not in sys.path:
    sys.path.insert(0, home)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True, slots=True)
class Launch:
    """Implements `Way` with a process of our own.

    It is a command line with `{connection_file}` in it, a directory, an environment, and why this one.

    `bootstrap` is code that the kernel runs silently before the first cell. `transport` is how messages
    travel: sockets in a private directory, or ports of 127.0.0.1 for kernels that know nothing else.
    `interrupt_by` is what stops the code: SIGINT to the kernel's process group, or a message. With
    `results_lag` a result may come after the kernel has said that it is idle. A kernel that `keeps_unread`
    drops no message because nobody has read it yet. It `needs` to read certain folders, wherever they lie;
    `confined` is what holds it.
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

    @property
    def tier(self) -> str:
        """What confines it."""
        return self.confined.what

    @property
    def guest(self) -> None:
        """Nobody's guest."""

    def load(self) -> Callable[[], Connection]:
        """What makes the process."""
        # Importing jupyter_client takes 100 ms, in which a front end wants to draw.
        return partial(import_slow("terp.kernels.jupyter.process").KernelProcess, self)


# `-m` and `-c` look into the working directory first: a module there would run before any code was approved.
# Before that is off the path nothing may be imported but what is part of the interpreter.
# The folders come last on the path, so that nothing in them shadows what the environment has itself, and
# not by a variable, so that no process the code starts inherits them.
_LAUNCH = (
    "import sys; sys.path[:] = [one for one in sys.path if one]; "
    "import os, runpy; sys.path += [one for one in sys.argv.pop(1).split(os.pathsep) if one]; "
    "runpy.run_module('ipykernel_launcher', run_name='__main__', alter_sys=True)"
)


def python_argv(python: Interpreter) -> Sequence[str]:
    """The command line of an ipykernel, with the options that make it quick and quiet.

    It imports nothing from its directory until the bootstrap lets it, with the first cell.
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
        # The bootstrap has pipes of its own behind file descriptors 1 and 2.
        "--IPKernelApp.capture_fd_output=False",
    )


def host_argv(language: str, *arguments: str) -> Sequence[str]:
    """The command line of one of terp's own kernels: the module of that name in `hosts`.

    `arguments` are for the kernel itself, as `--ShellKernel.program=/bin/bash`.
    """
    module = f"terp.kernels.hosts.{language}"
    plain = "--IPKernelApp.capture_fd_output=False"
    return own_argv(module, "-f", "{connection_file}", plain, *arguments)


def own_argv(module: str, *arguments: str) -> Sequence[str]:
    """The command line of a module of terp's, in terp's Python, whatever the environment says."""
    home = str(Path(terp.__file__).parent.parent)
    return (sys.executable, "-E", "-P", "-c", _START, home, module, *arguments)
