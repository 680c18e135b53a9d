"""`/profile`: which settings have a name, and those of another one from now on."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from terp_cli.repl.commands.rows import columns
from terp_cli.repl.commands.switches import asking, confine
from terp_cli.repl.commands.talk import Talk
from terp_cli.repl.commands.telling import shown

if TYPE_CHECKING:
    from rich.text import Text

    from terp.opening.changing import Change

_VALUE_CHARS = 16


async def use(talk: Talk, name: str) -> None:
    """Which profile is in use, and which there are; with a name, that one from now on."""
    if not name:
        _list(talk)
        return
    change = await talk.use_profile(name)
    if change is None:
        talk.say(f"The profile is still {talk.profile}.")
        return
    talk.say(f"The profile is {name} now." + ("" if change.names else " That changes nothing here."))
    if change.names:
        talk.show(changed(change, talk.width))
    if change.later:
        talk.say(f"Only from the next start on (terp -p {name}): {', '.join(change.later)}.")
    if change.touches({"auto_run"}):
        talk.say(asking(talk))
        if talk.auto_run:
            await confine(talk)


def _list(talk: Talk) -> None:
    from terp.settings.profiles import Profiles  # noqa: PLC0415  (reads YAML)

    talk.say(f"The profile is {talk.profile}. /profile NAME takes another one:")
    entries = Profiles(talk.places.profiles).listed()
    lines = [(f"  {entry.name}", entry.description) for entry in entries]
    talk.show(columns(lines, talk.width, ("bold", "")))


def changed(change: "Change", width: int) -> "Sequence[Text]":
    """What differs by now, and where each of it comes from."""
    return columns(list(_lines(change)), width, ("", "bold", "dim"))


def _lines(change: "Change") -> Iterator[tuple[str, str, str]]:
    for name in change.names:
        before, after = (_short(shown(getattr(one, name))) for one in (change.before, change.after))
        yield f"  {name}", f"{before} → {after}", change.after.origin(name)


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= _VALUE_CHARS else line[: _VALUE_CHARS - 1] + "…"


def names(talk: Talk, begun: str) -> Iterable[str]:
    """The profiles whose names begin like this."""
    from terp.settings.profiles import Profiles  # noqa: PLC0415  (see `_list`)

    return (name for name in Profiles(talk.places.profiles).names() if name.startswith(begun))
