"""Preparations before code runs: choose an environment, install packages, start the kernel."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol

from terp.errors import KernelStartFailed
from terp.events.kernel import Kernel, Kernels
from terp.events.messages import Attachment
from terp.events.outputs import Error
from terp.models.tool import Call
from terp.text.importing import import_slow
from terp.text.languages import language_of
from terp.text.note_mark import NoteMark

# Programs of other languages read configuration from the working directory, as deno reads `deno.json`: they
# start only after their code is approved.
_STARTS_EARLY = ("python", "shell", "sql")
# This module reads code. It holds ten thousand names, which a turn without code does not need.
_READS_CODE = "terp.analysis.effects.cells"


class Preparation(Protocol):
    """A step before code that was approved or typed, with consent where needed."""

    def waits(self, language: str) -> bool:
        """Return True if the step has work or a question before the kernel for `language` starts."""
        return False

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Prepare for the code; return a note for the model, or "".

        The kernel may not have started yet. May be cancelled; the next code tries again.

        Raises:
            TerpError: the code cannot run.
        """

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        """Handle the error that ended the code; return a note for the model, or ""."""
        return ""


class Carrier(Preparation, Protocol):
    """A preparation that copies attachments to kernels on other machines."""

    def take(self, attachments: Sequence[Attachment]) -> None:
        """Copy these attachments with the next code."""


class Readiness:
    """All preparations of a session, in the order in which they were added. Their notes have the `mark`."""

    def __init__(self, mark: NoteMark | None = None) -> None:
        self._mark = mark or NoteMark()
        self._preparations: list[Preparation] = []
        self.carries = False
        """True if attachments are copied to kernels, which run on another machine."""
        self._takers: list[Callable[[Sequence[Attachment]], None]] = []

    def add(self, preparation: Preparation) -> None:
        """Add a preparation, from the next code on."""
        self._preparations.append(preparation)

    def remove(self, preparation: Preparation) -> None:
        """Remove a preparation. Harmless if it was not added."""
        if preparation in self._preparations:
            self._preparations.remove(preparation)

    def waits(self, language: str) -> bool:
        """Return True if the kernel for `language` must not start yet."""
        return any(preparation.waits(language) for preparation in self._preparations)

    def carry(self, carrier: Carrier) -> None:
        """Have `carrier` copy future attachments to kernels."""
        self.carries = True
        self.hand_to(carrier.take)
        self.add(carrier)

    def hand_to(self, take: Callable[[Sequence[Attachment]], None]) -> None:
        """Have `take` called with future attachments, before any code that could read them."""
        self._takers.append(take)

    def bring(self, attachments: Sequence[Attachment]) -> None:
        """Make attachments available to the next code, wherever it runs."""
        for take in self._takers:
            take(attachments)

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Run all preparations and start the kernel; return notes for the model, one a line.

        Raises:
            KernelStartFailed: the kernel did not start.
        """
        notes = [await preparation.before(call, kernel) for preparation in self._preparations]
        await kernel.start()
        return self._lines(notes)

    async def warm(self, kernel: Kernel) -> None:
        """Start a kernel ahead of its first code, unless a preparation has to come first.

        Raises:
            KernelStartFailed: it did not start.
        """
        if kernel.language in _STARTS_EARLY and not self.waits(kernel.language):
            await kernel.start()

    async def after(self, call: Call, kernel: Kernel, error: Error | None) -> str:
        """Return notes for the model about the error that ended the code, one a line."""
        if error is None:
            return ""
        return self._lines(
            [await preparation.after(call, kernel, error) for preparation in self._preparations]
        )

    def _lines(self, notes: Sequence[str]) -> str:
        return "".join(f"{self._mark.note(self._mark.plain(text))}\n" for text in notes if text)


class Warming:
    """Starts a kernel, and imports the module that reads code, while the model is still writing the code."""

    def __init__(self, kernels: Kernels, readiness: Readiness) -> None:
        self._kernels = kernels
        self._readiness = readiness
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, language: str) -> None:
        """Begin to start the kernel of a language, if there is one and it never ran."""
        if _READS_CODE not in sys.modules:
            self._begin(_imported())
        named = language_of(language, self._kernels.languages)
        if named and not self._kernels.get(named).generation:
            self._begin(self._started(self._kernels.get(named)))

    def cancel(self) -> None:
        """Cancel the starts that are under way."""
        for task in self._tasks:
            task.cancel()

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _started(self, kernel: Kernel) -> None:
        try:
            await self._readiness.warm(kernel)
        except KernelStartFailed:
            # The run that needs the kernel meets the same failure and reports it.
            return


async def _imported() -> None:
    # In a thread: the code continues to stream in meanwhile.
    await asyncio.to_thread(import_slow, _READS_CODE)
