"""-c and -r: find or pick the session to resume, and report on it."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from terp.errors import SessionError, SettingsError
from terp.events import Noticed, SessionResumed
from terp.session.session import Session
from terp.store.catalogue import Catalogue, SessionEntry
from terp.store.folders import fork
from terp.store.journal import NAME
from terp.store.places import Place, real_directory, stored_place
from terp.store.reading import read_header
from terp_cli.fronts.invocation import Invocation
from terp_cli.render import sentences
from terp_cli.render.sentences import turns
from terp_cli.terminal.sanitise import one_line


@dataclass(frozen=True)
class Resuming:
    """A stored session to resume, and its working directory."""

    folder: Path
    cwd: Path

    def report(self, call: Invocation, session: Session) -> None:
        """Write a note on the resumed session, if nothing else shows one."""
        for record in session.log.since(session.log.resumed_at):
            match record.event:
                case SessionResumed():
                    call.note(sentences.resumed(record.event))
                case Noticed(text=text):
                    call.note(text)


def chosen(call: Invocation) -> Resuming:
    """Return the session that -c or -r asks for.

    Raises:
        SessionError: there is no such session.
        SettingsError: there is no user to choose one, or the user chose none.
    """
    options, catalogue = call.options, Catalogue(call.places.sessions)
    if options.resume:
        folder = catalogue.find(options.resume, real_directory(call.cwd))
    elif options.resume is not None:
        folder = _picked(call, catalogue)
    elif options.continue_:
        folder = catalogue.last(real_directory(call.cwd))
    elif options.fork:
        raise SettingsError(["--fork goes with -c or -r: it continues on a copy of a session."])
    else:
        raise SettingsError(["--rerun goes with -c or -r: it runs the code of a session again."])
    if options.fork:
        folder = _copied(call, folder)
    return Resuming(folder, _directory(call, folder))


def resumes_problem(call: Invocation) -> bool:
    """Return True if -r or -c names an unfinished problem of `terp solve`, without a new prompt."""
    options, here = call.options, real_directory(call.cwd)
    if call.line.words or options.rerun or options.fork or not (options.resume or options.continue_):
        return False
    catalogue = Catalogue(call.places.sessions)
    try:
        folder = catalogue.find(options.resume, here) if options.resume else catalogue.last(here)
    except SessionError:
        # The error is reported where the session is resumed.
        return False
    if not (folder / "solve.json").is_file():
        return False
    from terp.checks.solve.state import is_problem  # noqa: PLC0415  (most sessions hold none)

    return is_problem(folder)


def saved(call: Invocation, present: str) -> Sequence[SessionEntry]:
    """Return the sessions of this directory, the newest first, without the `present` one."""
    entries = Catalogue(call.places.sessions).listed(real_directory(call.cwd))
    return [entry for entry in entries if entry.id != present]


def stored(call: Invocation, wanted: str) -> Place:
    """Return the place of a session of this directory, by its id or the beginning of one.

    Raises:
        SessionError: there is none, more than one, or it is open elsewhere.
    """
    folder = Catalogue(call.places.sessions).find(wanted, real_directory(call.cwd))
    return stored_place(folder, call.secrets)


def way_back(call: Invocation, folder: Path) -> str:
    """Return the command that resumes the session in `folder`; "" if it is not kept."""
    if not (folder / NAME).is_file():
        return ""
    try:
        # Also one that was only looked at was used last.
        (folder / NAME).touch()
        last = Catalogue(call.places.sessions).last(real_directory(call.cwd))
    except (SessionError, OSError):
        last = None
    return "terp -c" if last == folder else f"terp -r {folder.name}"


def _directory(call: Invocation, folder: Path) -> Path:
    """Return a stored session's working directory: its own, unless --cwd names another or it is gone."""
    header = read_header(folder)
    own = Path(header.cwd) if header else call.cwd
    if call.options.cwd or real_directory(call.cwd) == str(own):
        return call.cwd
    if not own.is_dir():
        call.note(f"the directory of the session is gone ({own}); it continues in {call.cwd}.")
        return call.cwd
    call.note(f"the session continues in its own directory, {own}.")
    return own


def _copied(call: Invocation, folder: Path) -> Path:
    """Copy a stored session, even if another terp has it open; return the folder of the copy."""
    copy = folder.with_name(fork(folder))
    call.note(f"{copy.name} is a copy of {folder.name}.")
    return copy


def _picked(call: Invocation, catalogue: Catalogue) -> Path:
    if call.source != "terminal":
        raise SettingsError([_without_id(call)])
    here = catalogue.listed(real_directory(call.cwd))
    everywhere = call.options.all or not here
    entries = catalogue.listed() if everywhere else here
    if not entries:
        raise SettingsError(["there are no sessions to resume."])
    say = lambda line: call.notes.write(f"{line}\n")  # noqa: E731
    with call.typed_ahead.lent():
        entry = pick(entries, _typed(call), say, all_directories=everywhere)
    if entry is None:
        raise SettingsError(["no session was chosen."])
    return entry.folder


def _without_id(call: Invocation) -> str:
    """Return the reason why no session can be picked; the prompt may have been meant as the id."""
    if len(call.line.words) == 1 and not any(map(str.isspace, call.line.words[0])):
        return f"there is no session '{call.line.words[0]}'; `terp sessions` lists the ids."
    return "-r without an ID asks which session, on a terminal; `terp sessions` lists the ids."


def _typed(call: Invocation) -> Callable[[str], str]:
    def ask(prompt: str) -> str:
        call.notes.write(prompt)
        call.notes.flush()
        # Whatever the keys send: a byte that is no character matches no session.
        line = sys.stdin.buffer.readline().decode(sys.stdin.encoding, "replace")
        if not line:
            raise EOFError
        return line

    return ask


_SHOWN = 15


def matching(entries: Sequence[SessionEntry], text: str) -> list[SessionEntry]:
    """Return the entries that contain every word of `text`, in their order; all for an empty text.

    The title, directory, id and date are searched, ignoring case.
    """
    words = text.lower().split()
    return [entry for entry in entries if all(word in _searched(entry) for word in words)]


def row(entry: SessionEntry, *, with_directory: bool = False) -> str:
    """Return one session as a line, without its number."""
    parts = [entry.id, when(entry.used), f"{turns(entry.turns):>9}"]
    if with_directory:
        parts.append(one_line(entry.cwd))
    return "  ".join([*parts, title(entry)])


def title(entry: SessionEntry) -> str:
    """Return the title of a session, with "(open)" or "(copy of …)"."""
    special = " (open)" if entry.open else ""
    special += f" (copy of {one_line(entry.forked_from)})" if entry.forked_from else ""
    return (one_line(entry.title) or "(no title)") + special


def when(moment: float) -> str:
    """Format a time in seconds since the epoch as local date and time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def pick(
    entries: Sequence[SessionEntry],
    ask: Callable[[str], str],
    say: Callable[[str], object],
    *,
    all_directories: bool,
) -> SessionEntry | None:
    """Return the entry that the user chooses by number, after searching by words; None if they leave.

    `ask` returns the line typed after a prompt, and raises `EOFError` at the end; `say` writes a line.
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


def _searched(entry: SessionEntry) -> str:
    return f"{entry.title} {entry.cwd} {entry.id} {when(entry.used)}".lower()
