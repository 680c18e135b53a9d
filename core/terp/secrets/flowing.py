"""A text that comes in pieces, without secrets, as far as it has come."""

from terp.secrets.scrubbing import Scrubber


class Flow:
    """Redacts piece by piece what must be redacted as a whole.

    The end of a piece in which a secret may begin waits for the next piece, or for `rest`.
    """

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._held = ""

    def passed(self, piece: str) -> str:
        """What can be written by now."""
        text = self._held + piece
        settled = self._scrubber.settled(text)
        self._held = text[settled:]
        return self._scrubber.redacted(text[:settled])

    def rest(self) -> str:
        """What was held back, when nothing comes any more."""
        held, self._held = self._held, ""
        return self._scrubber.redacted(held)
