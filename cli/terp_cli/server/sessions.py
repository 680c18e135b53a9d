"""The sessions of a server: those that are open here, and those that are stored."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from terp.store.catalogue import Catalogue, Entry
from terp.store.reading import read_header
from terp_cli.server.failures import RequestRefused
from terp_cli.server.limits import ServerLimits
from terp_cli.server.opening import OpenedSession, Opener, SessionOffer
from terp_cli.server.person import RemotePerson, Subscribers
from terp_cli.server.served import Served
from terp_cli.server.session_request import SessionRequest
from terp_cli.server.tree import Tree
from terp_cli.server.workspaces import Workspaces

PersonOf = Callable[[Subscribers], RemotePerson]
"""Makes the person behind a session, who learns of who is there."""
_ID = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-f]{8}")
_PAGE = 4_096


class Sessions:
    """Opens, finds and closes sessions. One that is stored must be resumed before anything is asked of it."""

    def __init__(self, opener: Opener, workspaces: Workspaces, limits: ServerLimits) -> None:
        self.limits = limits
        self.workspaces = workspaces
        self.opened = 0
        self._opener = opener
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
        """The open session with this id; its clients are heard of.

        Raises:
            Refused: there is none, or it is stored and not open.
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
        """A new session.

        Raises:
            Refused, TerpError: there is no room, or a wish cannot be granted.
        """
        return await self._make(lambda person: self._opener.new(wishes, person), person_of)

    async def resume(
        self, session: str, wishes: SessionRequest, person_of: PersonOf = RemotePerson
    ) -> Served:
        """The session with this id, opened unless it is.

        Raises:
            Refused, TerpError: there is none, there is no room, or another process has it open.
        """
        if session in self._open:
            return self.get(session)
        if not self._is_stored(session):
            raise _unknown(session)
        if session not in self._coming:
            task = asyncio.create_task(
                self._make(lambda person: self._opener.stored(session, wishes, person), person_of)
            )
            self._coming[session] = task
            task.add_done_callback(lambda _: self._coming.pop(session, None))
        # Two clients that ask at once share what one of them began, also when that one leaves.
        return await asyncio.shield(self._coming[session])

    async def listed(self) -> list[tuple[Entry, Served | None]]:
        """Every session for clients to see, the one that was used last first; with it, if it is open."""
        stored = await asyncio.to_thread(self._catalogue.listed)
        return [(entry, self._open.get(entry.id)) for entry in stored if self.workspaces.has(entry.cwd)]

    async def offer(self) -> SessionOffer:
        """Return the models and profiles for clients."""
        return await asyncio.to_thread(self._opener.offer)

    async def fork(self, session: str) -> str:
        """Keep the conversation as it is now as another session, with its own copy of the files; its id.

        Raises:
            Refused, SessionError: a turn goes on, or there is nothing to copy yet.
        """
        served = self.get(session)
        if served.turns.busy:
            raise RequestRefused(409, "A turn goes on.", "Fork when it is over.", code="busy")
        copied = served.session.rewind.fork()
        await asyncio.to_thread(self.workspaces.copy, session, copied)
        return copied

    async def delete(self, session: str) -> None:
        """Close a session and remove it, with the files of its own directory.

        Raises:
            Refused, SessionError: there is none, or another process has it open.
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
        """Close a session; what was said stays stored.

        Raises:
            Refused: it is not open.
        """
        self.get(session)
        await self._open.pop(session).aclose()

    async def aclose(self) -> None:
        """Save and close all, in bounded time: a kernel that does not end by then ends with this process."""
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
            subscribers = Subscribers(self.limits.patience_s)
            person = person_of(subscribers)
            opened = await opening(person)
        finally:
            self._making -= 1
        if self._closing:
            await opened.session.aclose()
            raise _ending()
        served = Served(
            opened.session,
            person,
            subscribers,
            cwd=opened.cwd,
            files=Tree(opened.cwd, self.workspaces.own),
            limits=self.limits,
        )
        self._open[served.id] = served
        self.opened += 1
        return served

    async def _make_room(self) -> None:
        """Close the session that was idle for longest, if as many as may be are open.

        Raises:
            Refused: none is idle, or memory is short.
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
        await self._open.pop(idle[0].id).aclose()

    def _is_stored(self, session: str) -> bool:
        if not _ID.fullmatch(session):
            return False
        found = read_header(self.workspaces.places.sessions / session)
        return found is not None and self.workspaces.has(found.cwd)


def memory_of_this_process() -> int:
    """The bytes of memory that this process takes; 0 where that cannot be known."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def _unknown(session: str) -> RequestRefused:
    return RequestRefused(404, f"There is no session {session[:40]!r}.")


def _ending() -> RequestRefused:
    return RequestRefused(429, "The server is ending.", code="ending")
