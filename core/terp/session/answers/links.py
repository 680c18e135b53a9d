"""Links that lead nowhere: `sandbox:/x.csv` and `attachment:plot.png`, as models write them for files.

They name places of the systems that models were trained on. Where a run has left a file of that name
the link leads to it; otherwise only its words are kept.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from urllib.parse import unquote

_SCHEMES = ("sandbox:", "attachment:")
_WORDS = r"!?\[(?P<words>[^\[\]\n]{0,200})"
_SCHEME = "|".join(_SCHEMES)
_SCHEME_BEGUN = "|".join(scheme[:end] for scheme in _SCHEMES for end in range(len(scheme)))
_PATH = r"[^()\[\]\n]"
_LINK = re.compile(rf"{_WORDS}\]\((?:{_SCHEME})(?P<target>{_PATH}{{1,300}})\)")
_BEGUN = re.compile(rf"!|{_WORDS}(?:\](?:\((?:{_SCHEME_BEGUN}|(?:{_SCHEME}){_PATH}{{0,300}}))?)?")


class LiveLinks:
    """Passes text on with every link of this kind made to work, or reduced to its words.

    `find` gives the path for a file's name, "" when there is none. Only what may still become such a
    link is kept back; the result does not depend on how the text is cut.
    """

    def __init__(self, find: Callable[[str], str]) -> None:
        self._find = find
        self._held = ""

    def feed(self, text: str) -> str:
        """What can be passed on after this piece."""
        if not self._held and "[" not in text and not text.endswith("!"):
            return text
        text = _LINK.sub(self._mended, self._held + text)
        at = _beginning(text)
        text, self._held = text[:at], text[at:]
        return text

    def finish(self) -> str:
        """What was kept back and is no such link after all."""
        held, self._held = self._held, ""
        return held

    def _mended(self, link: re.Match[str]) -> str:
        path = self._find(PurePosixPath(unquote(link["target"])).name)
        if not path:
            return link["words"]
        written = f"<{path}>" if re.search(r"[\s()]", path) else path
        return f"{link[0].partition(']')[0]}]({written})"


def _beginning(text: str) -> int:
    """Where a link begins that is not complete yet; the end of the text when there is none."""
    at = text.rfind("[")
    at = max(0, at - text[at - 1 : at].count("!")) if at >= 0 else len(text)
    if _BEGUN.fullmatch(text, at):
        return at
    return len(text) - text.endswith("!")
