"""The text of a reply on its way to whoever reads it: links lead to files, references become values."""

from collections import deque
from typing import TYPE_CHECKING

from terp.events import Noticed, TextDelta
from terp.events.kernel import Kernels
from terp.events.log import EventLog
from terp.events.run_log import RunLog
from terp.session.answers.links import LiveLinks
from terp.session.equipment import Equipment

if TYPE_CHECKING:
    from terp.session.answers.filling import Filling
    from terp.session.answers.live import Piece


def new_filling(kernels: Kernels, equipment: Equipment) -> "Filling | None":
    """What fills in the references of one reply, where they are wanted."""
    if not equipment.references:
        return None
    from terp.session.answers.filling import Filling  # noqa: PLC0415  (few sessions want it)

    return Filling(kernels, equipment.without_secrets)


class AnswerText:
    """Logs the text of one reply as it comes; with a `filling`, references in it are filled in.

    Links lead to the files that `runs` have made or shown.
    """

    def __init__(self, log: EventLog, runs: RunLog, filling: "Filling | None" = None) -> None:
        self._log = log
        self._runs = runs
        self._filling = filling
        self._links = self._new_links()
        self._waiting: deque[Piece] = deque()

    async def feed(self, text: str) -> None:
        """Log what can be passed on after this piece; a reference waits for its value, and no longer."""
        await self._pass_on(self._links.feed(text))

    async def finish(self) -> None:
        """Log what was kept back: something else than text comes, or nothing."""
        await self._pass_on(self._links.finish(), ended=True)

    def break_off(self) -> None:
        """Log what was kept back as the model wrote it: there is no time to ask for values."""
        self._take_apart(self._links.finish(), ended=True)
        for piece in self._waiting:
            self._show(piece if isinstance(piece, str) else piece.written)
        self._waiting.clear()

    def whole(self, text: str) -> str:
        """The whole text of the reply as it was passed on."""
        links = self._new_links()
        text = links.feed(text) + links.finish()
        return self._filling.whole(text) if self._filling else text

    def told(self) -> str:
        """Tell the person of what could not be filled in; what the model is to be told of it, or ""."""
        if self._filling is None or not (failed := self._filling.failed):
            return ""
        self._log.append(
            Noticed(f"Not filled in: {failed}.", "Left as written by the model, which is told why.")
        )
        return (
            f"[In your last answer these references could not be filled in: {failed}. The user saw them as "
            "you wrote them.]"
        )

    async def _pass_on(self, text: str, *, ended: bool = False) -> None:
        self._take_apart(text, ended=ended)
        while self._waiting:
            piece = self._waiting[0]
            if isinstance(piece, str):
                self._show(piece)
            elif self._filling is not None:
                value = await self._filling.value(piece)
                self._show(piece.written if value is None else value, "" if value is None else piece.written)
            self._waiting.popleft()

    def _take_apart(self, text: str, *, ended: bool) -> None:
        if self._filling is None:
            self._waiting.append(text)
            return
        self._waiting.extend(self._filling.live.feed(text))
        if ended:
            self._waiting.extend(self._filling.live.finish())

    def _show(self, text: str, reference: str = "") -> None:
        if text or reference:
            self._log.append(TextDelta(text, reference))

    def _new_links(self) -> LiveLinks:
        return LiveLinks(self._runs.newest_file)
