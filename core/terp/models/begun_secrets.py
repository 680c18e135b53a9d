"""Where the end of a text, which goes on later, may be the beginning of a secret."""

import re
from collections.abc import Iterator, Sequence

# The last word, read backwards, with the "bearer" or the name of a key of Amazon's before it.
_LAST_WORD = re.compile(
    r"[\w.~+/=-]*(?:\s+reraeb|\W{1,6}(?:yek_ssecca_terces_swa|yeksseccaterces))?",
    re.ASCII | re.IGNORECASE,
)
# The part of an address in which a password can stand.
_USER = re.compile(r"://[^\s/@'\"\\{}$<>]*\Z")
_BLOCK_BEGINS, _BLOCK_ENDS = "-----BEGIN ", re.compile(r"-----END [A-Z ]*-----")


def begun(text: str, values: Sequence[str], marks: Sequence[str]) -> int:
    """Where the first part of a secret begins that goes to the end of `text`; that end when there is none.

    `values` are secrets as they are written, `marks` what words that are secrets begin with, or hold.
    """
    found = [len(text)]
    for value in (*values, *marks):
        found += _first_parts(value, text)
    last = _LAST_WORD.match(text[::-1])
    word = len(text) - (last.end() if last else 0)
    if any(mark in text[word:] for mark in marks):
        found.append(word)
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
