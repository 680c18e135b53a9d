"""The flags that a shell can offer: all spellings of each, and the kind of its value."""

from itertools import groupby
from typing import Literal

from terp.models.adapters.discovery import DEFAULT_MODELS
from terp.settings.setting import Setting
from terp.text.dataclasses import dataclass
from terp.text.languages import known_languages
from terp_cli.line.flags import Flag, all_flags, long_names
from terp_cli.line.subcommands import VERBS

ValueKind = Literal["none", "text", "choice", "file", "directory", "profile", "session", "emission"]
_BY_METAVAR: dict[str, ValueKind] = {
    "FILE": "file",
    "PATH": "file",
    "DIR": "directory",
    "NAME|FILE": "profile",
    "[ID]": "session",
    "NAME[:FORM]": "emission",
}
# Free text of which the usual values are known.
_USUAL = {"model": tuple(map("/".join, DEFAULT_MODELS)), "language": known_languages()}


@dataclass(frozen=True)
class FlagEntry:
    """The spellings of one flag, with hyphens, and the values to offer after it."""

    names: tuple[str, ...]
    about: str
    value: ValueKind
    label: str = ""
    choices: tuple[str, ...] = ()
    repeats: bool = False


def entries() -> list[FlagEntry]:
    """Return every flag, in the order of `--help`."""
    return [_entry(list(same)) for _, same in groupby(all_flags().values(), _meaning)]


def verbs_with(offered: str) -> list[tuple[str, str]]:
    """Return the pairs of subcommand and verb that take this kind of argument."""
    return [
        (command, verb)
        for command, rows in VERBS.items()
        for verb, row in rows.items()
        if row.offers == offered
    ]


def _meaning(flag: Flag) -> tuple[str, object]:
    return flag.row.name, flag.value


def _entry(same: list[Flag]) -> FlagEntry:
    names, first = tuple(flag.name for flag in same), same[0]
    row = first.row
    if not first.takes_value:
        return FlagEntry(names, _about_switch(first), "none")
    label = row.name.replace("_", " ")
    return FlagEntry(names, row.about, _value(row), label, _choices(row), repeats=_repeats(row))


def _about_switch(flag: Flag) -> str:
    if flag.value is True:
        return flag.row.about
    return f"the same as {long_names(flag.row)[0]}={flag.value or 'off'}"


def _repeats(row: Setting) -> bool:
    """Return True if a flag may be given more than once, each time with another value."""
    return row.name == "file" or row.kind in ("rules", "mapping")


def _value(row: Setting) -> ValueKind:
    return "choice" if _choices(row) else _BY_METAVAR.get(row.metavar, "text")


def _choices(row: Setting) -> tuple[str, ...]:
    return row.choices or _USUAL.get(row.name, ())
