"""The text of a reply as users read it: its links lead to files, its references are values.

Models write links such as `sandbox:/x.csv` and `attachment:plot.png`, which name places of the systems that
they were trained on. If a run has left a file of that name, the link leads to it; otherwise only its words
are kept.
"""

import re
from collections import deque
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from terp.events import Noticed, TextDelta
from terp.events.kernel import Kernels
from terp.events.log import EventLog
from terp.events.run_log import RunLog

if TYPE_CHECKING:
    from terp.session.answers.references import Piece, ReferenceFiller
    from terp.session.resources import SessionResources

_SCHEMES = ("sandbox:", "attachment:")
_WORDS = r"!?\[(?P<words>[^\[\]\n]{0,200})"
_SCHEME = "|".join(_SCHEMES)
_SCHEME_BEGUN = "|".join(scheme[:end] for scheme in _SCHEMES for end in range(len(scheme)))
_PATH = r"[^()\[\]\n]"
_LINK = re.compile(rf"{_WORDS}\]\((?:{_SCHEME})(?P<target>{_PATH}{{1,300}})\)")
_BEGUN = re.compile(rf"!|{_WORDS}(?:\](?:\((?:{_SCHEME_BEGUN}|(?:{_SCHEME}){_PATH}{{0,300}}))?)?")


class LiveLinks:
    """Corrects the links of streamed text: each leads to its file, or is reduced to its words.

    `find` returns the path for a file's name, "" for none. Only text that may still become such a link is
    held back; the result does not depend on how the text is cut.
    """

    def __init__(self, find: Callable[[str], str]) -> None:
        self._find = find
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the text that is final after this piece."""
        if not self._held and "[" not in text and not text.endswith("!"):
            return text
        text = _LINK.sub(self._mended, self._held + text)
        at = _beginning(text)
        text, self._held = text[:at], text[at:]
        return text

    def finish(self) -> str:
        """Return the text that was held back: it is no such link."""
        held, self._held = self._held, ""
        return held

    def _mended(self, link: re.Match[str]) -> str:
        path = self._find(PurePosixPath(unquote(link["target"])).name)
        if not path:
            return link["words"]
        written = f"<{path}>" if re.search(r"[\s()]", path) else path
        return f"{link[0].partition(']')[0]}]({written})"


def _beginning(text: str) -> int:
    """Return where an incomplete link begins; the end of the text if there is none."""
    at = text.rfind("[")
    at = max(0, at - text[at - 1 : at].count("!")) if at >= 0 else len(text)
    if _BEGUN.fullmatch(text, at):
        return at
    return len(text) - text.endswith("!")


class AnswerText:
    """Logs the text of one reply as it streams in; a `filler` replaces references by values.

    Links lead to the files that `runs` have made or shown.
    """

    def __init__(self, log: EventLog, runs: RunLog, filler: "ReferenceFiller | None" = None) -> None:
        self._log = log
        self._runs = runs
        self._filler = filler
        self._links = self._new_links()
        self._waiting: deque[Piece] = deque()

    async def feed(self, text: str) -> None:
        """Log the text that is final after this piece; a reference waits only for its value."""
        await self._log_final(self._links.feed(text))

    async def finish(self) -> None:
        """Log the text that was held back: something other than text follows, or nothing."""
        await self._log_final(self._links.finish(), ended=True)

    def break_off(self) -> None:
        """Log the held-back text as the model wrote it, without filling in references."""
        self._split(self._links.finish(), ended=True)
        for piece in self._waiting:
            self._show(piece if isinstance(piece, str) else piece.written)
        self._waiting.clear()

    def whole(self, text: str) -> str:
        """Return the whole text of the reply as it was logged."""
        links = self._new_links()
        text = links.feed(text) + links.finish()
        return self._filler.whole(text) if self._filler else text

    def report_failures(self) -> str:
        """Show the user which references have no value; return the note on them for the model, or ""."""
        if self._filler is None or not (failed := self._filler.failed):
            return ""
        self._log.append(
            Noticed(f"Not filled in: {failed}.", "The text stays as written; the model reads the reason.")
        )
        return (
            f"[In your last answer these references could not be filled in: {failed}. The user saw them as "
            "you wrote them.]"
        )

    async def _log_final(self, text: str, *, ended: bool = False) -> None:
        if self._filler is None:
            self._show(text)
            return
        self._split(text, ended=ended)
        while self._waiting:
            piece = self._waiting[0]
            if isinstance(piece, str):
                self._show(piece)
            else:
                value = await self._filler.value(piece)
                self._show(piece.written if value is None else value, "" if value is None else piece.written)
            self._waiting.popleft()

    def _split(self, text: str, *, ended: bool) -> None:
        if self._filler is None:
            self._waiting.append(text)
            return
        self._waiting.extend(self._filler.scanner.feed(text))
        if ended:
            self._waiting.extend(self._filler.scanner.finish())

    def _show(self, text: str, reference: str = "") -> None:
        if text or reference:
            self._log.append(TextDelta(text, reference))

    def _new_links(self) -> LiveLinks:
        return LiveLinks(self._runs.newest_file)


def new_filler(kernels: Kernels, resources: "SessionResources") -> "ReferenceFiller | None":
    """Return the filler for the references of one reply; None unless the settings enable it."""
    if not resources.references:
        return None
    from terp.session.answers.references import ReferenceFiller  # noqa: PLC0415  (few sessions use references)

    return ReferenceFiller(kernels, resources.redacted)
