"""Where the end of a text, which goes on later, may be the beginning of a secret."""

import re
from collections.abc import Iterable, Iterator, Sequence

# The last word, read backwards, with the "bearer" or the name of a key of Amazon's before it.
_LAST_WORD = re.compile(
    r"[\w.~+/=-]*(?:\s+reraeb|\W{1,6}(?:yek_ssecca_terces_swa|yeksseccaterces))?",
    re.ASCII | re.IGNORECASE,
)
# The part of an address in which a password can stand.
_USER = re.compile(r"://[^\s/@'\"\\{}$<>]*\Z")
# Most pieces of a text that streams are no longer.
_SHORT = 200
_BLOCK_BEGINS, _BLOCK_ENDS = "-----BEGIN ", re.compile(r"-----END [A-Z ]*-----")


class Beginnings:
    """Texts by how they begin, each of two characters or more."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        self._firsts = frozenset(text[0] for text in self._texts)
        self._by_two: dict[str, list[str]] = {}
        for text in self._texts:
            self._by_two.setdefault(text[:2], []).append(text)

    def at_the_end_of(self, text: str) -> int:
        """Where a part, not all, of one of them begins that goes to the end of `text`; else that end."""
        if len(text) > _SHORT:
            return min((at for one in self._texts for at in _first_parts(one, text)), default=len(text))
        # Each piece of a model's text comes by here: looking at its places takes a tenth of the time that
        # looking for each of the texts takes.
        for at in range(len(text) - 1):
            for one in self._by_two.get(text[at : at + 2], ()):
                if len(one) > len(text) - at and one.startswith(text[at:]):
                    return at
        return len(text) - 1 if text[-1:] in self._firsts else len(text)


def begun(text: str, beginnings: Beginnings, marks: Sequence[str]) -> int:
    """Where the first part of a secret begins that goes to the end of `text`; that end when there is none.

    `beginnings` are those of secrets as they are written and of `marks`, which words that are secrets begin
    with, or hold.
    """
    found = [beginnings.at_the_end_of(text)]
    last = _LAST_WORD.match(text[::-1])
    word = text[len(text) - (last.end() if last else 0) :]
    if word and any(mark in word for mark in marks):
        found.append(len(text) - len(word))
    found.append(begun_block(text))
    if user := _USER.match(text, max(0, text.rfind("://"))):
        found.append(user.start())
    first = min(found)
    if text.endswith("\\"):
        first = min(first, len(text) - 1)
    # A letter behind a backslash is no part of a word, which can only be told with the backslash there.
    return first - (first < len(text) and text[first - 1 : first] == "\\")


def begun_block(text: str) -> int:
    """Where the last block begins, as of a private key, that does not end in `text`; its end for none."""
    block = text.rfind(_BLOCK_BEGINS)
    return block if block >= 0 and not _BLOCK_ENDS.search(text, block) else len(text)


def _first_parts(value: str, text: str) -> Iterator[int]:
    """Where the end of the text is a part of the value that it begins with."""
    if text[-1:] not in value:
        return
    at = text.find(value[0], max(0, len(text) - len(value) + 1))
    while at >= 0:
        if value.startswith(text[at:]):
            yield at
        at = text.find(value[0], at + 1)
