"""-c and -r: find or pick the session to resume, and report on it."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from terp.errors import SessionError, SettingsError
from terp.events import Noticed, SessionResumed
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.profile_file import short_path
from terp.store.catalogue import Catalogue, SessionEntry
from terp.store.folders import fork
from terp.store.journal import NAME
from terp.store.places import Place, real_directory, stored_place
from terp.store.reading import read, read_header
from terp.text.dataclasses import dataclass
from terp.text.plain import counted
from terp_cli.fronts.invocation import STDIN, Invocation
from terp_cli.prompt.interface import Pick
from terp_cli.render import sentences
from terp_cli.repl.first_prompt import prompt_on
from terp_cli.terminal import tty
from terp_cli.terminal.sanitise import one_line


@dataclass(frozen=True, slots=True)
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


def chosen(call: Invocation, settings: Settings) -> Resuming:
    """Return the session that -c or -r asks for.

    Raises:
        SessionError: there is no such session.
        SettingsError: there is no user to choose one, or the user chose none.
    """
    options, catalogue = call.options, Catalogue(call.places.sessions)
    if options.resume:
        folder = catalogue.find(options.resume, real_directory(call.cwd))
    elif options.resume is not None:
        folder = _picked(call, settings, catalogue)
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


def _picked(call: Invocation, settings: Settings, catalogue: Catalogue) -> Path:
    if call.source != "terminal":
        raise SettingsError([_without_id(call)])
    here = catalogue.listed(real_directory(call.cwd))
    entries = catalogue.listed() if call.options.all or not here else here
    if not entries:
        raise SettingsError(["there are no sessions to resume."])

    out = call.out if call.out.isatty() else call.notes
    with call.typed_ahead.lent():
        prompt = prompt_on(STDIN, tty.painter_on(out, call.terminal_environ), out, call, settings, None)()
        try:
            at = asyncio.run(prompt.pick("Resume which session?", picks_of(entries)))
        finally:
            prompt.close()
    if at is None:
        raise SettingsError(["no session was chosen."])
    return entries[at].folder


def _without_id(call: Invocation) -> str:
    """Return the reason why no session can be picked; the prompt may have been meant as the id."""
    if len(call.line.words) == 1 and not any(map(str.isspace, call.line.words[0])):
        return f"there is no session '{call.line.words[0]}'; `terp sessions` lists the ids."
    return "-r without an ID asks which session, on a terminal; `terp sessions` lists the ids."


def row(entry: SessionEntry, *, with_directory: bool = False) -> str:
    """Return one session as a line, without its number."""
    parts = [entry.id, when(entry.used), f"{counted(entry.turns, 'turn'):>9}"]
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


def age(moment: float, now: float) -> str:
    """Return the time since `moment` in its largest unit, as "3 h ago"; both are seconds since the epoch."""
    seconds = max(0.0, now - moment)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"


def picks_of(entries: Sequence[SessionEntry]) -> list[Pick]:
    """Return the sessions as rows to pick; the previews have the last prompts."""
    now = time.time()
    return [
        Pick(
            (title(entry), age(entry.used, now), counted(entry.turns, "turn"), short_path(Path(entry.cwd))),
            also=f"{entry.id} {when(entry.used)}",
            preview=partial(_preview, entry),
        )
        for entry in entries
    ]


_PREVIEWED = 6


def _preview(entry: SessionEntry) -> str:
    lines = [title(entry), f"{entry.id} · {when(entry.used)}", entry.model, ""]
    try:
        history = read(entry.folder).history
    except SessionError as error:
        return "\n".join([*lines, error.message])
    prompts = [turn.prompt.strip().partition("\n")[0] for turn in history.turns]
    return "\n".join([*lines, *(f"› {prompt}" for prompt in prompts[-_PREVIEWED:])])
