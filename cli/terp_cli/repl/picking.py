"""Choosing one of several sessions: the rows, the search, and a numbered list for any terminal."""

import time
from collections.abc import Callable, Sequence

from terp.store.catalogue import Entry
from terp_cli.render.past_words import turns
from terp_cli.terminal.sanitise import one_line

_SHOWN = 15


def matching(entries: Sequence[Entry], text: str) -> list[Entry]:
    """The entries in which every word of `text` stands, in their order; all for an empty text.

    A word may stand in the title, the directory, the id or the date, whatever its case.
    """
    words = text.lower().split()
    return [entry for entry in entries if all(word in _searched(entry) for word in words)]


def row(entry: Entry, *, with_directory: bool = False) -> str:
    """One session on a line, without its number."""
    parts = [entry.id, when(entry.used), f"{turns(entry.turns):>9}"]
    if with_directory:
        parts.append(one_line(entry.cwd))
    return "  ".join([*parts, title(entry)])


def title(entry: Entry) -> str:
    """What a session is about, and what is special about it."""
    special = " (open)" if entry.open else ""
    special += f" (copy of {one_line(entry.forked_from)})" if entry.forked_from else ""
    return (one_line(entry.title) or "(no title)") + special


def when(moment: float) -> str:
    """A time in seconds since the epoch, as a date and a time of day here."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def pick(
    entries: Sequence[Entry],
    ask: Callable[[str], str],
    say: Callable[[str], object],
    *,
    all_directories: bool,
) -> Entry | None:
    """The entry that a person chooses by its number, after searching by words; None when they leave.

    `ask` gives the line typed after a prompt and raises `EOFError` at the end of input; `say` writes a line.
    """
    shown = list(entries)
    while True:
        for number, entry in enumerate(shown[:_SHOWN], 1):
            say(f"{number:3}  {row(entry, with_directory=all_directories)}")
        if len(shown) > _SHOWN:
            say(f"     and {len(shown) - _SHOWN} more: search for a word")
        try:
            typed = ask("Number, or words to search for: ").strip()
        except EOFError:
            return None
        if typed in ("", "q", "quit"):
            return None
        if typed.isdecimal() and 1 <= int(typed) <= min(len(shown), _SHOWN):
            return shown[int(typed) - 1]
        found = matching(entries, typed)
        if not found:
            say(f"No session has '{one_line(typed)}' in its title, directory, id or date.")
        shown = found or shown


def _searched(entry: Entry) -> str:
    return f"{entry.title} {entry.cwd} {entry.id} {when(entry.used)}".lower()
