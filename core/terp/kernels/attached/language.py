"""A language that a kernel of somebody else runs."""

from typing import TYPE_CHECKING, Any

from terp.errors import KernelError, UnknownLanguage
from terp.events.kernel import Kernel
from terp.events.outputs import FileChange
from terp.kernels.attached.attachment import Attachment
from terp.kernels.jupyter.run import Run
from terp.kernels.jupyter.running import RunningKernel
from terp.kernels.runtimes.runtime import Runtime

if TYPE_CHECKING:
    from terp.kernels.jupyter.local import LocalKernels


class AttachedLanguage:
    """Implements `Kernel` with one that is connected to somebody else's: it says so, and is not restarted."""

    def __init__(self, attachment: Attachment, kernel: Kernel) -> None:
        self._attachment = attachment
        self._kernel = kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    @property
    def place(self) -> str:
        """Which kernel that is."""
        return self._attachment.place

    async def restart(self) -> None:
        """Refuse.

        Raises:
            KernelError: always.
        """
        raise KernelError(
            f"Code runs in {self.place}, which terp does not restart.",
            "Restart it where it was started; /attach own takes a kernel of terp's own instead.",
        )


class NoFiles:
    """Implements `RunFiles` for a kernel whose files may be those of another machine."""

    async def look(self, root: str) -> None:
        """See nothing."""

    def begin(self) -> None:
        """Remember nothing."""

    async def changed_by(self, run: Run, running: RunningKernel) -> tuple[FileChange, ...]:
        """Nothing that is known."""
        return ()


def row_of(attachment: Attachment) -> Runtime:
    """The row of a language that nothing else runs here."""

    def make(_: "LocalKernels") -> Kernel:
        raise UnknownLanguage(f"Nothing but {attachment.place} runs {attachment.language} here.")

    return Runtime((attachment.language,), lambda _: attachment.place, "", make)
