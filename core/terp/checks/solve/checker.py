"""Runs tests of a solution: each in a limited process, in the sandbox, in an empty folder."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from terp.checks.process import Channel, LimitedProcess, ProcessResult, local_kernels, private_folder
from terp.checks.solve.problem import Test
from terp.events.kernel import Kernels
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import Mode, ResourceLimits, SandboxOptions
from terp.settings import Settings
from terp.text.files import Refused, read_bounded

TIMEOUT_S, MEMORY_MB, FILE_MB = 5.0, 1024, 16
_MORE_PROCESSES = 128
_AT_ONCE = 4
_LONGEST_OUTPUT = 1 << 20
_LONGEST_ERROR = 2_000


class Checker:
    """Runs tests of solutions with the Python of a session's kernels, each for at most `timeout_s` seconds.

    Tests always run in the sandbox and without network, whatever the code of the session may do.

    Raises:
        SettingsError: the code runs on another machine, where no test can run.
        NoSandbox: no sandbox works here.
    """

    def __init__(
        self, kernels: Kernels, timeout_s: float = TIMEOUT_S, limits: ResourceLimits | None = None
    ) -> None:
        self._kernels = local_kernels(kernels, "solve")
        limits = limits or ResourceLimits(MEMORY_MB, 0, FILE_MB)
        self._confinement = _confinement(self._kernels.confinement, limits)
        self._confinement.check()
        self._timeout_s = timeout_s
        self._process = LimitedProcess(
            self._kernels, self._confinement, timeout_s=timeout_s, max_chars=_LONGEST_ERROR
        )
        self._free = asyncio.Semaphore(_AT_ONCE)

    @property
    def tier(self) -> str:
        """The sandbox tier of the tests, as shown to the user."""
        return self._confinement.what

    async def all(self, code: str, tests: Sequence[Test]) -> tuple[Test, ...]:
        """Run all tests but dropped ones; return them with their outcome. Cancelling this ends them."""
        return tuple(await asyncio.gather(*(self._one(code, test) for test in tests)))

    async def _one(self, code: str, test: Test) -> Test:
        if test.status == "dropped":
            return test
        async with self._free, private_folder() as folder:
            process, facts, output = await self._ran(folder, code, test)
        if process.status is None:
            return replace(test, status="timeout", error=f"It timed out after {self._timeout_s:g} s.")
        if test.pair is None:
            error = _of_assertion(process, facts)
        else:
            error = _of_program(process, output, test.pair.expected)
        return replace(test, status="failed" if error else "passed", error=error)

    async def _ran(
        self, folder: Path, code: str, test: Test
    ) -> tuple[ProcessResult, Mapping[str, Any] | None, bytes | None]:
        work, channel = folder / "work", Channel(folder / "channel")
        work.mkdir()
        (work / "solution.py").write_text(code, encoding="utf-8")
        if test.pair is None:
            (work / "test.py").write_text(test.code, encoding="utf-8")
        else:
            (channel.folder / "input").write_text(test.pair.input, encoding="utf-8")
        call = "run_test()" if test.pair is None else "run_program()"
        argv = channel.argv(self._kernels.python.path, "solution_run", call)
        environment = {**self._process.environment, **channel.variables(), "PYTHONIOENCODING": "utf-8"}
        process = await self._process.run(argv, environment, work, work)
        return process, channel.facts(), _output(channel.folder / "output")


def checker_for(kernels: Kernels, settings: Settings) -> Checker:
    """Return the checker for kernels, with the limits of the settings.

    Raises:
        SettingsError, NoSandbox: as `Checker`.
    """
    limits = ResourceLimits(
        settings.memory_limit_mb or MEMORY_MB, settings.max_processes, settings.max_file_mb or FILE_MB
    )
    return Checker(kernels, settings.solve_timeout_s, limits)


def _confinement(confinement: Confinement, limits: ResourceLimits) -> Confinement:
    options = confinement.options
    mode: Mode = "docker" if options.mode == "docker" else "strict"
    limits = replace(limits, processes=limits.processes or _processes() + _MORE_PROCESSES)
    return confinement.with_options(
        SandboxOptions(mode, network=False, required=True, limits=limits, image=options.image)
    )


def _processes() -> int:
    """Return the number of processes and threads on this machine: their limit counts all of one user."""
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  (fast)
    except OSError:
        # Without /proc: more than one user usually has.
        return 4096
    return sum(_threads(number) for number in numbers)


def _threads(number: str) -> int:
    try:
        return len(os.listdir(f"/proc/{number}/task"))  # noqa: PTH208  (see above)
    except OSError:
        return 1


def _of_assertion(process: ProcessResult, facts: Mapping[str, Any] | None) -> str:
    if facts is None:
        output = f"\n{process.output.strip()}" if process.output.strip() else ""
        return f"Its process ended before the test did, with exit status {process.status}.{output}"
    held = facts.get("held") is True and not process.status
    return "" if held else str(facts.get("error") or "It has not finished.")[-_LONGEST_ERROR:]


def _of_program(process: ProcessResult, output: bytes | None, expected: str) -> str:
    if process.status:
        return f"It ended with exit status {process.status}.\n{process.output.strip()}".strip()
    if output is None:
        return f"Its output is larger than {_LONGEST_OUTPUT >> 20} MB."
    written = output.decode("utf-8", "replace")
    if _lines(written) == _lines(expected):
        return ""
    return f"It wrote:\n{written[:_LONGEST_ERROR].rstrip()}"


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _output(path: Path) -> bytes | None:
    if not path.exists():
        return b""
    try:
        return read_bounded(path, _LONGEST_OUTPUT)
    except Refused:
        return None
