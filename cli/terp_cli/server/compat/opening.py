"""The session behind the conversation, opened on demand, and the client that approves its code with `go`."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.person import Choice, Consent, Decline, Run
from terp_cli.server.compat.accumulating import Frame
from terp_cli.server.compat.client_settings import ClientSettings
from terp_cli.server.compat.frames import LogFollower
from terp_cli.server.failures import RequestRefused
from terp_cli.server.opening import OF_CLIENTS, SessionRequest
from terp_cli.server.person import RemotePerson, Subscribers
from terp_cli.server.sessions import Served, Sessions


class WirePerson(RemotePerson):
    """The person of the shared session: approves all code while `unasked()` is true, else code with a `go`.

    Other code waits while a client is connected: `waits` is called at the start, `left` once no client is
    connected. The protocol has no other questions, so they are answered with no.
    """

    def __init__(
        self,
        subscribers: Subscribers,
        unasked: Callable[[], bool],
        waits: Callable[[], None],
        left: Callable[[], None],
    ) -> None:
        super().__init__(subscribers)
        self.proposed: CodeProposed | None = None
        self._expected = ""
        self._unasked = unasked
        self._waits = waits
        self._left = left

    def expect(self, code: str) -> None:
        """Approve this code if it is proposed next: a client has sent `go` for it; "" approves none."""
        self._expected = code

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return `Run` for expected code, or if code runs without approval; else wait for a client."""
        if proposed.code and self._expected == proposed.code:
            self._expected = ""
            return Run(proposed.code, by="client")
        if self._unasked() and not proposed.asks:
            return Run(proposed.code, by="auto_run")
        self.proposed = proposed
        try:
            self._waits()
            declined = await super().approve(proposed)
        finally:
            self.proposed = None
        self._left()
        return declined

    async def allow(self, request: Consent) -> bool:
        """Return True if code could do the same, and code runs without approval."""
        return request.as_code and self._unasked()

    async def choose(self, choice: Choice) -> str:
        """Return the choice's answer for code that runs without approval, if any; else ""."""
        return choice.as_code if self._unasked() else ""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Raise at once: the protocol has no input.

        Raises:
            NobodyThere: always, so that the code continues at once instead of waiting forever.
        """
        raise NobodyThere("The code asked for input, which clients of this protocol cannot give.")


class SharedSession:
    """One session for all clients of the protocol, with the settings that are `wanted`.

    `show` receives its frames, `began` the prompt of each turn. All connected clients together count as one
    subscriber. Its working directory is `cwd`, below the server's directory, if that is set before it is
    opened; else a new one.
    """

    def __init__(
        self,
        sessions: Sessions,
        wanted: ClientSettings,
        show: Callable[[list[Frame]], None],
        began: Callable[[str], None],
    ) -> None:
        self.listening: LogFollower | None = None
        self.person: WirePerson | None = None
        self.asks = False
        """True while code waits for a `go` whatever the settings are."""
        self._show = show
        self._began = began
        self._sessions = sessions
        self._wanted = wanted
        self.cwd = ""
        self._started = self._applied = wanted.settings
        self._id = ""
        self._connected = 0
        self._following: AbstractContextManager[None] | None = None
        self._opening = asyncio.Lock()

    @property
    def served(self) -> Served | None:
        """The session, while it is open."""
        served = self.listening.served if self.listening else None
        return None if served is None or served.closed else served

    @property
    def unasked(self) -> bool:
        """Return True if code runs without a `go`."""
        return self._wanted.settings.auto_run and not self.asks

    async def opened(self) -> LogFollower:
        """Return the session; open it first if it is not open.

        Raises:
            RequestRefused, TerpError: it cannot be opened.
        """
        async with self._opening:
            if self.served is None:
                self._listen(await self._open())
        assert self.listening is not None
        self.listening.served.heard()
        return self.listening

    async def system_message(self) -> str:
        """Return the system prompt without the client's instructions; a client may send it back extended.

        Raises:
            RequestRefused, TerpError: the session cannot be opened.
        """
        wanted = self._wanted.settings
        if wanted.system_message:
            return wanted.system_message
        session = (await self.opened()).served.session
        system_prompt = session.resources.system_prompt
        if system_prompt is None:
            return getattr(session.request[0][0], "text", "")
        return await asyncio.to_thread(system_prompt.text, replace(wanted, instructions=""))

    async def adapt(self, listening: LogFollower) -> None:
        """Apply changed settings to the open session.

        Raises:
            TerpError: a setting cannot be applied.
        """
        before, after = self._applied, self._wanted.settings
        if before != after:
            await self._sessions.opener.adapt(listening.served.session, before, after)
            self._applied = after

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Count a client as connected during the block."""
        self._connected += 1
        self._follow()
        try:
            yield
        finally:
            self._connected -= 1
            if not self._connected:
                self._leave()

    async def _open(self) -> Served:
        now, started = self._wanted.settings, self._started
        pairs = ((name, getattr(now, name), getattr(started, name)) for name in OF_CLIENTS)
        differing = {name: value for name, value, before in pairs if value != before}
        model = now.model if now.model != started.model else ""
        wishes = SessionRequest(model=model, cwd=self.cwd, settings=differing, asked=True)
        self._applied = now
        if self._id:
            try:
                served = await self._sessions.resume(self._id, wishes, self._person)
            except RequestRefused as refused:
                if refused.status != 404:
                    raise
            else:
                # Somebody else may have opened it before, and then answers for its code.
                if served.person is self.person:
                    return served
        return await self._sessions.new(wishes, self._person)

    def _person(self, subscribers: Subscribers) -> WirePerson:
        self.person = WirePerson(subscribers, lambda: self.unasked, self._pause, self._hush)
        return self.person

    def _listen(self, served: Served) -> None:
        if self.listening is not None:
            self.listening.stop()
        self._id = served.id
        confinement = served.session.resources.confinement
        if confinement is not None:
            # As it was said when the server started.
            confinement.shown = confinement.what
            confinement.unasked = lambda: self.unasked
        self.listening = LogFollower(served, self._show, self._began)
        self._leave()
        self._follow()

    def _follow(self) -> None:
        served = self.served
        if self._connected and served is not None and self._following is None:
            self._following = served.subscribers.follows()
            self._following.__enter__()

    def _leave(self) -> None:
        following, self._following = self._following, None
        if following is not None:
            following.__exit__(None, None, None)

    def _pause(self) -> None:
        assert self.listening is not None
        self.listening.pause()

    def _hush(self) -> None:
        # Who comes again must not take this for the end of what they ask then.
        assert self.listening is not None
        self.listening.frames.hushed = True
