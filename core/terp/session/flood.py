"""Keeps a flood of text out of the events: its head, a count while it runs, and its tail."""

from collections.abc import Iterator

from terp.events.outputs import Omitted, Output, StreamName, Text

HEAD = 1_000_000
TAIL = 20_000
REPORT_EVERY = 1_000_000


class Flood:
    """Passes the outputs of one run on, up to `HEAD` characters of text; counts what comes after it.

    The last `TAIL` characters before another output, or the end, are passed on again. What is
    counted is in the run's full-output file, as far as that goes.
    """

    def __init__(self) -> None:
        self._room = HEAD
        self._stream: StreamName = "stdout"
        self._tail = ""
        self._omitted = 0
        self._lines = 0

    def passed(self, output: Output) -> Iterator[Output]:
        """What is passed on of `output`, now."""
        if not isinstance(output, Text):
            yield from self.ended()
            yield output
            return
        shown, rest = output.text[: self._room], output.text[self._room :]
        self._room -= len(shown)
        if shown:
            yield Text(output.stream, shown) if rest else output
        if rest:
            self._hold(output.stream, rest)
        if self._omitted >= REPORT_EVERY:
            yield self._counted()

    def ended(self) -> Iterator[Output]:
        """What is still to be told: the last count and the tail."""
        if self._omitted:
            yield self._counted()
        if self._tail:
            yield Text(self._stream, self._tail)
            self._tail = ""

    def _hold(self, stream: StreamName, text: str) -> None:
        self._stream = stream
        held = self._tail + text
        cut = max(0, len(held) - TAIL)
        self._omitted += cut
        self._lines += held.count("\n", 0, cut)
        self._tail = held[cut:]

    def _counted(self) -> Omitted:
        count = Omitted(self._omitted, self._lines, spooled=True)
        self._omitted = self._lines = 0
        return count
