"""How often Ctrl-C was meant: whoever is impatient presses it more than once to stop one thing."""

from collections.abc import Callable

# So long after a turn was stopped, a press is one more of those that stopped it.
_IMPATIENCE_S = 1.0


class Presses:
    """Tells one more press for the turn that was stopped from a press at the prompt."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._stopping = False
        self._last = -_IMPATIENCE_S

    def stop(self) -> None:
        """The person stops what goes on."""
        self._stopping = True

    def over(self) -> None:
        """Nothing goes on any more."""
        if self._stopping:
            self._stopping = False
            self._last = self._clock()

    def one_more(self) -> bool:
        """Whether the press of this moment was for what was just stopped."""
        now = self._clock()
        if now - self._last >= _IMPATIENCE_S:
            return False
        self._last = now
        return True
