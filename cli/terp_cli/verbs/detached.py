"""Sessions that outlive their terminal: `terp --detach`, `terp attach` and `terp ps`."""

import asyncio
import sys
import time
from pathlib import Path

from terp.errors import SettingsError, TerpError
from terp.settings.profile_file import short_path
from terp.store.titles import read_title
from terp.text.files import make_private
from terp.text.plain import without_escapes
from terp_cli.fronts.detached import DetachedSession, detached_folder, detached_sessions, session_at
from terp_cli.fronts.invocation import STDIN, Invocation
from terp_cli.fronts.json import write_json
from terp_cli.line.subcommands import LAST
from terp_cli.repl.commands.rows import aligned
from terp_cli.repl.resuming import age
from terp_cli.terminal import tty
from terp_cli.terminal.detached import ENDED, SUFFIX, end, show, start_host
from terp_cli.terminal.sanitise import one_line

_OPENS_S = 15.0
_ASKED_S = 0.05
_FACTS = ("state", "cwd", "windows")


def detach(call: Invocation) -> int:
    """Start the session of this call in a detached terminal (`--detach`); return the exit code.

    Without a prompt this terminal shows the session at once, and can leave it.
    """
    if call.source == "data":
        raise SettingsError(["--detach cannot read stdin; attach a file with -f."])
    if call.options.output_format != "text" or call.options.emit or call.line.command:
        raise SettingsError(["--detach is for conversations, which terp attach shows on a terminal."])
    # Mistakes in settings are reported in this terminal.
    call.settings()
    path = make_private(detached_folder(call.places)) / f"{time.time_ns():x}{SUFFIX}"
    # `-P`: no file of the working directory replaces a module.
    command = [sys.executable, "-P", "-m", "terp_cli", *sys.argv[1:]]
    if problem := start_host(path, command, tty.size_of(call.out), call.environ, Path.cwd()):
        raise TerpError(f"The session cannot be detached: {problem}.")
    if call.talks and not (call.line.words or call.options.file):
        return _show(call, path)
    opened = _opened(path)
    call.out.write(f"{opened}\n")
    call.out.flush()
    call.note("terp attach last shows this session; terp ps lists the detached ones.")
    return 0


def _opened(path: Path) -> str:
    """Return the id of a session once it is open; `last` if it waits for an answer, as about trust."""
    until = time.monotonic() + _OPENS_S
    while time.monotonic() < until:
        note = path.with_suffix(ENDED)
        found = session_at(note if note.exists() else path)
        if found is None or found.has_ended:
            note.unlink(missing_ok=True)
            last = without_escapes(found.last).strip().splitlines() if found else []
            raise TerpError(last[-1].removeprefix("terp: ") if last else "The session ended at once.")
        if found.session:
            return found.session
        # There is no event for a state that another process reports.
        time.sleep(_ASKED_S)
    return LAST


def attach(call: Invocation) -> int:
    """Show a detached session on this terminal, or list what can be attached; return the exit code."""
    if not call.line.argument:
        return _list_attachable(call)
    if not call.talks:
        raise SettingsError(["terp attach shows a session on a terminal, and there is none."])
    return _show(call, _named(call, call.line.argument).path)


def _show(call: Invocation, path: Path) -> int:
    call.typed_ahead.hand_over()
    try:
        asyncio.run(show(path, STDIN, call.out.fileno()))
    except OSError as error:
        raise TerpError("The session has ended.") from error
    if not path.exists():
        return 0
    found = session_at(path)
    if found is None or found.has_ended:
        if found:
            found.forget()
        raise TerpError("The session was killed.", _continues(f"-r {found.session}" if found else "-c"))
    taken, left = "Another window shows the session now.", "terp attach last shows it again."
    call.note(taken if found.windows else f"The session continues: {left}")
    return 0


def _named(call: Invocation, name: str) -> DetachedSession:
    """Return the detached session that is running and has this id, or the newest.

    Raises:
        TerpError: there is none, or more than one.
    """
    sessions = detached_sessions(call.places)
    running = [one for one in sessions if not one.has_ended]
    named = [one for one in sessions if one.session.startswith(name)]
    found = running[:1] if name == LAST else [one for one in named if not one.has_ended]
    if len(found) == 1:
        return found[0]
    if named and not found:
        raise TerpError(f"The session {named[0].session} has ended.", _continues(f"-r {named[0].session}"))
    if not running:
        raise TerpError("There is no detached session.", "terp --detach starts one.")
    why = "No detached session" if not found else "More than one detached session"
    raise TerpError(f"{why} has an id that begins with '{one_line(name)}'.", "terp ps lists them.")


def _list_attachable(call: Invocation) -> int:
    from terp.kernels.attached.finding import running_kernels  # noqa: PLC0415  (for this list only)

    sessions = [one for one in detached_sessions(call.places) if not one.has_ended]
    kernels = asyncio.run(running_kernels(call.environ))
    rows = [(f"terp attach {one.session or LAST}", _about(call, one)) for one in sessions]
    rows += [(f"terp attach {kernel.name}", f"the kernel of {kernel.title}") for kernel in kernels]
    call.out.writelines(aligned(rows))
    if not rows:
        call.note(
            "there is no detached session (terp --detach starts one), and no kernel of Jupyter or VS Code."
        )
    return 0


def ps(call: Invocation) -> int:
    """List the detached sessions, or end some; return the exit code."""
    return _stop(call) if call.line.argument == "stop" else _list(call)


def _list(call: Invocation) -> int:
    found = detached_sessions(call.places)
    if call.options.output_format == "json":
        facts = [
            {
                "id": one.session,
                "title": _title(call, one),
                "since": one.since or None,
                **{key: getattr(one, key) for key in _FACTS},
            }
            for one in found
        ]
        write_json(call.out, {"detached": facts})
        return 0
    for one in found:
        hint = f" · terp -r {one.session}" if one.has_ended and one.session else ""
        call.out.write(f"{one.session or '(starting)'}  {one_line(_about(call, one))}{hint}\n")
        if one.has_ended:
            # The user has seen it now.
            one.forget()
    if not found:
        call.note("there are no detached sessions; terp --detach starts one.")
    return 0


def _stop(call: Invocation) -> int:
    for name in call.line.arguments:
        chosen = _named(call, name)
        end(chosen.path)
        chosen.path.with_suffix(ENDED).unlink(missing_ok=True)
        text = f"{chosen.session}; {_continues(f'-r {chosen.session}')}"
        call.out.write(f"Ended {text if chosen.session else 'a session that had not started.'}\n")
    return 0


def _continues(which: str) -> str:
    return f"terp {which} continues its conversation."


def _about(call: Invocation, one: DetachedSession) -> str:
    lasts = age(one.since, time.time()).removesuffix(" ago") if one.since else ""
    where = "" if Path(one.cwd) == Path.cwd() else short_path(Path(one.cwd))
    title = _title(call, one)
    parts = [one.state, lasts, "" if title in one.state else title, where]
    return " · ".join([*filter(None, parts), *(["shown in a window"] if one.windows else [])])


def _title(call: Invocation, one: DetachedSession) -> str:
    return (one.session and read_title(call.places.sessions / one.session)) or one.prompt
