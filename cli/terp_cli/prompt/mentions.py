"""`@path` and `@name` in a message: files that are attached to it, and variables that are described in it.

All other words with an @ are plain text: an address, a decorator, a handle.
"""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from terp.text.dataclasses import dataclass
from terp.text.paths import typed_path

# Within double quotes, backslashes and double quotes of the name are escaped with a backslash.
_QUOTED = r'''"((?:\\["\\]|\\(?!["\\])|[^"\\\n])+)"'''
_ESCAPED = re.compile(r'\\(["\\n])')
_MENTION = re.compile(rf"""(?:^|(?<=\s))@(?:{_QUOTED}|'([^'\n]+)'|([^\s"'@]\S*))""")
_PUNCTUATION = ".,;:!?)]}"


@dataclass(frozen=True, slots=True)
class Mentions:
    """The mentions in a message: existing files, words that could be variables, and others.

    `openers` are those words that begin a line above another line, as decorators do.
    """

    files: tuple[str, ...]
    names: tuple[str, ...]
    others: tuple[str, ...] = ()
    openers: frozenset[str] = frozenset()


def mentions(message: str, cwd: Path) -> Mentions:
    """Return the files and possible variables that `message` names with an `@`, each once."""
    files: list[str] = []
    names: list[str] = []
    others: list[str] = []
    openers: set[str] = set()
    for found in _MENTION.finditer(message):
        escaped, quoted, bare = found.groups()
        spellings = _unescaped(escaped) if escaped else [quoted] if quoted else _spellings(bare)
        if file := next((name for name in spellings if _is_file(name, cwd)), ""):
            files.append(str(cwd / typed_path(file)))
            continue
        word = spellings[-1]
        if not word:
            continue
        (others if not bare or not word.isidentifier() else names).append(word)
        if not message[: found.start()].rpartition("\n")[2].strip() and "\n" in message[found.end() :]:
            openers.add(word)
    return Mentions(_once(files), _once(names), _once(others), frozenset(openers))


def _once(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def mention(path: str) -> str:
    """Return the mention of a file."""
    if path.startswith("~"):
        # Without it the path would name a home directory.
        path = f"./{path}"
    if re.fullmatch(r"[^\s\"'@]+", path):
        return f"@{path}"
    escaped = re.sub(r'(["\\])', r"\\\1", path).replace("\n", "\\n")
    return f'@"{escaped}"'


def as_mentions(pasted: str) -> str:
    """Return mentions for a paste of file paths only, as a drop on a terminal inserts it; else ""."""
    if not pasted.strip() or len(pasted) > 4_000 or "\n" in pasted.strip():
        return ""
    paths = _paths(pasted.strip())
    # A single word may happen to be the name of a file here.
    if not paths or not all(
        ("/" in path or path.startswith("~")) and _is_file(path, Path()) for path in paths
    ):
        return ""
    return " ".join(mention(path) for path in paths) + " "


def _paths(pasted: str) -> Sequence[str]:
    try:
        return [_local(part) for part in shlex.split(pasted)]
    except ValueError:
        return ()


def _local(dropped: str) -> str:
    """Return the path of a `file:` address on this machine, other text unchanged."""
    address = re.match(r"file://(?:localhost)?(?=/)", dropped)
    return unquote(dropped[address.end() :]) if address else dropped


def _unescaped(quoted: str) -> list[str]:
    """Return both readings of a quoted name: backslash and n as a line break, and as two characters."""
    breaks = _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], quoted)
    letters = _ESCAPED.sub(lambda found: found[0] if found[1] == "n" else found[1], quoted)
    return [breaks, letters]


def _spellings(bare: str) -> list[str]:
    """Return a word, and the word without the punctuation of the sentence."""
    return list(dict.fromkeys([bare, bare.rstrip(_PUNCTUATION)]))


def _is_file(name: str, cwd: Path) -> bool:
    try:
        return (cwd / typed_path(name)).is_file()
    except (OSError, ValueError, RuntimeError):
        return False
