"""SQL: DuckDB inside the Python kernel, where it sees the data frames."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from terp.events.kernel import Kernel
from terp.events.outputs import RunItem
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.settings.interpreter import has_module

if TYPE_CHECKING:
    from terp.kernels.jupyter.local import LocalKernels


def runtime() -> Runtime:
    """The row of SQL."""
    return Runtime(("sql",), _find, "Install duckdb in the Python that runs the code.", _make)


def _find(machine: Machine) -> str:
    return "duckdb, in the Python kernel" if has_module(machine.python, "duckdb") else ""


def _make(kernels: "LocalKernels") -> Kernel:
    return SqlKernel(kernels.python_kernel())


class SqlKernel:
    """Implements `Kernel` with a Python kernel: a query runs there, all else is that kernel's own."""

    language = "sql"

    def __init__(self, python: Kernel) -> None:
        self._python = python

    def __getattr__(self, name: str) -> Any:
        return getattr(self._python, name)

    async def aclose(self) -> None:
        """The Python kernel is ended by its owner."""

    def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Run a query, or several."""
        query = f"__import__('terp_home.sql').sql.run({code!r})"
        return self._python.execute(query, run_id=run_id, number=number, timeout_s=timeout_s, moment=moment)
