"""The text that stands for a reference: asked of the kernel, and made fit to stand in Markdown."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from terp.errors import UnknownLanguage
from terp.events.kernel import Kernels, WrittenValue
from terp.session.answers.live import LiveReferences, taken_apart
from terp.session.answers.reading import Reference, Unreadable
from terp.text.plain import mended

_UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MARKUP = re.compile(
    r"[\\`*\[\]|~$]|<(?=[A-Za-z/!?])|&(?=#|\w+;)|(?<![^\W_])_|_(?![^\W_])"
    r"|\A(?:[>#=]|[-+](?![\d.]))"
)
_NUMBERED = re.compile(r"\A(\d{1,9})([.)])(?=\s|\Z)")


@dataclass(slots=True)
class Filling:
    """Fills the references of one reply. The same one has the same value wherever it stands in it.

    `live` takes the text of the reply apart as it comes. `without_secrets` takes them out of a value.
    """

    kernels: Kernels
    without_secrets: Callable[[str], str]
    live: LiveReferences = field(default_factory=LiveReferences)
    _known: dict[str, WrittenValue] = field(default_factory=dict)

    async def value(self, found: Reference | Unreadable) -> str | None:
        """What stands in place of a reference, as Markdown; None where there is nothing, which is noted.

        No code runs in its kernel meanwhile: the value now is the value when the reply is complete.
        """
        if found.written not in self._known:
            self._known[found.written] = await self._asked(found)
        return self._filled(found.written)

    def whole(self, text: str) -> str:
        """A text with the values of all references in it that were asked for."""
        parts = []
        for piece in taken_apart(text):
            written = piece if isinstance(piece, str) else piece.written
            value = None if isinstance(piece, str) else self._filled(written)
            parts.append(written if value is None else value)
        return "".join(parts)

    @property
    def failed(self) -> str:
        """What was not filled in and why, in the order of the text; "" when there is nothing."""
        return "; ".join(f"{written} ({value.why})" for written, value in self._known.items() if value.why)

    def _filled(self, written: str) -> str | None:
        value = self._known.get(written)
        return None if value is None or value.why else as_markdown(self.without_secrets(value.text))

    async def _asked(self, found: Reference | Unreadable) -> WrittenValue:
        if isinstance(found, Unreadable):
            return WrittenValue(why=found.why)
        try:
            kernel = self.kernels.get("python")
        except UnknownLanguage:
            return WrittenValue(why="there is no Python here")
        if kernel.running:
            return WrittenValue(why="code in the background may still change it")
        return await kernel.value(found.name, found.keys, found.spec)


def as_markdown(text: str) -> str:
    """A value as text of one line, of which nothing is markup."""
    line = _UNPRINTED.sub(" ", mended(text)).strip()
    return _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", line))
