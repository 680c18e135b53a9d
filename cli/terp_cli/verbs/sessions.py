"""`terp sessions` (list, show, search, rm, prune, import) and `terp export`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from terp.errors import SessionError, SettingsError, TerpError, with_remedy
from terp.events import TurnStarted
from terp.events.messages import Message
from terp.events.wire import record_to_json
from terp.secrets.environment import find_python
from terp.settings.profile_file import short_path
from terp.store.catalogue import Catalogue, SessionEntry
from terp.store.export.script import distributions_of
from terp.store.export.writing import export
from terp.store.forms import message_to_json
from terp.store.keeping import Keeper
from terp.store.places import real_directory
from terp.store.reading import read
from terp.store.saved_messages import MessagesUnreadable, import_messages, read_messages
from terp.text.paths import typed_path
from terp.text.plain import counted
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.json import write_facts
from terp_cli.fronts.plain import PlainFront
from terp_cli.repl.keeping import place_of
from terp_cli.repl.resuming import row, title, when
from terp_cli.terminal.sanitise import one_line, readable

if TYPE_CHECKING:
    from terp.store.export.writing import Format

_MEGABYTE = 1_000_000


def sessions(call: Invocation) -> int:
    """Run `terp sessions`; return the exit code."""
    verb, more = call.line.argument, call.line.arguments
    return _VERBS[verb](call, Catalogue(call.places.sessions, call.places.work), more)


def _list(call: Invocation, catalogue: Catalogue, _: Sequence[str]) -> int:
    entries = catalogue.listed(_where(call))
    if _as_json(call):
        return write_facts(call.out, {"sessions": [_facts(entry) for entry in entries]})
    for entry in entries:
        call.out.write(f"{row(entry, with_directory=call.options.all)}\n")
    if not entries:
        others = "." if call.options.all else " of this directory; --all lists those of others."
        call.note(f"there are no sessions{others}")
    return 0


def _show(call: Invocation, catalogue: Catalogue, more: Sequence[str]) -> int:
    folder = catalogue.find(more[0], real_directory(call.cwd))
    stored = read(folder)
    [entry] = [entry for entry in catalogue.listed(stored.header.cwd) if entry.folder == folder]
    if _as_json(call):
        messages = [message_to_json(message) for message in stored.history]
        events = [record_to_json(record) for record in stored.events.records]
        return write_facts(call.out, {"session": _facts(entry), "messages": messages, "events": events})
    call.out.write(f"{entry.id} · {when(entry.started)} · {one_line(entry.cwd)}\n{title(entry)}\n")
    front = PlainFront(call.out, call.out, "verbose" if call.options.verbose else "normal")
    for record in stored.events.records:
        if isinstance(record.event, TurnStarted) and not record.event.continued:
            call.out.write(f"\n> {readable(record.event.prompt)}\n\n")
        front.take(record.event)
    for notice in stored.notices:
        call.note(one_line(notice))
    return 0


def _search(call: Invocation, catalogue: Catalogue, more: Sequence[str]) -> int:
    found = list(catalogue.search(more, _where(call)))
    if _as_json(call):
        return write_facts(call.out, {"sessions": [{**_facts(one.entry), "line": one.line} for one in found]})
    for one in found:
        call.out.write(f"{row(one.entry, with_directory=call.options.all)}\n    {one_line(one.line)}\n")
    if not found:
        here = "no session of this directory has all these words; --all also searches other directories."
        call.note("no session has all these words." if call.options.all else here)
    return 0


def _remove(call: Invocation, catalogue: Catalogue, more: Sequence[str]) -> int:
    removed: list[str] = []
    problems: list[SessionError] = []
    for name in more:
        try:
            folder = catalogue.find(name, real_directory(call.cwd))
            catalogue.remove(folder)
            removed.append(folder.name)
        except SessionError as error:
            problems.append(error)
    if _as_json(call):
        write_facts(call.out, {"removed": removed})
    else:
        call.out.writelines(f"Removed {name}.\n" for name in removed)
    if problems:
        raise TerpError("\n".join(with_remedy(error.message, error.remedy) for error in problems))
    return 0


def _prune(call: Invocation, catalogue: Catalogue, _: Sequence[str]) -> int:
    quota = call.settings().session_quota_mb
    if not quota:
        call.note("session_quota_mb is 0: there is no limit, and no session was removed.")
        return 0
    pruned = catalogue.prune(quota * _MEGABYTE)
    if _as_json(call):
        facts = {"removed": list(pruned.removed), "freed_bytes": pruned.freed, "left_bytes": pruned.left}
        return write_facts(call.out, facts)
    call.out.writelines(f"Removed {name}.\n" for name in pruned.removed)
    left = f"{pruned.left / _MEGABYTE:.1f} MB of {quota} MB"
    call.out.write(
        f"{counted(len(pruned.removed), 'session')} removed; those left take {left} (session_quota_mb).\n"
    )
    return 0


def _where(call: Invocation) -> str:
    return "" if call.options.all else real_directory(call.cwd)


def _as_json(call: Invocation) -> bool:
    return call.options.output_format != "text"


def _facts(entry: SessionEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "title": entry.title,
        "cwd": entry.cwd,
        "turns": entry.turns,
        "model": entry.model,
        "started": entry.started,
        "used": round(entry.used, 3),
        "forked_from": entry.forked_from,
        "open": entry.open,
        "folder": str(entry.folder),
    }


def _import(call: Invocation, _: Catalogue, more: Sequence[str]) -> int:
    folder, messages = imported(call, typed_path(more[0]))
    if _as_json(call):
        return write_facts(call.out, {"imported": folder.name, "messages": messages})
    call.out.write(f"{counted(messages, 'message')} imported; terp -r {folder.name} resumes them.\n")
    return 0


_VERBS: Mapping[str, Callable[[Invocation, Catalogue, Sequence[str]], int]] = {
    "list": _list,
    "show": _show,
    "search": _search,
    "rm": _remove,
    "prune": _prune,
    "import": _import,
}


def export_session(call: Invocation) -> int:
    """Export the named session, or the last one of this directory; return the exit code."""
    catalogue, here = Catalogue(call.places.sessions), real_directory(call.cwd)
    named = call.line.arguments
    folder = catalogue.find(named[0], here) if named else catalogue.last(here)
    settings = call.settings()
    written = export(
        read(folder).events.records,
        folder,
        cast("Format", call.line.argument),
        typed_path(str(call.options.out)) if call.options.out else call.cwd,
        redactor=call.secrets.redactor(),
        distributions=lambda: distributions_of(find_python(settings.python, call.environ).path),
    )
    # A program needs the path as it is; a terminal must not obey it.
    call.out.write(f"{one_line(str(written)) if call.out.isatty() else written}\n")
    return 0


def imported(call: Invocation, source: Path) -> tuple[Path, int]:
    """Import a file; return the folder of the new session, and its number of messages.

    Raises:
        SettingsError: the file holds no conversation.
        SessionError: sessions cannot be stored here.
    """
    messages = _messages(source)
    call.settings()
    place = place_of(call, None)
    if not isinstance(place.keeper, Keeper):
        raise SessionError("Sessions cannot be kept here, so nothing was imported.")
    import_messages(messages, place.keeper, real_directory(call.cwd))
    return place.folder, len(messages)


def _messages(source: Path) -> list[Message]:
    name = short_path(source)
    try:
        messages = read_messages(source, name)
    except MessagesUnreadable as error:
        raise SettingsError([error.message]) from error
    if not messages:
        raise SettingsError([f"{name} holds no message."])
    return messages
