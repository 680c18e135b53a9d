"""The variables in all running kernels of a session, those of the default language first."""

import asyncio
from collections.abc import Sequence
from functools import cached_property

from terp.events.kernel import Kernel, Kernels, Variable


class Namespaces:
    """Lists variables of the `kernels` that were started and whose language allows it."""

    def __init__(self, kernels: Kernels) -> None:
        self.kernels = kernels

    @property
    def started(self) -> Sequence[Kernel]:
        """The kernels that keep variables and were started, each once, the default one first."""
        kernels = [self.kernels.get(language) for language in self._stateful]
        return [kernel for kernel in dict.fromkeys(kernels) if kernel.generation]

    def can_list(self, kernel: Kernel) -> bool:
        """Return True if a kernel can list its variables."""
        return kernel.language in self._listing

    async def variables(self) -> Sequence[tuple[str, Variable]]:
        """Return all variables, each with the language of its kernel.

        Raises:
            KernelBusy: a kernel runs code, and cannot list them meanwhile.
        """
        kernels = [kernel for kernel in self.started if self.can_list(kernel)]
        return [(kernel.language, one) for kernel in kernels for one in await kernel.variables()]

    async def names(self) -> Sequence[tuple[str, str]]:
        """Return all names with their types, and with their language if it is not the default one."""
        kernels = [kernel for kernel in self.started if self.can_list(kernel)]
        found = await asyncio.gather(*(kernel.names() for kernel in kernels))
        default = self.kernels.languages[0]
        return [
            (name, kind if kernel.language == default else f"{kind}, {kernel.language}")
            for kernel, names in zip(kernels, found, strict=True)
            for name, kind in names.items()
        ]

    @cached_property
    def _stateful(self) -> tuple[str, ...]:
        kept = {known.names[0] for known in self.kernels.known() if known.by and known.keeps_state}
        # SQL runs in the Python kernel: its variables are those of Python.
        within = {"sql"} if "python" in self.kernels.languages else set()
        return tuple(language for language in self.kernels.languages if language in kept - within)

    @cached_property
    def _listing(self) -> frozenset[str]:
        return frozenset(known.names[0] for known in self.kernels.known() if known.tells_variables)
