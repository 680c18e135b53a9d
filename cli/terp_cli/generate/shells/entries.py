"""What a shell can offer: each flag in all its spellings, and what may follow it."""

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from terp.settings.setting import Setting
from terp_cli.line.flags import Flag, all_flags, long_names
from terp_cli.line.subcommands import VERBS

Value = Literal["none", "text", "choice", "file", "directory", "profile", "session"]
_BY_METAVAR: dict[str, Value] = {
    "FILE": "file",
    "PATH": "file",
    "DIR": "directory",
    "NAME|FILE": "profile",
    "[ID]": "session",
}


@dataclass(frozen=True)
class Entry:
    """Flags that mean the same, with hyphens in front, and what to offer after one of them."""

    names: tuple[str, ...]
    about: str
    value: Value
    label: str = ""
    choices: tuple[str, ...] = ()
    repeats: bool = False


def entries() -> list[Entry]:
    """Every flag that is understood, in the order of `--help`."""
    return [_entry(list(same)) for _, same in groupby(all_flags().values(), _meaning)]


def verbs_with(offered: str) -> list[tuple[str, str]]:
    """The subcommands and verbs behind which this kind of thing can stand."""
    return [
        (command, verb)
        for command, rows in VERBS.items()
        for verb, row in rows.items()
        if row.offers == offered
    ]


def _meaning(flag: Flag) -> tuple[str, object]:
    return flag.row.name, flag.value


def _entry(same: list[Flag]) -> Entry:
    names, first = tuple(flag.name for flag in same), same[0]
    row = first.row
    if not first.takes_value:
        return Entry(names, _about_switch(first), "none")
    label = row.name.replace("_", " ")
    return Entry(names, row.about, _value(row), label, row.choices, repeats=_repeats(row))


def _about_switch(flag: Flag) -> str:
    if flag.value is True:
        return flag.row.about
    return f"the same as {long_names(flag.row)[0]}={flag.value or 'off'}"


def _repeats(row: Setting) -> bool:
    """Whether a flag may be given more than once, each time with another value."""
    return row.name == "file" or row.kind in ("rules", "mapping")


def _value(row: Setting) -> Value:
    return "choice" if row.choices else _BY_METAVAR.get(row.metavar, "text")
