"""The user's detached sessions on this machine, with the state of each."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from terp.settings.places import Places
from terp.text.dataclasses import dataclass
from terp_cli.terminal.detached import ENDED, OPENED, SUFFIX, state_of

_KILLED = "killed"


@dataclass(frozen=True, slots=True)
class DetachedSession:
    """A detached session.

    `path` is the socket of its host, also of one that was killed, or the note on its end. `session` is ""
    until it is open. `since` is the time of its `state`, in seconds since the epoch; 0 if unknown. `prompt`
    is the beginning of its last one, `last` the end of its output when it ended.
    """

    path: Path
    session: str
    state: str
    since: float = 0.0
    cwd: str = ""
    prompt: str = ""
    windows: int = 0
    last: str = ""

    @property
    def has_ended(self) -> bool:
        """True if it ended, or its host was killed."""
        return self.path.suffix == ENDED or self.state == _KILLED

    def forget(self) -> None:
        """Remove the files that are left of a session that has ended."""
        for path in (self.path, self.path.with_suffix(OPENED)):
            path.unlink(missing_ok=True)


def detached_folder(places: Places) -> Path:
    """Return the folder with a socket for each detached session."""
    return places.state / "detached"


def detached_sessions(places: Places) -> Sequence[DetachedSession]:
    """Return the detached sessions, the newest first, also those that ended unseen."""
    try:
        paths = sorted(detached_folder(places).iterdir(), reverse=True)
    except FileNotFoundError:
        return ()
    found = [session_at(path) for path in paths if path.suffix in (SUFFIX, ENDED)]
    return [one for one in found if one is not None]


def session_at(path: Path, *, again: bool = True) -> DetachedSession | None:
    """Return the session of a socket or of a note; None if there is none any more.

    With `again`, a connection that breaks off is tried once more.
    """
    try:
        facts: dict[str, Any] = (
            json.loads(path.read_text("utf-8")) if path.suffix == ENDED else state_of(path)
        )
    except ConnectionRefusedError:
        return _killed(path)
    except (ConnectionResetError, BrokenPipeError):
        # The host ends at this moment, in one way or the other.
        return session_at(path, again=False) if again else None
    except (OSError, ValueError):
        return None
    # The host may be of another version of terp.
    given = {name: facts[name] for name in ("since", "cwd", "prompt", "windows", "last") if name in facts}
    return DetachedSession(path, facts.get("session", ""), facts.get("state", ""), **given)


def _killed(path: Path) -> DetachedSession | None:
    """Return the session of a host that was killed, as when the machine restarts; None if it never opened."""
    try:
        facts = json.loads(path.with_suffix(OPENED).read_text("utf-8"))
    except (OSError, ValueError):
        facts = {}
    found = DetachedSession(
        path, facts.get("session", ""), _KILLED, cwd=facts.get("cwd", ""), prompt=facts.get("prompt", "")
    )
    if found.session:
        return found
    found.forget()
    return None


def unseen_sessions(places: Places) -> str:
    """Return a line on the detached sessions that wait for the user; "" for none."""
    found = detached_sessions(places)
    waiting = [one for one in found if not one.windows and (one.has_ended or one.state == "asks")]
    if not waiting:
        return ""
    alone = len(waiting) == 1
    does = "waits for you" if alone else "wait for you"
    if all(one.has_ended for one in waiting):
        does = "has ended" if alone else "have ended"
    who = "A detached session" if alone else f"{len(waiting)} detached sessions"
    return f"{who} {does}: terp ps"
