"""Kernels that are started before their first code is there."""

import asyncio

from terp.errors import KernelStartFailed
from terp.kernels.protocol import Kernel, Kernels
from terp.languages import language_of


class Warming:
    """Starts a kernel as soon as the model begins to write code for it."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, language: str) -> None:
        """Begin to start the kernel of a language, if there is one and it was never started."""
        named = language_of(language, self._kernels.languages)
        if not named or self._kernels.get(named).generation:
            return
        task = asyncio.create_task(_started(self._kernels.get(named)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Take back what is under way."""
        for task in self._tasks:
            task.cancel()


async def _started(kernel: Kernel) -> None:
    try:
        await kernel.start()
    except KernelStartFailed:
        # The run that needs the kernel meets the same failure and tells it; here nobody waits.
        return
