"""Processes that check code: in a private folder, in the sandbox, under limits, with a channel to report."""

import asyncio
import json
import os
import secrets
import shutil
import tempfile
import time
from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from terp.checks.inside import VARIABLE
from terp.errors import SettingsError
from terp.events.kernel import Kernels
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.jupyter.orphans import MARK, end_marked, lifeline, supervised
from terp.kernels.jupyter.rundir import RunDir
from terp.kernels.sandbox.bubblewrap import VANISHED
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.tier import ProcessCommand
from terp.secrets.environment import kernel_environment, python_environment
from terp.settings.interpreter import needed_by
from terp.text.dataclasses import dataclass
from terp.text.files import Refused, read_bounded
from terp.text.plain import HeadTail, Lines

_LARGEST = 1 << 20
_PIECE = 1 << 16
_LAST_OUTPUT_S = 1.0


def local_kernels(kernels: Kernels, feature: str) -> LocalKernels:
    """Return the kernels, if their machine is this one.

    Raises:
        SettingsError: they run elsewhere, where a check cannot be started.
    """
    if not isinstance(kernels, LocalKernels):
        raise SettingsError(
            [f"{feature}: checks run only on this machine, and the code runs behind a gateway."]
        )
    return kernels


@asynccontextmanager
async def private_folder() -> AsyncGenerator[Path, None]:
    """Make a folder that no kernel sees, and remove it at the end."""
    made = await asyncio.to_thread(lambda: RunDir(Path(os.path.realpath(tempfile.gettempdir()))))
    try:
        yield made.path
    finally:
        await asyncio.to_thread(made.close)


class Channel:
    """A folder for the report of one process, and a copy of the programs that write it.

    The programs have a random package name, which no project can be prepared for. pytest finds no tests in
    the files `left_out`.
    """

    def __init__(self, folder: Path, left_out: Sequence[str] = ()) -> None:
        self.folder = folder
        self._word = secrets.token_hex(16)
        self.package = f"terp_{secrets.token_hex(8)}"
        folder.mkdir()
        programs, ignored = Path(__file__).with_name("inside"), shutil.ignore_patterns("__pycache__")
        shutil.copytree(programs, folder / self.package, ignore=ignored)
        (folder / "word").write_text(self._word)
        (folder / "left_out").write_text(json.dumps(left_out))

    def argv(self, python: str, module: str, call: str) -> tuple[str, ...]:
        """Return the command that calls a function of one of the programs, such as `main(sys.argv[1])`."""
        name = call.partition("(")[0]
        return (
            python, "-c", f"import sys; sys.path.pop(0); from {self.package}.{module} import {name}; {call}"
        )  # fmt: skip

    def variables(self, *path: str) -> dict[str, str]:
        """Return the variables by which a process finds the channel; `path` is added to `PYTHONPATH`."""
        folder = str(self.folder)
        found = os.pathsep.join(filter(None, (folder, *path)))
        return {VARIABLE: folder, "PYTHONPATH": found, "PYTHONDONTWRITEBYTECODE": "1"}

    def facts(self) -> Mapping[str, Any] | None:
        """Return what the process reported; None if it has not, or if another process wrote the report."""
        try:
            report = json.loads(read_bounded(self.folder / "report", _LARGEST))
        except (Refused, ValueError, RecursionError):
            return None
        return report if isinstance(report, dict) and report.get("word") == self._word else None


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """The end of a process: `status` is None when it was ended because it took too long."""

    status: int | None
    output: str
    seconds: float


class LimitedProcess:
    """Runs commands of a check with the Python of `kernels`, in the sandbox of `confinement`.

    Each may take `timeout_s` seconds (0: no limit); of its output `max_chars` are kept, head and tail.
    """

    def __init__(
        self, kernels: LocalKernels, confinement: Confinement, *, timeout_s: float, max_chars: int
    ) -> None:
        self._kernels = kernels
        self._confinement = confinement
        self._timeout_s = timeout_s
        self._max_chars = max_chars

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that code in a kernel may see."""
        kernels = self._kernels
        return python_environment(
            kernels.python, kernel_environment(kernels.environ, kernels.options.env_pass)
        )

    async def run(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path,
        folder: Path,
        readable: Sequence[str] = (),
    ) -> ProcessResult:
        """Run a command in `cwd`; only `folder`, a folder of the private one, can be written to.

        The sandbox lets it read the paths `readable` besides. A command that cannot be started ends with
        status 127. Cancelling this ends the process.

        Raises:
            TerpError: a sandbox is required and none works here.
        """
        command = ProcessCommand(tuple(argv), environment, str(cwd), folder.parent)
        kernels, confinement = self._kernels, self._confinement
        confined = confinement.elsewhere(str(folder)).now((*readable, *needed_by(kernels.python)))
        try:
            result = await self._ran(confined.tier.wrap(command, confined.policy))
            if result.status == 1 and result.output.startswith(VANISHED):
                return await self._ran(confined.tier.wrap(command, confined.policy))
            return result
        except OSError as error:
            return ProcessResult(127, f"It cannot be started: {error}", 0.0)

    async def _ran(self, command: ProcessCommand) -> ProcessResult:
        mark, began = secrets.token_hex(8), time.monotonic()
        stream, reader, pipe = await _pipe()
        output = HeadTail(self._max_chars)
        try:
            with ExitStack() as line:
                try:
                    process = await _started(command, mark, line.enter_context(lifeline()), pipe)
                finally:
                    os.close(pipe)
                reading = asyncio.create_task(_read(stream, output))
                try:
                    status = await self._waited(process)
                finally:
                    line.close()
                    await process.wait()
                    # The supervisor, which ends the children, may have been killed before.
                    await asyncio.to_thread(end_marked, mark)
                    await asyncio.wait({reading}, timeout=_LAST_OUTPUT_S)
                    reading.cancel()
        finally:
            reader.close()
        return ProcessResult(status, output.text(), time.monotonic() - began)

    async def _waited(self, process: asyncio.subprocess.Process) -> int | None:
        try:
            return await asyncio.wait_for(process.wait(), self._timeout_s or None)
        except TimeoutError:
            return None


async def _started(command: ProcessCommand, mark: str, stdin: int, output: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *supervised(command.argv, afterwards=command.afterwards),
        env={**command.environment, MARK: mark},
        cwd=command.cwd,
        stdin=stdin,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


async def _pipe() -> tuple[asyncio.StreamReader, asyncio.ReadTransport, int]:
    """Make a pipe; return its reader, the reader's transport and the file descriptor to write to.

    With asyncio's own pipe, waiting for the process would wait for every other holder of the pipe too.
    """
    read, write = os.pipe()
    stream = asyncio.StreamReader()
    reader, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(read, "rb")
    )
    return stream, reader, write


async def _read(stream: asyncio.StreamReader, output: HeadTail) -> None:
    decoder, lines = getincrementaldecoder("utf-8")("replace"), Lines()
    try:
        while piece := await stream.read(_PIECE):
            output.add(lines.feed(decoder.decode(piece)))
    finally:
        output.add(lines.rest())
