"""Who is told what happens in kernels outside runs."""

from collections.abc import Callable

from terp.events import KernelState
from terp.events.kernel import KernelListener
from terp.events.outputs import Output


class Listeners:
    """Tells every listener; itself one, so that a kernel knows only that."""

    def __init__(self) -> None:
        self._all: list[KernelListener] = []

    def add(self, listener: KernelListener) -> Callable[[], None]:
        """Tell `listener` too, until the returned function is called. Harmless when that is repeated."""
        self._all.append(listener)
        return lambda: self._all.remove(listener) if listener in self._all else None

    def changed(self, language: str, state: KernelState, why: str) -> None:
        """A kernel changed its state."""
        for listener in tuple(self._all):
            listener.changed(language, state, why)

    def late_output(self, run_id: str, output: Output) -> None:
        """Output arrived after its run had ended."""
        for listener in tuple(self._all):
            listener.late_output(run_id, output)
