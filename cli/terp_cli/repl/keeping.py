"""The session that a call resumes or creates, its folder, and the quota of all sessions."""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from terp.errors import TerpError
from terp.events import Noticed
from terp.opening.session import build_session
from terp.opening.supplied import Supplied
from terp.person import Person
from terp.session.session import Session
from terp.settings import Settings
from terp.store.catalogue import Catalogue
from terp.store.folders import is_due, new_folder
from terp.store.places import Place, new_place, stored_place
from terp.text.dataclasses import dataclass
from terp.text.files import make_private
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.oneshot import First

if TYPE_CHECKING:
    from terp_cli.repl.resuming import Resuming


@dataclass(frozen=True, slots=True)
class SessionOpener:
    """Opens the sessions of an invocation, with these settings, in this working directory."""

    call: Invocation
    settings: Settings
    person: Person
    cwd: Path
    supplied: Supplied | None = None

    async def open(self, place: Place) -> Session:
        """Open the session in the folder of `place`, new or resumed.

        Raises:
            TerpError: the session cannot be opened with these settings.
        """
        return await build_session(
            self.settings,
            self.person,
            place=place,
            project=self.call.project_around(self.cwd),
            environ=self.call.environ,
            api_key=self.call.options.api_key,
            supplied=self.supplied,
        )


def resumed_by(call: Invocation, settings: Settings) -> "Resuming | None":
    """Return the stored session that this call resumes; None for a new one."""
    if not call.resumes:
        return None
    from terp_cli.repl.resuming import chosen  # noqa: PLC0415  (most sessions are new)

    return chosen(call, settings)


def person_beside(call: Invocation, settings: Settings) -> Person | None:
    """Return a person who can be asked while the turn is written elsewhere; None without a terminal."""
    descriptor = call.terminal_beside(unasked=settings.auto_run)
    if descriptor is None:
        return None
    from terp_cli.repl.terminal_ui import person_at  # noqa: PLC0415  (a pipe needs no terminal)

    return person_at(descriptor, call, settings)


def place_of(call: Invocation, resumed: "Resuming | None") -> Place:
    """Return the folder for the session's files; the session is not stored if it is a temporary one."""
    secrets = call.secrets
    if resumed:
        return stored_place(resumed.folder, secrets)
    folder = folder_of(call)
    return (
        new_place(folder, str(call.cwd), secrets)
        if folder.parent == call.places.sessions
        else Place(folder, secrets=secrets)
    )


def what_first(call: Invocation, settings: Settings, place: Place, *, asked: bool) -> First:
    """Return the step before the prompt: rerun all code, or continue with code that waits for an answer."""
    if call.options.rerun:
        return "rerun"
    stored = place.keeper.stored if place.keeper else None
    # With auto_run nobody would be asked, and this code is never to run unasked.
    if stored is None or asked or settings.auto_run:
        return ""
    waits = any(not (left.started or left.finished) for left in stored.left_over)
    return "go_on" if waits else ""


def prune_soon(call: Invocation, settings: Settings, session: Session) -> None:
    """Remove the oldest sessions if all take too much space; once a day, in a thread."""
    quota = settings.session_quota_mb
    if not quota or not is_due(call.places.sessions):
        return

    def pruned() -> int:
        return len(Catalogue(call.places.sessions, call.places.work).prune(quota * 1_000_000).removed)

    def report(future: asyncio.Future[int]) -> None:
        if not future.cancelled() and (number := future.result()):
            old = "An old session was" if number == 1 else f"{number} old sessions were"
            session.log.append(
                Noticed(f"{old} removed: together they took more than {quota} MB (session_quota_mb).")
            )

    asyncio.get_running_loop().run_in_executor(None, pruned).add_done_callback(report)


def folder_of(call: Invocation) -> Path:
    """Return the folder of a new session; only its owner can read its parents."""
    folder = new_folder(call.places.sessions)
    try:
        make_private(folder.parent)
    except OSError as error:
        why = f"{folder.parent} cannot be made ({error.strerror})"
        elsewhere = _elsewhere(why)
        call.note(f"{why}; pictures and outputs are in {elsewhere}.")
        return elsewhere
    return folder


def _elsewhere(why: str) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="terp-"))
    except OSError as error:
        raise TerpError(
            f"{why}, and no temporary one either.",
            "Make room, or set TMPDIR to a folder that can be written.",
        ) from error


# Each has a `preload`, for the libraries that its first request needs.
_ADAPTERS = ("terp.models.adapters.openai_compatible", "terp.models.adapters.litellm_adapter")


async def prefetch_adapters() -> None:
    """Begin to import the model's adapter, for which the first message would wait up to seconds."""
    # An adapter's module is imported with the first model that is reached through it, and by nothing else.
    used = [name for name in _ADAPTERS if name in sys.modules]
    # Not through asyncio, which would wait for the thread when the user leaves.
    threading.Thread(target=_preload, args=(used,), name="preload", daemon=True).start()


def _preload(adapters: Sequence[str]) -> None:
    for name in adapters:
        # The first message meets and reports a failure.
        with suppress(Exception):
            import_module(name).preload()
