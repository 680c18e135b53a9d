"""What the terminal tells of its focus, taken out of the keys; prompt_toolkit takes it for letters.

    source = FocusInput(create_input(tty), lambda has_focus: …)     # in place of the input itself

The terminal tells only when it was asked to (`Window.taken`).
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys


class FocusInput(Input):
    """The keys of another input; `told` is called with whether the window has the focus."""

    def __init__(self, source: Input, told: Callable[[bool], None]) -> None:
        self._source = source
        self._told = told

    def read_keys(self) -> list[KeyPress]:
        """The keys that were pressed."""
        keys, told = without_focus(self._source.read_keys())
        for has_focus in told:
            self._told(has_focus)
        return keys

    def flush_keys(self) -> list[KeyPress]:
        """The keys of a sequence that did not go on."""
        return self._source.flush_keys()

    def flush(self) -> None:
        """Flush the input."""
        self._source.flush()

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._source.fileno()

    def typeahead_hash(self) -> str:
        """The name under which keys that nobody wanted yet are kept."""
        return self._source.typeahead_hash()

    @property
    def closed(self) -> bool:
        """Whether no key will ever come."""
        return self._source.closed

    def raw_mode(self) -> AbstractContextManager[None]:
        """Keys come one by one, and are not shown."""
        return self._source.raw_mode()

    def cooked_mode(self) -> AbstractContextManager[None]:
        """Lines come whole, as the terminal edits them."""
        return self._source.cooked_mode()

    def attach(self, input_ready_callback: Callable[[], None]) -> AbstractContextManager[None]:
        """Call back when there are keys."""
        return self._source.attach(input_ready_callback)

    def detach(self) -> AbstractContextManager[None]:
        """Leave the keys to someone else meanwhile."""
        return self._source.detach()

    def close(self) -> None:
        """Close the input."""
        self._source.close()


def without_focus(keys: Sequence[KeyPress]) -> tuple[list[KeyPress], list[bool]]:
    """The keys without `CSI I` and `CSI O`, and which of the two came, in order."""
    kept: list[KeyPress] = []
    told: list[bool] = []
    for key in keys:
        if key.data in ("I", "O") and [(one.key, one.data) for one in kept[-2:]] == _CSI:
            del kept[-2:]
            told.append(key.data == "I")
        else:
            kept.append(key)
    return kept, told


_CSI = [(Keys.Escape, "\x1b"), ("[", "[")]
