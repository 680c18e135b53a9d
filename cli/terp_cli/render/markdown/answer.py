"""The model's answer, without pictures that were shown already."""

import os
import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

from rich.text import Text

from terp.text.fences import Fence, opening_fence
from terp_cli.render.markdown.markdown import MarkdownStream
from terp_cli.render.output.display import Drawn

_WORDS = r"!\[(?P<words>[^\[\]\n]{0,200})"
_BARE, _ANGLED, _TITLE = r"[^()<>\s]", r"[^<>\n]", r"[^\"\n]"
_IMAGE = re.compile(
    rf"{_WORDS}\]\((?:(?P<bare>{_BARE}{{1,500}})|<(?P<angled>{_ANGLED}{{1,500}})>)"
    rf"(?: +\"{_TITLE}{{0,200}}\")? *\)"
)
_BEGUN = re.compile(
    rf"!|{_WORDS}(?:\](?:\((?:(?:{_BARE}{{0,500}}|<{_ANGLED}{{0,500}}>?)"
    rf"(?: *| +\"{_TITLE}{{0,200}}\"? *))?)?)?"
)


class AnswerStream:
    """Markdown stream that omits images whose address is `is_shown`.

    Such an image is removed with its line if it is the only content of the line; within a sentence its words
    stay. Other images stay, and `picture` draws them after the text. The rows do not depend on how the text
    was cut into pieces.
    """

    def __init__(
        self,
        markdown: MarkdownStream,
        is_shown: Callable[[str], bool],
        picture: Callable[[str], Sequence[Drawn]] = lambda _: (),
    ) -> None:
        self._markdown = markdown
        self._is_shown = is_shown
        self._picture = picture
        self._addresses: dict[str, None] = {}
        self._held = ""
        self._line = ""
        self._fence: Fence | None = None

    def feed(self, text: str) -> list[Text]:
        """Return the rows that `text` finished."""
        if self._held or "!" in text:
            text = self._without_shown(self._held + text, ended=False)
        return self._passed(text)

    def finish(self) -> list[Drawn]:
        """Return the remaining rows, and the pictures that the text names."""
        rest = self._without_shown(self._held, ended=True)
        rows: list[Drawn] = [*self._passed(rest), *self._markdown.finish()]
        for address in self._addresses:
            rows += self._picture(address)
        self._line, self._fence, self._addresses = "", None, {}
        return rows

    def tail(self, limit: int) -> list[Text]:
        """Return the last `limit` unfinished rows."""
        return self._markdown.tail(limit)

    def _passed(self, text: str) -> list[Text]:
        self._follow(text)
        return self._markdown.feed(text) if text else []

    def _without_shown(self, text: str, *, ended: bool) -> str:
        """Return `text` without the images; hold back an undecided end."""
        self._held = ""
        parts: list[str] = []
        at, line, fence = 0, self._line, self._fence
        while (start := text.find("!", at)) >= 0:
            parts.append(text[at:start])
            self._follow(text[at:start])
            image = _IMAGE.match(text, start)
            undecided = image.end() == len(text) if image else _BEGUN.fullmatch(text, start) is not None
            if undecided and not ended:
                self._held, text = text[start:], text[:start]
                at = start
                break
            kept = self._replaced(image, text) if image else "!"
            parts.append(kept)
            self._follow(kept)
            at = image.end() if image else start + 1
        self._line, self._fence = line, fence
        return "".join(parts) + text[at:]

    def _replaced(self, image: re.Match[str], text: str) -> str:
        address = image["bare"] or image["angled"]
        if self._fence:
            return image[0]
        if not self._is_shown(address):
            self._addresses[address] = None
            return image[0]
        if not self._line.strip() and text[image.end() : image.end() + 1] in ("", "\n", "\r"):
            return ""
        return image["words"]

    def _follow(self, text: str) -> None:
        """Store the incomplete last line of `text`, and the state of the fence."""
        if "\n" not in text:
            # The beginning of a line is all that is looked at.
            self._line = (self._line + text)[:200]
            return
        first, *others = text.split("\n")
        for line in (self._line + first, *others[:-1]):
            if self._fence is None:
                opening = opening_fence(line)
                self._fence = opening if opening and opening.columns <= 3 else None
            elif self._fence.is_closed_by(line):
                self._fence = None
        self._line = others[-1][:200]


def same_file(address: str, cwd: str) -> str:
    """Return the absolute path of a local image's address; "" for any other address.

    Before the first code of a session `cwd` is "": the path is then relative to terp's own directory.
    """
    address = unquote(address.removeprefix("file://"))
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", address):
        return ""
    try:
        return os.path.abspath(os.path.join(cwd, address))  # noqa: PTH100, PTH118 - links are not followed
    except OSError:
        return ""  # That directory is gone.
