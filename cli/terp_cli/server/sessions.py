"""The sessions of a server: those that are open here, and those that are stored."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from terp.session.rewind.rewind import ChangedFile, Restored
from terp.store.catalogue import Catalogue, SessionEntry
from terp.store.folders import SESSION_ID
from terp.store.reading import read_header
from terp_cli.server.connections import ServerLimits
from terp_cli.server.failures import RequestRefused
from terp_cli.server.opening import OpenedSession, Opener, SessionRequest
from terp_cli.server.person import OpenQuestions, RemotePerson, Subscribers
from terp_cli.server.transcript import Transcript
from terp_cli.server.tree import Tree
from terp_cli.server.turns import Asking, ServedTurn, Turns
from terp_cli.server.workspaces import Workspaces

if TYPE_CHECKING:
    from terp.secrets.redactor import Redactor

PersonOf = Callable[[Subscribers], RemotePerson]
"""Function that makes the person behind a session, who learns of the clients that are there."""
_PAGE = 4_096


# Time for an interrupted turn to end before its kernel is closed.
_GRACE_S = 0.5
# An interrupt returns after 2 s when code does not answer it; so much later the kernel of that code is ended.
_PATIENCE_S = 3.0


class Served:
    """An open session with its turns, questions and files. `cwd` is its working directory.

    Its `settings` and `profile` can be changed between turns; `changes` counts such changes and new titles.
    With `unasked` code runs without approval.
    """

    def __init__(
        self,
        opened: OpenedSession,
        person: RemotePerson,
        *,
        files: Tree,
        limits: ServerLimits,
    ) -> None:
        session = opened.session
        self.settings = opened.settings
        self.profile = opened.profile
        self.unasked = opened.unasked
        self.id = session.folder.name
        self.session = session
        self.person = person
        self.subscribers = person.subscribers
        self.cwd = opened.cwd
        self.files = files
        self.transcript = Transcript(session.log, session.resources.redactor)
        self.questions = OpenQuestions(session)
        self.turns = Turns(session, limits.queue, self._turned)
        self.closed = False
        self.changes = 0
        # Who follows the log sees what is asked, too.
        person.changed = session.log.wake
        self.used = asyncio.get_running_loop().time()
        self.limits = limits
        self._rest: asyncio.TimerHandle | None = None
        self._resting: set[asyncio.Task[None]] = set()

    @property
    def redactor(self) -> "Redactor":
        """The redactor of the session's secrets."""
        return self.session.resources.redactor()

    @property
    def is_idle(self) -> bool:
        """Return True if no turn is running and no client follows."""
        return not (self.turns.busy or self.subscribers.following)

    @contextmanager
    def follows(self) -> Iterator[None]:
        """Count a client as a subscriber during the block.

        Raises:
            RequestRefused: the limit of subscribers is reached.
        """
        if self.subscribers.following >= self.limits.watchers:
            raise RequestRefused(429, f"{self.limits.watchers} clients follow this session already.")
        with self.subscribers.follows():
            yield

    def heard(self) -> None:
        """Note a client's call about this session."""
        self.used = asyncio.get_running_loop().time()
        self.subscribers.heard()

    def ask(self, asking: Asking) -> ServedTurn:
        """Queue a turn.

        Raises:
            RequestRefused: too many turns wait.
        """
        self._wake()
        return self.turns.ask(asking)

    def check_idle(self, then: str) -> None:
        """Raise while a turn is running; `then` is what can be done when it is over.

        Raises:
            RequestRefused: a turn is running.
        """
        if self.turns.busy:
            raise RequestRefused(409, "A turn is running.", f"{then} when it is over.", code="busy")

    async def changed_files(self, turns: int) -> Sequence[ChangedFile]:
        """Return the files that can be restored when the last `turns` turns are undone.

        Raises:
            RequestRefused, TerpError: as `rewind`.
        """
        files = await self.session.rewind.changed_files(self._turn_before(turns))
        return [one for one in files if one.restorable]

    async def rewind(self, turns: int, files: Sequence[str]) -> Restored:
        """Undo the last `turns` turns, with the changes of their code to variables and to these files.

        Raises:
            RequestRefused, TerpError: there are not so many turns, one is running, or a job has the kernel.
        """
        return await self.session.rewind.restore(self._turn_before(turns), files)

    def _turn_before(self, turns: int) -> int:
        self.check_idle("Rewind")
        past = self.session.turns
        if turns > len(past):
            raise RequestRefused(409, f"The conversation has only {len(past)} turns.", code="no_turn")
        return past[-turns].number

    async def stop(self) -> int:
        """Interrupt the running turn and drop the waiting ones; return the number of dropped turns."""
        dropped = self.turns.drop_waiting()
        await self.session.interrupt()
        return dropped

    async def end_turn(self) -> None:
        """Interrupt the turn for a client that cannot do so a second time; return when it is over.

        Code that has not answered for 5 s is ended with its kernel, as in a one-shot.
        """
        turn = self.turns.current
        await self.session.interrupt()
        if turn is not None:
            await asyncio.wait({turn.ended}, timeout=_PATIENCE_S)
            if not turn.ended.done():
                await self.session.interrupt()
                await turn.ending()

    async def aclose(self) -> None:
        """End the turn, the kernels and the session, and release its subscribers."""
        self._wake()
        self.turns.drop_waiting()
        stopping = asyncio.ensure_future(self.session.interrupt())
        await asyncio.wait({stopping}, timeout=_GRACE_S)
        # Code that resists an interrupt ends with its kernel.
        await self.session.kernels.aclose()
        await asyncio.wait({stopping})
        await self.session.aclose()
        await self.turns.over()
        self.closed = True
        self.session.log.wake()

    def _turned(self) -> None:
        self._wake()
        self.used = asyncio.get_running_loop().time()
        if self.limits.idle_s and not self.turns.busy:
            self._rest = asyncio.get_running_loop().call_later(self.limits.idle_s, self._begin_rest)

    def _wake(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _begin_rest(self) -> None:
        task = asyncio.create_task(self._let_rest())
        self._resting.add(task)
        task.add_done_callback(self._resting.discard)

    async def _let_rest(self) -> None:
        ended, rest = await self.session.kernels.rest(), f"{self.limits.idle_s:g} s"
        if ended:
            which = " and ".join(ended)
            self.session.dialog.notify(
                f"The {which} kernel did nothing for {rest} and was closed: its variables are gone.",
                "The next code starts a new one.",
            )


class Sessions:
    """The sessions of a server. A stored session must be resumed before it can be used."""

    def __init__(self, opener: Opener, workspaces: Workspaces, limits: ServerLimits) -> None:
        self.limits = limits
        self.workspaces = workspaces
        self.opened = 0
        self.opener = opener
        self._catalogue = Catalogue(workspaces.places.sessions)
        self._open: dict[str, Served] = {}
        self._coming: dict[str, asyncio.Task[Served]] = {}
        self._making = 0
        self._closing = False

    @property
    def open(self) -> Sequence[Served]:
        """The open sessions."""
        return list(self._open.values())

    def get(self, session: str) -> Served:
        """Return the open session with this id, and note the call of its client.

        Raises:
            RequestRefused: there is no such session, or it is stored and not open.
        """
        served = self._open.get(session)
        if served is not None:
            served.heard()
            return served
        if self._is_stored(session):
            raise RequestRefused(
                409,
                f"The session {session} is not open.",
                f"POST /v1/sessions/{session}/resume opens it.",
                code="not_open",
            )
        raise _unknown(session)

    async def new(self, wishes: SessionRequest, person_of: PersonOf = RemotePerson) -> Served:
        """Open a new session.

        Raises:
            RequestRefused, TerpError: the limit is reached, or the request cannot be fulfilled.
        """
        return await self._make(lambda person: self.opener.new(wishes, person), person_of)

    async def add(self, opened: OpenedSession, person: RemotePerson) -> Served:
        """Serve a session that is open already.

        Raises:
            RequestRefused: the limit is reached.
        """
        await self._make_room()
        return self._added(opened, person)

    async def resume(
        self, session: str, wishes: SessionRequest, person_of: PersonOf = RemotePerson
    ) -> Served:
        """Return the session with this id; open it if it is not open.

        Raises:
            RequestRefused, TerpError: it does not exist, the limit is reached, or it is open elsewhere.
        """
        if session in self._open:
            return self.get(session)
        if not self._is_stored(session):
            raise _unknown(session)
        if session not in self._coming:
            task = asyncio.create_task(
                self._make(lambda person: self.opener.stored(session, wishes, person), person_of)
            )
            self._coming[session] = task
            task.add_done_callback(lambda _: self._coming.pop(session, None))
        # Two clients that ask at once share what one of them began, also when that one leaves.
        return await asyncio.shield(self._coming[session])

    async def listed(self) -> list[tuple[SessionEntry, Served | None]]:
        """Return all sessions visible to clients, newest first; each with its open session or None."""
        stored = await asyncio.to_thread(self._catalogue.listed)
        return [(entry, self._open.get(entry.id)) for entry in stored if self.workspaces.has(entry.cwd)]

    async def change(self, session: str, wishes: SessionRequest, title: str) -> Served:
        """Rename a session, or use another model or profile in it: its kernels keep their variables.

        Raises:
            RequestRefused, TerpError: it is not open, a turn is running, or the request cannot be fulfilled.
        """
        served = self.get(session)
        if wishes.model or wishes.profile:
            served.check_idle("Change it")
            served.settings = await self.opener.change(served.session, served.settings, wishes)
            served.profile = wishes.profile or served.profile
        if title:
            title = served.redactor.redacted(title)
            await asyncio.to_thread(self._catalogue.rename, served.session.folder, title)
        served.changes += 1
        served.session.log.wake()
        return served

    async def fork(self, session: str, title: str = "") -> str:
        """Copy the present conversation and its files to a new session, with this title; return its id.

        Raises:
            RequestRefused, SessionError: a turn is running, or there is nothing to copy yet.
        """
        served = self.get(session)
        served.check_idle("Fork")
        copied = served.session.rewind.fork()
        await asyncio.to_thread(self.workspaces.copy, session, copied)
        if title:
            folder = self.workspaces.places.sessions / copied
            await asyncio.to_thread(self._catalogue.rename, folder, served.redactor.redacted(title))
        return copied

    async def delete(self, session: str) -> None:
        """Close a session and remove it, with the files of its own directory.

        Raises:
            RequestRefused, SessionError: there is none, or another process has it open.
        """
        served = self._open.pop(session, None)
        if served is not None:
            await served.aclose()
        elif not self._is_stored(session):
            raise _unknown(session)
        folder = self.workspaces.places.sessions / session
        if folder.is_dir():
            await asyncio.to_thread(self._catalogue.remove, folder)
        await asyncio.to_thread(self.workspaces.remove, session)

    async def close(self, session: str) -> None:
        """Close a session; the conversation stays stored.

        Raises:
            RequestRefused: the session is not open.
        """
        self.get(session)
        await self._open.pop(session).aclose()

    async def aclose(self) -> None:
        """Save and close all sessions, in limited time: a kernel that takes longer ends with this process."""
        self._closing = True
        closing = [asyncio.ensure_future(served.aclose()) for served in self._open.values()]
        self._open.clear()
        if closing:
            await asyncio.wait(closing, timeout=self.limits.closing_s)

    async def _make(
        self, opening: Callable[[RemotePerson], Awaitable[OpenedSession]], person_of: PersonOf
    ) -> Served:
        await self._make_room()
        self._making += 1
        try:
            person = person_of(Subscribers(self.limits.patience_s))
            opened = await opening(person)
        finally:
            self._making -= 1
        if self._closing:
            await opened.session.aclose()
            raise _ending()
        return self._added(opened, person)

    def _added(self, opened: OpenedSession, person: RemotePerson) -> Served:
        files = Tree(opened.cwd, self.workspaces.own)
        served = Served(opened, person, files=files, limits=self.limits)
        self._open[served.id] = served
        self.opened += 1
        return served

    async def _make_room(self) -> None:
        """Close the session that was idle for longest, if the limit of open sessions is reached.

        Raises:
            RequestRefused: no session is idle, or memory is short.
        """
        if self._closing:
            raise _ending()
        crowded = len(self._open) + self._making >= self.limits.sessions
        full = self.limits.memory and memory_of_this_process() > self.limits.memory
        if not (crowded or full):
            return
        idle = sorted((served for served in self._open.values() if served.is_idle), key=lambda one: one.used)
        if not idle or full:
            raise RequestRefused(
                429, "The server takes no more sessions now.", "Close one, or ask again later.", code="full"
            )
        # Meanwhile nobody else takes its place.
        self._making += 1
        try:
            await self._open.pop(idle[0].id).aclose()
        finally:
            self._making -= 1

    def _is_stored(self, session: str) -> bool:
        if not SESSION_ID.fullmatch(session):
            return False
        found = read_header(self.workspaces.places.sessions / session)
        return found is not None and self.workspaces.has(found.cwd)


def memory_of_this_process() -> int:
    """Return the memory of this process in bytes; 0 if unknown."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def _unknown(session: str) -> RequestRefused:
    return RequestRefused(404, f"There is no session {session[:40]!r}.")


def _ending() -> RequestRefused:
    return RequestRefused(429, "The server is shutting down.", code="ending")
