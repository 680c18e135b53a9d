"""The shell: bash, or the user's zsh."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from terp.kernels.jupyter.launch import Launch, host_argv, host_launch
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.secrets.environment import python_environment
from terp.settings.interpreter import needed_by
from terp.text.paths import typed_path

if TYPE_CHECKING:
    from terp.kernels.jupyter.kernel import JupyterKernel
    from terp.kernels.jupyter.local import LocalKernels

# Unless the user passes their own: no program waits for keys.
_SET = {
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GIT_MERGE_AUTOEDIT": "no",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "npm_config_yes": "true",
    # Output is shown when it is printed.
    "PYTHONUNBUFFERED": "1",
}


def runtime() -> Runtime:
    """Return the row of the shell."""
    remedy = "Install bash, or name a bash or zsh with --shell."
    return Runtime(("shell",), find_shell, remedy, _make)


def find_shell(machine: Machine) -> str:
    """Return the configured shell; else bash, or the user's zsh if there is no bash."""
    if machine.shell:
        chosen = machine.which(str(typed_path(machine.shell)))
        return chosen if Path(chosen).name in ("bash", "zsh") else ""
    return machine.which("bash") or _own_zsh(machine.environ)


def _own_zsh(environ: Mapping[str, str]) -> str:
    own = environ.get("SHELL", "")
    return own if Path(own).name == "zsh" and Path(own).exists() else ""


def shell_launch(kernels: "LocalKernels") -> Launch:
    """Return the launch of the kernel of the shell. Its `pip` and `python` are those of the Python kernel."""
    program = find_shell(Machine(kernels.environ, shell=kernels.options.shell))
    environment = python_environment(kernels.python, _SET | kernels.environment())
    argv = host_argv("shell", f"--ShellKernel.program={program}")
    made = host_launch(kernels, "shell", program, argv, environment)
    return replace(made, needs=needed_by(kernels.python))


def _make(kernels: "LocalKernels") -> "JupyterKernel":
    return kernels.jupyter("shell", lambda _: shell_launch(kernels))
