"""The command that goes back to before a turn, with what its code did."""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from terp_cli.repl.commands.conversation import short
from terp_cli.repl.commands.rows import columns
from terp_cli.repl.commands.table import misused
from terp_cli.repl.commands.talk import PastTurn, Talk

if TYPE_CHECKING:
    from terp.session.rewind.rewinding import TakenBack, Written

_CHAT = "chat"
_NAMED = 20


async def rewind(talk: Talk, argument: str) -> None:
    """Back to before a turn, whose message can be changed and sent again."""
    turns = talk.session.turns
    if not argument:
        lines = [(f"  {turn.number}", turn.prompt.strip().split("\n")[0]) for turn in turns]
        talk.say("/rewind N goes back to before:" if turns else "Nothing was said yet.")
        talk.show(columns(lines, talk.width, ("bold", "")) if lines else [])
        return
    number, _, how = argument.partition(" ")
    if not number.isdecimal():
        raise misused("rewind", f"'{number}' is not the number of a turn.")
    if how.strip() not in ("", _CHAT):
        raise misused("rewind", f"'{how.strip()}' is not '{_CHAT}'.")
    first = await (_of_chat if how.strip() else _of_all)(talk, int(number))
    talk.prefill(first.prompt)


async def _of_chat(talk: Talk, number: int) -> PastTurn:
    first = talk.session.past.rewind(number, copy=True)[0]
    talk.say(f"Back to before: {short(first.prompt)}.")
    return first


async def _of_all(talk: Talk, number: int) -> PastTurn:
    rewinding = talk.session.past.with_code
    files = [one for one in await rewinding.written(number) if one.can]
    yes = bool(files) and await talk.ask(_question(talk, files))
    taken = await rewinding.go(number, [one.path for one in files] if yes else [], copy=True)
    deleted = {one.path for one in files if one.new}
    talk.say(f"Back to before: {short(taken.turns[0].prompt)}.", *_told(talk, taken, deleted))
    return taken.turns[0]


def turn_numbers(talk: Talk, begun: str) -> list[str]:
    """The numbers of turns that begin like this, and what can follow one."""
    if begun[:-1].isdecimal() and begun.endswith(" "):
        return [begun + _CHAT]
    return [number for turn in talk.session.turns if (number := str(turn.number)).startswith(begun)]


def _question(talk: Talk, files: "Sequence[Written]") -> str:
    parts = [
        (verb, [_near(talk, one.path) for one in files if one.new == new])
        for verb, new in (("restore", False), ("delete", True))
    ]
    told = " and ".join(f"{verb} {_some(named)}" for verb, named in parts if named)
    return f"{told[0].upper()}{told[1:]}?"


def _told(talk: Talk, taken: "TakenBack", deleted: set[str]) -> list[str]:
    lines = [
        ("As they were", taken.back),
        ("Removed", taken.removed),
        ("Not restored, and as they are now", [f"{name} ({why})" for name, why in taken.lost]),
        ("Files as they were", [_near(talk, path) for path in taken.files if path not in deleted]),
        ("Files deleted", [_near(talk, path) for path in taken.files if path in deleted]),
        (
            "Files as they are now",
            [_near(talk, path) + (why and f" ({why})") for path, why in taken.files_lost],
        ),
    ]
    told = [f"{title}: {_some(names)}." for title, names in lines if names]
    return [*told, *(f"{one[:1].upper()}{one[1:]}." for one in taken.notes)]


def _some(names: Iterable[str]) -> str:
    named = [*names]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return ", ".join(named[:_NAMED]) + more


def _near(talk: Talk, path: str) -> str:
    """A path as seen from where the person works."""
    near = os.path.relpath(path, talk.session.kernels.cwd)
    return path if near.startswith("..") else near
