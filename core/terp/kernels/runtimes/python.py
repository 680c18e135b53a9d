"""Python: ipykernel in the user's environment with terp's package in it; SQL: DuckDB in that kernel."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from terp.events.kernel import Kernel
from terp.events.outputs import RunItem
from terp.kernels.jupyter.launch import Launch, bootstrap_code, python_argv
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.secrets.environment import python_environment
from terp.settings.interpreter import has_module, needed_by

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
    """Return the row of Python, which is always installed: terp itself runs in one."""
    return Runtime(("python",), lambda machine: machine.python, "", _make)


def _make(kernels: "LocalKernels") -> "JupyterKernel":
    def launch(token: str) -> Launch:
        # Read now: they may change between two starts.
        options, interpreter = kernels.options, kernels.python
        return Launch(
            argv=python_argv(interpreter),
            cwd=kernels.cwd,
            environment=python_environment(interpreter, kernels.environment()),
            language="python",
            why=interpreter.why,
            bootstrap="\n".join(
                [
                    # A provisioner may start it on another machine.
                    bootstrap_code(token, files=options.provisioner is None),
                    _PIP if interpreter.programs else "",
                    options.prelude,
                    kernels.functions(),
                ]
            ),
            start_timeout_s=options.start_timeout_s,
            keeps_unread=True,
            needs=needed_by(interpreter),
        )

    return kernels.jupyter("python", launch, provisioned=True)


def sql_runtime() -> Runtime:
    """Return the row of SQL."""
    return Runtime(("sql",), _find_duckdb, "Install duckdb in the Python that runs the code.", _make_sql)


def _find_duckdb(machine: Machine) -> str:
    return "duckdb, in the Python kernel" if has_module(machine.python, "duckdb") else ""


def _make_sql(kernels: "LocalKernels") -> Kernel:
    return SqlKernel(kernels.python_kernel())


class SqlKernel:
    """Implements `Kernel` with a Python kernel: a query is a cell there, the rest is passed on."""

    language = "sql"

    def __init__(self, python: Kernel) -> None:
        self._python = python

    def __getattr__(self, name: str) -> Any:
        return getattr(self._python, name)

    async def aclose(self) -> None:
        """Do nothing: the owner of the Python kernel ends it."""

    def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Run one query or several."""
        query = f"__import__('terp_home.sql').sql.run({code!r})"
        return self._python.execute(query, run_id=run_id, number=number, timeout_s=timeout_s, moment=moment)
