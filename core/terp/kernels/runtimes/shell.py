"""The shell: bash, or the person's zsh."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from terp.kernels.environment import kernel_environment
from terp.kernels.launch import Launch, host_argv
from terp.kernels.runtimes.runtime import Machine, Runtime

if TYPE_CHECKING:
    from terp.kernels.jupyter import JupyterKernel
    from terp.kernels.local import LocalKernels

# Unless the person passes their own: nothing waits for keys on a screen that is not there.
_SET = {
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GIT_MERGE_AUTOEDIT": "no",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "npm_config_yes": "true",
    # What a program has printed is seen when it prints it.
    "PYTHONUNBUFFERED": "1",
}


def runtime() -> Runtime:
    """The row of the shell."""
    return Runtime(("shell",), find_shell, "Install bash.", _make)


def find_shell(machine: Machine) -> str:
    """bash; the person's zsh where there is no bash."""
    return machine.which("bash") or _own_zsh(machine.environ)


def _own_zsh(environ: Mapping[str, str]) -> str:
    own = environ.get("SHELL", "")
    return own if Path(own).name == "zsh" and Path(own).exists() else ""


def _make(kernels: "LocalKernels") -> "JupyterKernel":
    options = kernels.options

    def launch(_: str) -> Launch:
        environ = kernels.environ
        program = find_shell(Machine(environ))
        environment = _SET | kernel_environment(environ, options.env_pass)
        return Launch(
            argv=host_argv("shell", f"--ShellKernel.program={program}"),
            cwd=kernels.cwd,
            # Colours and cursor movements are for a terminal that the cells do not have.
            environment=environment | {"TERM": "dumb"},
            language="shell",
            why=program,
            start_timeout_s=options.start_timeout_s,
        )

    return kernels.jupyter("shell", launch)
