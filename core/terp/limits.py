"""What bounds a turn."""

from dataclasses import dataclass

from terp.tool import Call


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a session; 0 means no limit unless it says otherwise."""

    max_steps: int = 50
    """Model replies in one turn before it stops."""
    max_budget_usd: float = 0.0
    """What the session may cost. A model whose price is unknown cannot be used with it."""
    run_timeout_s: float = 0.0
    """Seconds that one run may take before it is interrupted."""
    max_output_chars: int = 20_000
    """Characters of one run's output that the model reads: head and tail. At least 200."""
    max_failures: int = 3
    """How often the same code may fail, or calls may be malformed, in a row before a turn stops."""


class Failures:
    """Counts what fails in the same way, again and again, within one turn."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._last: object = None
        self._count = 0

    def ran(self, call: Call, *, failed: bool) -> int:
        """Note how a run ended; how often in a row this very code has now failed."""
        return self._note((call.language, call.code.strip()) if failed else None)

    def malformed(self) -> int:
        """Note a call that could not be understood; how many in a row that makes."""
        return self._note("malformed")

    def _note(self, what: object) -> int:
        self._count = self._count + 1 if what == self._last else 1
        self._last = what
        return self._count if what is not None else 0

    @property
    def exhausted(self) -> bool:
        """Whether the limit is reached."""
        return self._last is not None and 0 < self._limit <= self._count
