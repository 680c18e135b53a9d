"""Kernels of driven languages for tests, whatever else could run the language here."""

import os

import pytest

from terp.events.kernel import Kernel
from terp.kernels.jupyter.files import FileWatch, LocalFiles
from terp.kernels.jupyter.kernel import JupyterKernel
from terp.kernels.jupyter.launch import Launch
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.runtimes.programs import DRIVEN, driver_launch
from terp.kernels.runtimes.runtime import Machine
from tests.core.kernels.running import Listener


def program_of(driver: str) -> str:
    """The program that a driver needs, or ""."""
    programs = next((row.programs for row in DRIVEN if row.name == driver), ("Rscript",))
    return Machine(os.environ).which(*programs)


def launch_of(driver: str, cwd: str) -> Launch:
    return driver_launch(driver, program_of(driver), LocalKernels(cwd))


class DrivenKernels:
    """One kernel for each driver, started at first use."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.heard = Listener()
        self._kernels: dict[str, Kernel] = {}

    def get(self, driver: str) -> Kernel:
        if not program_of(driver):
            pytest.skip(f"no program for {driver}")
        if driver not in self._kernels:
            launch = launch_of(driver, self.cwd)
            self._kernels[driver] = JupyterKernel(
                driver, self.cwd, lambda _: launch, self.heard, LocalFiles(FileWatch())
            )
        return self._kernels[driver]

    async def aclose(self) -> None:
        for kernel in self._kernels.values():
            await kernel.aclose()
