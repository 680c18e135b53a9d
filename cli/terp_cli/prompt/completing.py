"""Completion on the input line: /commands with arguments, @files, @variables, `>>> code`, `!commands`."""

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TypeVar

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from terp.text.files import Refused, read_bounded
from terp.text.paths import typed_path
from terp_cli.prompt.interface import PromptHost, Word
from terp_cli.prompt.mentions import mention
from terp_cli.terminal.sanitise import one_line

_MOST = 60
# A completion that comes later than this disturbs typing.
_PATIENCE_S = 0.15
_WALK_FILES = 20_000
_FRESH_S = 3.0
_LARGEST_IGNORE = 64 * 1024
_LEFT_OUT = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv", "venv", ".mypy_cache"})

T = TypeVar("T")


class LineCompleter(Completer):
    """Completer for the text before the cursor."""

    def __init__(self, host: PromptHost) -> None:
        self._host = host
        self._files = Files(host.cwd)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return nothing: completions are only asynchronous."""
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield completions, the best first."""
        before = document.text_before_cursor
        if (at := re.search(r"(?:^|\s)@([^\s@]*)$", before)) is not None:
            words = await self._mentioned(at[1])
            typed = len(at[1]) + 1
        elif before.startswith((">>>", "!")):
            language, code = ("shell", before[1:]) if before[0] == "!" else ("python", before[3:].lstrip())
            for match in (await self._patiently(self._host.code(language, code)))[:_MOST]:
                yield Completion(match, -_overlap(code, match))
            return
        elif before[:1] in ("/", "%") and "\n" not in before:
            name, gap, argument = before[1:].partition(" ")
            commands = self._host.commands()
            words = await self._arguments(name, argument) if gap else _ranked(name, commands, in_order=True)
            typed = len(argument) if gap else len(name)
        else:
            return
        for word, about in words[:_MOST]:
            yield Completion(word, -typed, display=one_line(word), display_meta=one_line(about))

    async def _arguments(self, name: str, typed: str) -> list[Word]:
        # The source may read files, while the next key is pressed.
        return await asyncio.to_thread(lambda: _ranked(typed, self._host.arguments(name, typed)))

    async def _mentioned(self, typed: str) -> list[Word]:
        names, files = await asyncio.gather(
            self._patiently(self._host.names()), asyncio.to_thread(self._here().like, typed)
        )
        variables = [(f"@{name}", about) for name, about in _ranked(typed, names)]
        return [*variables, *((mention(path), "") for path in files)]

    def _here(self) -> "Files":
        folder = self._host.cwd
        if folder != self._files.folder:
            self._files = Files(folder)
        return self._files

    @staticmethod
    async def _patiently(waited: "Awaitable[Sequence[T]]") -> "Sequence[T]":
        with suppress(TimeoutError):
            return await asyncio.wait_for(waited, _PATIENCE_S)
        return ()


class Files:
    """The files below a directory, without the names in its `.gitignore`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._found: list[str] = []
        self._found_at = -_FRESH_S

    def like(self, typed: str) -> list[str]:
        """Return paths that match the typed text, the best first; it may name another folder."""
        if typed.startswith(("/", "~", "..")):
            return list(islice(_beside(self.folder, typed), _MOST))
        if time.monotonic() - self._found_at > _FRESH_S:
            self._found, self._found_at = list(islice(self._walk(), _WALK_FILES)), time.monotonic()
        return [path for path, _ in _ranked(typed, ((path, "") for path in self._found))]

    def _walk(self) -> Iterator[str]:
        ignored = _ignored_by(self.folder / ".gitignore")
        for folder, below, files in os.walk(self.folder):
            hidden = (name for name in below if name in _LEFT_OUT or name.startswith(".") or ignored(name))
            below[:] = sorted(set(below).difference(hidden))
            kept = sorted(name for name in files if not ignored(name))
            yield from (os.path.relpath(os.path.join(folder, name), self.folder) for name in kept)  # noqa: PTH118


def _ignored_by(path: Path) -> Callable[[str], bool]:
    """Return a function that is True for names ignored by this `.gitignore`; lines with paths do not count.

    git is not called: its configuration in a folder can name programs that it runs.
    """
    try:
        lines = read_bounded(path, _LARGEST_IGNORE).decode(errors="replace").split("\n")
    except Refused:
        return lambda _: False
    names = (line.strip().strip("/") for line in lines if not line.startswith(("#", "!")))
    patterns = [name for name in names if name and "/" not in name]
    return lambda name: any(fnmatchcase(name, pattern) for pattern in patterns)


def _beside(folder: Path, typed: str) -> Iterator[str]:
    head, slash, start = typed.rpartition("/")
    with suppress(OSError, RuntimeError):
        for entry in sorted((folder / typed_path(head + slash)).iterdir()):
            if entry.name.startswith(start):
                yield f"{head}{slash}{entry.name}{'/' if entry.is_dir() else ''}"


def _ranked(typed: str, words: Iterable[Word], *, in_order: bool = False) -> list[Word]:
    """Return the words that contain the typed letters in order: first those that begin so, then the densest.

    Among equals the shortest comes first, or with `in_order` the first in `words`.
    """
    if not typed:
        return list(words)
    letters = [re.escape(letter) for letter in typed.lower()]
    # Possessive: without it a name of many equal letters would backtrack for ever.
    pattern = re.compile(letters[0] + "".join(f"[^{letter}]*+{letter}" for letter in letters[1:]))
    ranked: list[tuple[tuple[bool, int, int, int], Word]] = []
    for at, word in enumerate(words):
        lowered = word[0].lower()
        found = pattern.search(lowered)
        if found:
            name_at = lowered.rfind("/") + 1
            begins = lowered.startswith(typed.lower()) or lowered.startswith(typed.lower(), name_at)
            spread = found.end() - found.start()
            ranked.append(((not begins, spread, found.start(), at if in_order else len(lowered)), word))
    return [word for _, word in sorted(ranked)]


def _overlap(code: str, match: str) -> int:
    """Return the length of the longest end of `code` that begins `match`."""
    longest = min(len(code), len(match))
    return next((size for size in range(longest, 0, -1) if code.endswith(match[:size])), 0)
