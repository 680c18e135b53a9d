"""`LiveKernel`: the kernels of a session for a program: run its code, exchange values and files."""

import asyncio
import shlex
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from terp.errors import KernelBusy, KernelError
from terp.events import CodeRejected, KernelChanged
from terp.events.kernel import Kernel, Variable
from terp.events.run_log import RunLog
from terp.kernels.remote.files import fetched, given
from terp.models.tool import Call
from terp.session.foreground import Foreground
from terp.session.reply import CodeRun, code_run, files_in
from terp.session.values import asked, check_name, received, sent

if TYPE_CHECKING:
    from terp.kernels.jupyter.running import RunningKernel
    from terp.session.session import Session

T = TypeVar("T")
LARGEST_FILE = 1_000_000_000
"""The size limit of a downloaded file, in bytes."""
_PACKAGES_S = 30.0
_PYTHON = "python"


def check_text(what: str, given: object) -> None:
    """Raise unless an argument of the program is text.

    Raises:
        TypeError: it is something else, which the message quotes.
    """
    if not isinstance(given, str):
        raise TypeError(f"{what} is {given!r}, must be text.")


class LiveKernel:
    """The kernels of a session, wherever they run: on this machine, in a sandbox, behind a gateway.

    The first use starts a kernel. Code runs without a question: it is the program's own. A model reads of it,
    and of variables that were set, with the next prompt. Values, files and packages are those of the Python
    kernel. One thing runs at a time; `interrupt` stops it.
    """

    def __init__(self, session: "Session", foreground: Foreground) -> None:
        self.session = session
        self._foreground = foreground

    async def run(self, code: str, language: str = "") -> CodeRun:
        """Run code to its end; return its outputs. An exception in it is `error` of the run, and not raised.

        `language` is by default the first one of the session. Code that has become a background job returns
        with the status "running".

        Raises:
            KernelError: no kernel could run it.
            KernelBusy: a background job has the kernel.
            RuntimeError: a turn of this session is running.
        """
        check_text("The code", code)
        check_text("The language", language)
        session = self.session
        async with aclosing(session.run(language or session.kernels.languages[0], code)) as running:
            events = [event async for event in running]
        if rejected := next((one for one in events if isinstance(one, CodeRejected)), None):
            raise KernelError(rejected.reason)
        return code_run(RunLog.of(events).all[-1])

    async def variables(self) -> Mapping[str, Variable]:
        """Return the Python kernel's variables by name: type, shape, size in bytes, beginning of the value.

        Raises:
            KernelBusy: code runs, and the kernel cannot answer meanwhile.
        """
        return {one.name: one for one in await self._kernel(_PYTHON).variables()}

    async def get(self, name: str) -> Any:
        """Return a copy of a variable's value.

        Tables of pandas, polars and pyarrow come as Arrow, arrays and numbers of numpy as npy; dicts with
        text as keys, lists, text, numbers, True, False and None come as JSON, which makes lists of tuples.
        Without pyarrow on both sides only simple tables of pandas come. The limit is 2 GB, 100 MB for JSON.

        Raises:
            MissingVariable: there is none of this name; it is a KeyError too.
            CannotTransfer: it is of another type, which the message names, or too large.
            KernelBusy: code runs in the kernel.
        """
        check_name(name)
        return await self.alone(lambda running: received(running, name))

    async def set(self, name: str, value: Any) -> None:
        """Bind a copy of a value to a variable of the kernel: as Arrow or npy if possible, else as a pickle.

        Raises:
            CannotTransfer: it cannot be pickled, or its class is not there in the kernel.
            KernelBusy: code runs in the kernel.
        """
        check_name(name)
        await self.alone(lambda running: sent(running, name, value))
        self.session.note(f"[I have set the variable {name} of the Python kernel: a {type(value).__name__}.]")

    async def upload(self, source: str | PathLike[str] | bytes, name: str = "") -> str:
        """Copy a file or bytes to the kernel's working directory, by the name of the file or as `name`.

        Returns the path there.
        It never replaces another file: it then gets a number. An equal file is not written again.

        Raises:
            KernelError: it cannot be written there.
            OSError: it cannot be read here.
        """
        name = Path(name).name
        with tempfile.NamedTemporaryFile(prefix="terp-") as copy:
            if isinstance(source, bytes):
                await asyncio.to_thread(Path(copy.name).write_bytes, source)
                source, name = copy.name, name or "upload"
            path = Path(source)
            return await self.alone(lambda running: given(running, path, name))

    async def download(self, path: str | PathLike[str]) -> bytes:
        """Return the content of a file, up to 1 GB; a relative path begins at the kernel's working directory.

        Raises:
            KernelError: the kernel cannot read it, or it is too large.
        """
        content = await self.alone(lambda running: fetched(running, fspath(path), LARGEST_FILE))
        if content is None:
            raise KernelError(f"The kernel cannot read '{path}', or it has over {LARGEST_FILE:,} bytes.")
        return content

    @property
    def files(self) -> Sequence[str]:
        """The files that code has created or changed, and displayed pictures: paths on this machine."""
        return tuple(files_in(RunLog.of(record.event for record in self.session.log.since(0))))

    async def list_packages(self) -> Mapping[str, str]:
        """Return the versions of the packages that Python code can import, by the names of the packages.

        Raises:
            KernelBusy: code runs in the kernel.
        """
        found = await self.alone(lambda running: asked(running, "packages", _PACKAGES_S))
        return {str(name): str(found[name]) for name in sorted(found, key=str.lower)}

    async def install(self, *packages: str, upgrade: bool = False) -> None:
        """Install packages, by names or requirements ("numpy>=2"), for the Python kernel.

        Raises:
            InstallFailed, KernelError: they cannot be installed; the message quotes the installer.
        """
        for package in packages:
            check_text("A package", package)
        installer = self.session.resources.packages
        if installer is not None:
            await self._ready(_PYTHON)
            await installer.install(packages, upgrade=upgrade)
            return
        options = ("--quiet", *(("--upgrade",) if upgrade else ()), "--")
        run = await self.run(f"%pip install {shlex.join((*options, *packages))}", _PYTHON)
        if run.error is not None or "ERROR:" in run.text:
            raise KernelError(run.text.strip())

    async def start(self, language: str = "") -> None:
        """Start a kernel now, to have its first code run at once; return when it is ready.

        Raises:
            KernelStartFailed: it did not start.
        """
        await self._ready(language)

    async def stop(self) -> None:
        """End all kernels; their variables are lost. The next use starts new ones."""
        self._foreground.check_idle()
        await self.session.kernels.rest()

    async def restart(self, language: str = "") -> None:
        """Replace a kernel by a new one: its variables are lost, its files stay.

        Raises:
            KernelStartFailed: it did not start again.
            KernelError: it belongs to another program.
        """
        await self.session.restart_kernel(self._kernel(language))

    async def interrupt(self) -> None:
        """Stop the running code; variables stay. A second call ends the kernel of code that does not stop."""
        await self.session.interrupt()

    def status(self, language: str = "") -> Literal["stopped", "ready", "busy"]:
        """Return the state of a kernel: "stopped" (the next use starts it), "ready" or "busy" with code."""
        kernel, records = self._kernel(language), self.session.log.since(0)
        changes = (one.event for one in reversed(records) if isinstance(one.event, KernelChanged))
        last = next((one.state for one in changes if one.language == kernel.language), "")
        if not kernel.generation or last == "died":
            return "stopped"
        return "busy" if kernel.running else "ready"

    def _kernel(self, language: str = "") -> Kernel:
        kernels = self.session.kernels
        return kernels.get(language or kernels.languages[0])

    async def _ready(self, language: str) -> Kernel:
        kernel = self._kernel(language)
        self.session.jobs.check_free(kernel)
        await self.session.readiness.before(Call("", kernel.language, ""), kernel)
        return kernel

    async def _up(self) -> "RunningKernel":
        kernel = await self._ready(_PYTHON)
        # A kernel of another kind has no such method, and SQL's and attached kernels pass it on.
        up = getattr(kernel, "up", None)
        running: RunningKernel | None = await up() if up is not None else None
        if running is None or not running.has_bootstrap:
            raise KernelError("This kernel exchanges no values and files: terp's own package is not in it.")
        return running

    async def alone(self, work: Callable[["RunningKernel"], Awaitable[T]]) -> T:
        """Return the result of `work` with the running Python kernel; no code of the session runs meanwhile.

        Raises:
            KernelBusy: something runs.
            KernelError: it was interrupted.
        """
        found: list[T] = []

        async def keep() -> None:
            found.append(await work(await self._up()))

        if self._foreground.busy:
            raise KernelBusy("Code or a turn of this session is running.", "Wait for its end.")
        if not await self._foreground.run_silently(keep()):
            raise KernelError("Interrupted.")
        return found[0]
