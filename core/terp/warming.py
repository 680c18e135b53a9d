"""What the first code of a session needs, begun before that code is there."""

import asyncio
import sys
from collections.abc import Callable, Coroutine

from terp.errors import KernelStartFailed
from terp.importing import import_slow
from terp.kernels.protocol import Kernel, Kernels
from terp.languages import language_of

# What tells the effects of code: some ten thousand names, which nobody needs who only talks.
_READS_CODE = "terp.effects.analysis"


class Warming:
    """Starts a kernel, and imports what reads code, as soon as the model begins to write some.

    `waits` tells of a language whether something else has to come before its kernel.
    """

    def __init__(self, kernels: Kernels, waits: Callable[[str], bool]) -> None:
        self._kernels = kernels
        self._waits = waits
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, language: str) -> None:
        """Begin to start the kernel of a language, if there is one and it was never started."""
        if _READS_CODE not in sys.modules:
            self._begin(_imported())
        named = language_of(language, self._kernels.languages)
        if named and not self._kernels.get(named).generation and not self._waits(named):
            self._begin(_started(self._kernels.get(named)))

    def cancel(self) -> None:
        """Take back what is under way."""
        for task in self._tasks:
            task.cancel()

    def _begin(self, thing: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(thing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _started(kernel: Kernel) -> None:
    try:
        await kernel.start()
    except KernelStartFailed:
        # The run that needs the kernel meets the same failure and tells it; here nobody waits.
        return


async def _imported() -> None:
    # In a thread: the code goes on to appear meanwhile.
    await asyncio.to_thread(import_slow, _READS_CODE)
