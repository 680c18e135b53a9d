"""Kernels that the person has started anew, of which the model must know."""

from collections.abc import Callable

from terp.events.kernel import Kernel


async def renew(kernel: Kernel, teach: Callable[[str], None]) -> None:
    """Start a kernel anew, and let the model read with the next message that its variables are gone.

    Raises:
        KernelStartFailed: it does not come up again.
    """
    await kernel.restart()
    teach(f"[The user had the {kernel.language} kernel started anew: its variables and imports are gone.]")
