"""What code needs before it runs: an environment, packages, a kernel that is up."""

from collections.abc import Callable, Sequence
from typing import Protocol

from terp.events.kernel import Kernel
from terp.events.messages import Attachment
from terp.events.outputs import Error
from terp.models.tool import Call

# Programs of other languages look for files of their own in the directory that they start in, as deno for
# its `deno.json`: they wait until their code was approved.
_LOOKS_AT_NOTHING = ("python", "shell", "sql")


class Preparation(Protocol):
    """Makes something ready for code that was approved or typed, with consent where that is needed."""

    def waits(self, language: str) -> bool:
        """Whether something comes before the first start of the kernel for `language`, such as a question."""

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Make ready what the code needs; what the model should know of it, or "".

        The kernel may not have been started yet. May be cancelled, and is tried anew for the next code.

        Raises:
            TerpError: the code cannot run.
        """

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        """Look at the error that the code ended with; what the model should know, or ""."""


class Carrier(Preparation, Protocol):
    """Brings what is attached to kernels that do not see the files of this machine."""

    def take(self, attachments: Sequence[Attachment]) -> None:
        """Carry these with the next code."""


class Readiness:
    """All preparations of a session, in the order in which they were added."""

    def __init__(self, preparations: Sequence[Preparation] = ()) -> None:
        self._preparations = list(preparations)
        self.carries = False
        """Whether kernels are given what is attached: they run on another machine."""
        self._takers: list[Callable[[Sequence[Attachment]], None]] = []

    def add(self, preparation: Preparation) -> None:
        """Have this prepared too, from the next code on."""
        self._preparations.append(preparation)

    def remove(self, preparation: Preparation) -> None:
        """Have this prepared no more. Harmless when it is not."""
        if preparation in self._preparations:
            self._preparations.remove(preparation)

    def waits(self, language: str) -> bool:
        """Whether the kernel for `language` must not be started yet."""
        return any(preparation.waits(language) for preparation in self._preparations)

    def carry(self, carrier: Carrier) -> None:
        """Have `carrier` bring to kernels what is attached from now on."""
        self.carries = True
        self.hand_to(carrier.take)
        self.add(carrier)

    def hand_to(self, take: Callable[[Sequence[Attachment]], None]) -> None:
        """Have `take` called with what is attached from now on, before any code that could read it."""
        self._takers.append(take)

    def bring(self, attachments: Sequence[Attachment]) -> None:
        """Let the next code find what was attached, wherever it runs."""
        for take in self._takers:
            take(attachments)

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Prepare everything and start the kernel; what the model should know, in lines that end.

        Raises:
            KernelStartFailed: the kernel did not come up.
        """
        told = [await preparation.before(call, kernel) for preparation in self._preparations]
        await kernel.start()
        return _lines(told)

    async def warm(self, kernel: Kernel) -> None:
        """Start a kernel ahead of its first code, unless something has to come before.

        Raises:
            KernelStartFailed: it did not come up.
        """
        if kernel.language in _LOOKS_AT_NOTHING and not self.waits(kernel.language):
            await kernel.start()

    async def after(self, call: Call, kernel: Kernel, error: Error | None) -> str:
        """What the model should know of the error that the code ended with, in lines that end."""
        if error is None:
            return ""
        return _lines([await preparation.after(call, kernel, error) for preparation in self._preparations])


def _lines(told: Sequence[str]) -> str:
    return "".join(f"[{text}]\n" for text in told if text)
