"""JavaScript and TypeScript: the kernel of deno."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terp.events.kernel import Kernel
from terp.events.outputs import Error, RunItem
from terp.kernels.jupyter.launch import Launch
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.settings.installation import install_extra
from terp.text.plain import without_escapes

if TYPE_CHECKING:
    from terp.kernels.jupyter.local import LocalKernels

# The only message of the kernel for code that it cannot parse.
_UNREADABLE = Error("Error", "Execution failed")
_EXPLAIN_S = 5.0
_SET = {
    # Otherwise values and errors contain colours, which the model would read.
    "NO_COLOR": "1",
    "DENO_NO_UPDATE_CHECK": "1",
    "DENO_NO_PROMPT": "1",
}


def runtime() -> Runtime:
    """Return the row of deno."""
    remedy = install_extra("javascript")
    return Runtime(("javascript", "typescript"), find_deno, remedy, _make, tells_variables=False)


def find_deno(machine: Machine) -> str:
    """Return the user's deno, or the one in terp's environment; "" without network: it needs ports."""
    if not machine.network:
        return ""
    own = Path(sys.executable).with_name("deno")
    return machine.which("deno") or (str(own) if own.exists() else "")


def deno_launch(deno: str, kernels: "LocalKernels") -> Launch:
    """Return the launch of deno's kernel."""
    return Launch(
        argv=(deno, "jupyter", "--quiet", "--kernel", "--conn", "{connection_file}"),
        cwd=kernels.cwd,
        environment=kernels.environment() | _SET,
        language="typescript",
        why=deno,
        start_timeout_s=kernels.options.start_timeout_s,
        # It supports no other sockets, and SIGINT ends it.
        transport="tcp",
        interrupt_by="message",
        # Measured under load: 5 of 90 results come late.
        results_lag=True,
    )


def _make(kernels: "LocalKernels") -> Kernel:
    deno = find_deno(Machine(kernels.environ))
    return DenoKernel(deno, kernels.jupyter("javascript", lambda _: deno_launch(deno, kernels)))


class DenoKernel:
    """Implements `Kernel` with deno's, and completes its messages about syntax errors."""

    language = "javascript"

    def __init__(self, deno: str, kernel: Kernel) -> None:
        self._deno = deno
        self._kernel = kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Run `code`; yield its events."""
        run = self._kernel.execute(code, run_id=run_id, number=number, timeout_s=timeout_s, moment=moment)
        async with aclosing(run) as items:
            async for item in items:
                yield await syntax_error(self._deno, code) if item == _UNREADABLE else item


async def syntax_error(deno: str, code: str) -> Error:
    """Return the syntax error in `code` as deno's formatter reports it, which has the same parser."""
    argv = (deno, "fmt", "--no-config", "--ext=ts", "-")
    pipe = asyncio.subprocess.PIPE
    errors = b""
    try:
        formatter = await asyncio.create_subprocess_exec(
            *argv, stdin=pipe, stdout=asyncio.subprocess.DEVNULL, stderr=pipe, env=_SET, cwd="/"
        )
        try:
            _, errors = await asyncio.wait_for(formatter.communicate(code.encode()), _EXPLAIN_S)
        finally:
            if formatter.returncode is None:
                formatter.kill()
    except (OSError, TimeoutError):
        pass
    found = re.match(r"error: (?:SyntaxError: )?(.*?)\n(.*?)(?=\n    at |\Z)", _plain(errors), re.DOTALL)
    if found is None:
        return _UNREADABLE
    message, picture = found.groups()
    return Error("SyntaxError", message, (f"SyntaxError: {message}", *picture.splitlines()))


def _plain(errors: bytes) -> str:
    return without_escapes(errors.decode(errors="replace"))
