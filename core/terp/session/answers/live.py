"""References in a text that streams: nobody sees half of one."""

import re
from collections.abc import Iterator

from terp.session.answers.reading import LONGEST, Reference, Unreadable, read
from terp.session.answers.surroundings import Surroundings

Piece = str | Reference | Unreadable

_BEGUN = re.compile(rf"\{{\{{?|\{{\{{[^{{}}\r\n]{{1,{LONGEST}}}\}}{{0,2}}")
_WHOLE = re.compile(rf"\{{\{{[^{{}}\r\n]{{1,{LONGEST}}}\}}\}}")


class LiveReferences:
    """Takes text apart into what is passed on, and references in it that stand where a value can.

    Only what may still become one is kept back. A third brace at either end makes it something else.
    """

    def __init__(self) -> None:
        self._around = Surroundings()
        self._held = ""

    def feed(self, text: str) -> Iterator[Piece]:
        """The pieces that are settled after this one, in order; those of a text are as it was cut."""
        text, self._held = self._held + text, ""
        at = 0
        while (start := text.find("{", at)) >= 0:
            if passed := text[at:start]:
                self._around.follow(passed)
                yield passed
            at = start
            if _BEGUN.fullmatch(text, start):
                self._held = text[start:]
                return
            found = _WHOLE.match(text, start)
            end = found.end() if found else start + 1
            if found and text[end] != "}" and self._around.take_values:
                yield self._taken(found[0])
            else:
                yield self._passed(text[start:end])
            at = end
        if passed := text[at:]:
            yield self._passed(passed)

    def finish(self) -> Iterator[Piece]:
        """What was kept back: it does not go on."""
        held, self._held = self._held, ""
        if _WHOLE.fullmatch(held) and self._around.take_values:
            yield self._taken(held)
        elif held:
            yield self._passed(held)

    def _passed(self, text: str) -> str:
        self._around.follow(text)
        return text

    def _taken(self, written: str) -> Reference | Unreadable:
        found = read(written)
        # What stands there in the end ends no word and begins no code.
        self._around.follow("0" if isinstance(found, Reference) else written)
        return found


def taken_apart(text: str) -> Iterator[Piece]:
    """The pieces of a whole text."""
    live = LiveReferences()
    yield from live.feed(text)
    yield from live.finish()
