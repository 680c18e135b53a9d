"""What the first code of a session needs, begun before that code is there."""

import asyncio
import sys
from collections.abc import Coroutine

from terp.errors import KernelStartFailed
from terp.events.kernel import Kernel, Kernels
from terp.kernels.environments.readiness import Readiness
from terp.text.importing import import_slow
from terp.text.languages import language_of

# What tells the effects of code: some ten thousand names, which nobody needs who only talks.
_READS_CODE = "terp.analysis.effects.analysis"


class Warming:
    """Starts a kernel, and imports what reads code, as soon as the model begins to write some.

    `readiness` knows whether something else has to come before a kernel.
    """

    def __init__(self, kernels: Kernels, readiness: Readiness) -> None:
        self._kernels = kernels
        self._readiness = readiness
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, language: str) -> None:
        """Begin to start the kernel of a language, if there is one and it was never started."""
        if _READS_CODE not in sys.modules:
            self._begin(_imported())
        named = language_of(language, self._kernels.languages)
        if named and not self._kernels.get(named).generation:
            self._begin(self._started(self._kernels.get(named)))

    def cancel(self) -> None:
        """Take back what is under way."""
        for task in self._tasks:
            task.cancel()

    def _begin(self, thing: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(thing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _started(self, kernel: Kernel) -> None:
        try:
            await self._readiness.warm(kernel)
        except KernelStartFailed:
            # The run that needs the kernel meets the same failure and tells it; here nobody waits.
            return


async def _imported() -> None:
    # In a thread: the code goes on to appear meanwhile.
    await asyncio.to_thread(import_slow, _READS_CODE)
