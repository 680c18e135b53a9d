"""Python: ipykernel in the person's environment, with terp's own package in it."""

from typing import TYPE_CHECKING

from terp.kernels.jupyter.bootstrap_code import bootstrap_code
from terp.kernels.jupyter.launch import Launch, python_argv
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.secrets.environment import kernel_environment, python_environment
from terp.settings.interpreter import needed_by

if TYPE_CHECKING:
    from terp.kernels.jupyter.kernel import JupyterKernel
    from terp.kernels.jupyter.local import LocalKernels

# IPython's own magic needs the module pip in the environment, and so does `!{sys.executable} -m pip`: both
# take the pip on the PATH. `var_expand` reads the frame of its caller, which is one further away here.
_PIP = r"""
(lambda shell, expand, own: (
    shell.register_magic_function(lambda line: shell.system("pip " + line), magic_name="pip"),
    setattr(shell, "var_expand", lambda cmd, depth=0, **more: own.sub("pip", expand(cmd, depth + 1, **more))),
))(get_ipython(), get_ipython().var_expand, __import__("re").compile(
    r"^\s*([\"']?)(?:python[\d.]*|%s)\1\s+-m\s+pip(?=\s)"
    % __import__("re").escape(__import__("sys").executable)
))
"""


def runtime() -> Runtime:
    """The row of Python. It is always here: terp has one."""
    return Runtime(("python",), _find, "", _make)


def _find(machine: Machine) -> str:
    return machine.python


def _make(kernels: "LocalKernels") -> "JupyterKernel":
    def launch(token: str) -> Launch:
        # As they are by then: they may change between two starts.
        options, interpreter = kernels.options, kernels.python
        return Launch(
            argv=python_argv(interpreter),
            cwd=kernels.cwd,
            environment=python_environment(
                interpreter, kernel_environment(kernels.environ, options.env_pass)
            ),
            language="python",
            why=interpreter.why,
            bootstrap="\n".join(
                [
                    bootstrap_code(token),
                    _PIP if interpreter.programs else "",
                    options.prelude,
                    kernels.functions(),
                ]
            ),
            start_timeout_s=options.start_timeout_s,
            keeps_unread=True,
            needs=needed_by(interpreter),
        )

    return kernels.provisioned("python", launch)
