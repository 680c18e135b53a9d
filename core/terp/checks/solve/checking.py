"""One test of a solution: a process of its own, confined, with limits, in an empty folder."""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from terp.checks.solve.problem import Test
from terp.checks.until.process import Channel, Ended, run
from terp.errors import SettingsError
from terp.events.kernel import Kernels
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.jupyter.rundir import RunDir
from terp.kernels.sandbox.confinement import Confinement, Mode, SandboxOptions
from terp.kernels.sandbox.policy import ResourceLimits
from terp.kernels.sandbox.tier import ProcessCommand
from terp.secrets.environment import kernel_environment, python_environment
from terp.settings.interpreter import needed_by
from terp.settings.project.bounded import Refused, read_bounded

TIMEOUT_S, MEMORY_MB, FILE_MB = 5.0, 1024, 16
_MORE_PROCESSES = 128
_AT_ONCE = 4
_LONGEST_OUTPUT = 1 << 20
_TOLD = 2_000
_RUN = "import sys; sys.path.pop(0); from {}.{} import main; main()"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one test may take."""

    timeout_s: float = TIMEOUT_S
    limits: ResourceLimits = field(default_factory=lambda: ResourceLimits(MEMORY_MB, 0, FILE_MB))


class Checker:
    """Runs tests of solutions with the Python of a session's kernels.

    They are always confined, and have no network, whatever the code of the session may do.

    Raises:
        SettingsError: the code runs on another machine, where nothing can be checked.
        NoSandbox: no sandbox works here.
    """

    def __init__(self, kernels: Kernels, bounds: Bounds | None = None) -> None:
        if not isinstance(kernels, LocalKernels):
            raise SettingsError(["solve: the code runs behind a gateway, and a test only on this machine."])
        self._kernels = kernels
        self._bounds = bounds or Bounds()
        self._confinement = _confined(kernels.confinement, self._bounds.limits)
        self._confinement.check()
        self._free = asyncio.Semaphore(_AT_ONCE)

    @property
    def tier(self) -> str:
        """What holds a test."""
        return self._confinement.what

    async def all(self, code: str, tests: Sequence[Test]) -> tuple[Test, ...]:
        """The tests as they end with a solution, but for dropped ones. Cancelling this ends them."""
        return tuple(await asyncio.gather(*(self._one(code, test) for test in tests)))

    async def _one(self, code: str, test: Test) -> Test:
        if test.status == "dropped":
            return test
        async with self._free, _private() as folder:
            ended, facts, output = await self._ran(folder, code, test)
        if ended.status is None:
            told = f"It timed out after {self._bounds.timeout_s:g} s."
            return replace(test, status="timeout", error=told)
        if test.pair is None:
            error = _of_assertion(ended, facts)
        else:
            error = _of_program(ended, output, test.pair.expected)
        return replace(test, status="failed" if error else "passed", error=error)

    async def _ran(
        self, folder: Path, code: str, test: Test
    ) -> tuple[Ended, dict[str, object] | None, bytes | None]:
        work, channel = folder / "work", Channel(folder / "channel")
        work.mkdir()
        (work / "solution.py").write_text(code, encoding="utf-8")
        if test.pair is None:
            (work / "test.py").write_text(test.code, encoding="utf-8")
        else:
            (folder / "channel" / "input").write_text(test.pair.input, encoding="utf-8")
        ended = await self._run(channel, work, "assertion" if test.pair is None else "program")
        facts = channel.facts()
        return ended, dict(facts) if facts else None, _output(folder / "channel" / "output")

    async def _run(self, channel: Channel, work: Path, program: str) -> Ended:
        kernels = self._kernels
        environment = {
            **python_environment(
                kernels.python, kernel_environment(kernels.environ, kernels.options.env_pass)
            ),
            **channel.variables,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONIOENCODING": "utf-8",
        }
        argv = (kernels.python.path, "-c", _RUN.format(channel.package, program))
        command = ProcessCommand(argv, environment, str(work), work.parent)
        confined = self._confinement.elsewhere(str(work)).now(needed_by(kernels.python))
        wrapped = confined.tier.wrap(command, confined.policy)
        try:
            return await run(wrapped, timeout_s=self._bounds.timeout_s, max_chars=_TOLD)
        except OSError as error:
            return Ended(127, f"It cannot be started: {error}", 0.0)


def _confined(confinement: Confinement, limits: ResourceLimits) -> Confinement:
    wish = confinement.options
    mode: Mode = "docker" if wish.mode == "docker" else "strict"
    processes = limits.processes or _processes() + _MORE_PROCESSES
    held = replace(limits, processes=processes)
    return confinement.with_options(
        SandboxOptions(mode, network=False, required=True, limits=held, image=wish.image)
    )


def _processes() -> int:
    """How many processes and threads run here now, of which a limit counts those of one user."""
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  (fast)
    except OSError:
        # Where that cannot be told, as many as one person has at the most.
        return 4096
    return sum(_threads(number) for number in numbers)


def _threads(number: str) -> int:
    try:
        return len(os.listdir(f"/proc/{number}/task"))  # noqa: PTH208  (see above)
    except OSError:
        return 1


def _of_assertion(ended: Ended, facts: dict[str, object] | None) -> str:
    if facts is None:
        output = f"\n{ended.output.strip()}" if ended.output.strip() else ""
        return f"Its process ended before the test did, with exit status {ended.status}.{output}"
    held = facts.get("held") is True and not ended.status
    return "" if held else str(facts.get("error") or "It has not come to its end.")[-_TOLD:]


def _of_program(ended: Ended, output: bytes | None, expected: str) -> str:
    if ended.status:
        return f"It ended with exit status {ended.status}.\n{ended.output.strip()}".strip()
    if output is None:
        return f"Its output is larger than {_LONGEST_OUTPUT >> 20} MB."
    written = output.decode("utf-8", "replace")
    if _lines(written) == _lines(expected):
        return ""
    return f"It wrote:\n{written[:_TOLD].rstrip()}"


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _output(path: Path) -> bytes | None:
    if not path.exists():
        return b""
    try:
        return read_bounded(path, _LONGEST_OUTPUT)
    except Refused:
        return None


@asynccontextmanager
async def _private() -> AsyncGenerator[Path, None]:
    """A folder that no kernel sees, and that goes away."""
    made = await asyncio.to_thread(lambda: RunDir(Path(os.path.realpath(tempfile.gettempdir()))))
    try:
        yield made.path
    finally:
        await asyncio.to_thread(made.close)
