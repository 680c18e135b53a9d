"""What bounds a turn."""

from dataclasses import dataclass

from terp.events.error_text import signature
from terp.events.outputs import Error
from terp.models.tool import Call


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a session; 0 means no limit unless it says otherwise."""

    max_steps: int = 50
    """Model replies in one turn before it stops."""
    max_budget_usd: float = 0.0
    """What the session may cost, in USD as the next two. With any, no model without a price can be used."""
    max_turn_usd: float = 0.0
    """What one turn may cost."""
    max_month_usd: float = 0.0
    """What all sessions of the profile may cost in a calendar month."""
    run_timeout_s: float = 0.0
    """Seconds that one run may take before it is interrupted."""
    background_after_s: float = 0.0
    """Seconds after which a run goes on in the background."""
    max_output_chars: int = 16_000
    """Characters of one run's output that the model reads: head and tail. At least 200."""
    max_failures: int = 3
    """How often the same error may come, or calls may be malformed, in a row before a turn stops."""


class Failures:
    """Counts what fails in the same way, again and again, within one turn."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._last: object = None
        self._count = 0
        self._malformed = False
        self._error: object = None

    def ran(self, call: Call, error: Error | None, *, failed: bool) -> bool:
        """Note how a run ended; whether it failed as the last one did that failed in this turn."""
        if not failed:
            self._note(None)
            return False
        told = signature(error) if error else ()
        # What names no line of code may be said of many lines.
        what = told if len(told) > 2 else (*told, call.language, call.code.strip())
        self._note(what)
        before, self._error = self._error, what
        return before == what

    def malformed(self) -> None:
        """Note a call that could not be understood."""
        self._malformed = True

    def replied(self) -> None:
        """Note that all calls of a reply are answered: however many were malformed count once."""
        if self._malformed:
            self._note("malformed")
        self._malformed = False

    def _note(self, what: object) -> int:
        self._count = self._count + 1 if what == self._last else 1
        self._last = what
        return self._count if what is not None else 0

    @property
    def exhausted(self) -> bool:
        """Whether the limit is reached."""
        return self._last is not None and 0 < self._limit <= self._count
