"""Telling what one command does: its options, its operands, and the files they name."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from terp.analysis.effects.shell_tools import Tool
from terp.analysis.effects.shell_words import Word
from terp.events.effects import EffectKind, Finder, Place


@dataclass(frozen=True, slots=True)
class Found:
    """One command, and where what it does is told; `depth` counts the commands that run it."""

    words: Sequence[Word]
    find: Finder
    at: Place
    depth: int = 0

    def doubt(self, what: str) -> None:
        """Something about the command that is not known."""
        self.find.doubt(what, self.at)


def worded(words: Sequence[Word]) -> str:
    """A command as one would type it."""
    return " ".join(
        shlex.quote(word.text) if word.plain and not word.pattern else word.text for word in words
    )


def operands(words: Sequence[Word], values: str = "") -> tuple[list[Word], list[str]]:
    """The words that are no options, and the options; `values` are the letters of those with a value."""
    named: list[Word] = []
    options: list[str] = []
    waiting = False
    for at, word in enumerate(words):
        text = word.text
        if waiting:
            waiting = False
        elif text == "--" and word.plain:
            return [*named, *words[at + 1 :]], options
        elif text.startswith("-") and text != "-":
            options.append(text)
            waiting = not text.startswith("--") and text[-1] in values and not set(text[1:-1]) & set(values)
        else:
            named.append(word)
    return named, options


def tell_files(found: Found, kind: EffectKind, tool: Tool) -> None:
    """Tell that a tool reads, writes or deletes its operands."""
    named, options = operands(found.words[1:], tool.values)
    if tool.options is not None:
        only_known_options(found, options, tool.options)
    if not tool.files:
        return
    # A pattern may be given by an option instead.
    skip = (
        0 if any(option.startswith(("-e", "-f", "--regexp", "--file")) for option in options) else tool.skip
    )
    for word in named[skip:]:
        found.find.add(kind, word.text, found.at)
    if kind != "reads" and not named[skip:]:
        found.find.add(kind, "", found.at)


def only_known_options(found: Found, options: Sequence[str], known: str) -> None:
    """Doubt an option that is not known, and words that the shell may make one of."""
    letters, *names = known.split()
    name = found.words[0].text
    for option in options:
        long = option.startswith("--")
        known_letters = option[1:].rstrip("0123456789,.")
        if (option[2:].partition("=")[0] not in names) if long else not _all_known(known_letters, letters):
            found.doubt(f"`{name} {option}` is not known")
            return
    for word in found.words[1:]:
        if word.text[:1] in "$*?[{`" and (not word.plain or word.pattern) and word.text[:1]:
            found.doubt(f"`{name}` may take `{word.text}` for an option")
            return


def _all_known(given: str, letters: str) -> bool:
    # What follows a letter with a value belongs to it: `-k2n`, `-t,`.
    return (
        bool(given)
        and given[0] in letters
        and all(letter in letters or not letter.isalpha() for letter in given)
    )


def network_target(words: Sequence[Word]) -> str:
    """The hosts that a command names; the command itself when it names none."""
    hosts = dict.fromkeys(host for word in words[1:] if (host := _host(word.text)))
    return " ".join(hosts) or worded(words[:6])


def _host(text: str) -> str:
    if "://" not in text:
        return ""
    try:
        return urlsplit(text[text.rfind("=", 0, text.index("://")) + 1 :]).netloc.rpartition("@")[2]
    except ValueError:
        return text
