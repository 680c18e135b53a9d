"""The lives of one kernel: start, restart and end of its processes."""

import asyncio
from collections.abc import Awaitable, Callable

from terp.errors import KernelKilled, KernelStartFailed
from terp.events import KernelState
from terp.kernels.jupyter.channels import Connector, Message
from terp.kernels.jupyter.files import RunFiles
from terp.kernels.jupyter.running import RunningKernel
from terp.kernels.sandbox.tier import is_confined

_LOST = "Its variables are lost; the next run starts a new kernel."
_LOOKED_FOR = "The next run looks for it again."


class Lives:
    """Starts a kernel when it is first used, and again when it has ended.

    `connector` returns the connection to a new kernel, `next_tier` the sandbox that it would get now.
    `changed` is called with each state and the reason. Messages that answer no request of this program go to
    `unclaimed`; `settled` returns when the output of the last run is complete.
    """

    def __init__(
        self,
        cwd: str,
        connector: Callable[[], Connector],
        next_tier: Callable[[], str],
        changed: Callable[[KernelState, str], None],
        files: RunFiles,
        unclaimed: Callable[[str, str, Message], None],
        settled: Callable[[], Awaitable[None]],
    ) -> None:
        self.generation = 0
        self.running: RunningKernel | None = None
        self._cwd = cwd
        self._connector = connector
        self._next_tier = next_tier
        self._changed = changed
        self._files = files
        self._unclaimed = unclaimed
        self._settled = settled
        self._coming: RunningKernel | None = None
        self._starting: asyncio.Task[RunningKernel] | None = None
        self._mourning: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def cwd(self) -> str:
        """The working directory of the current life, else of the next one."""
        return self.running.cwd if self.running is not None else self._cwd

    @property
    def tier(self) -> str:
        """The sandbox of the next run."""
        life = self.running or self._coming
        return self._next_tier() if life is None or self._is_outdated(life) else life.tier

    @property
    def first_cwd(self) -> str:
        """The working directory at the first start, "" while it is not known."""
        return self._cwd

    async def up(self) -> RunningKernel:
        """Return the current life; start one if there is none, or if the next one has a stricter sandbox.

        Raises:
            KernelStartFailed: it did not start.
        """
        running = await self._any()
        if self._is_outdated(running):
            if self.running is running:
                self.running = None
                await _ended(running)
            running = await self._any()
        return running

    async def replace(self) -> None:
        """End the current life, even while it starts, and start another.

        Raises:
            KernelStartFailed: it did not start.
        """
        if self._starting is not None and not self._starting.done():
            # Who waits for it gets it, and loses it; a start that is cut off would fail them.
            await asyncio.wait({self._starting})
        running, self.running = self.running, None
        if running is not None:
            self.generation += 1
            await _ended(running)
        await self._any()

    async def retire(self, running: RunningKernel) -> None:
        """End a life after its code called `exit` or `quit`."""
        if self.running is running:
            self._lose("died", f"The code ended the session. {self.afterwards(running)}")
        await running.kill()

    def lose_state(self) -> None:
        """Note that the variables are lost although the kernel lives."""
        self.generation += 1
        self._changed("restarted", "")

    def obituary(self, running: RunningKernel) -> str:
        """Describe the end of a life and its consequence."""
        # When all is being ended there is no next run.
        return running.obituary("" if self._closed else self.afterwards(running))

    def afterwards(self, running: RunningKernel) -> str:
        """Describe the consequence of the end of a life."""
        return _LOOKED_FOR if running.is_shared or running.may_live else _LOST

    async def aclose(self) -> None:
        """End the current life; no other is started. Harmless when repeated."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait({self._starting})
        running, self.running = self.running, None
        if running is not None:
            await running.close()
            self._changed("left" if running.is_shared else "stopped", "")
        for task in tuple(self._mourning):
            await asyncio.wait({task})

    def _is_outdated(self, life: RunningKernel) -> bool:
        """Return True if no code has run in it yet and a start now would get another sandbox."""
        if life.used or life.is_shared:
            return False
        return life.tier != (tier := self._next_tier()) and is_confined(tier)

    async def _any(self) -> RunningKernel:
        if self.running is not None and not self.running.gone.done():
            return self.running
        if self._closed:
            raise KernelStartFailed("The kernels of this session were ended.")
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._bring_up())
            # The caller may have gone; the listeners got the failure.
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._starting)

    async def _bring_up(self) -> RunningKernel:
        # This takes no longer than the kernel needs anyway to come up.
        looking = asyncio.create_task(self._files.look(self._cwd))
        try:
            running = await self._started()
            # From here on `aclose` ends it.
            self.running = running
            self._cwd = self._cwd or running.cwd
        except KernelStartFailed as error:
            self._changed("died", error.message)
            raise
        finally:
            self._coming = None
            await asyncio.wait({looking})
        looking.result()
        self._changed("restarted" if self.generation > 1 else "ready", "")
        task = asyncio.create_task(self._mourn(running))
        self._mourning.add(task)
        task.add_done_callback(self._mourning.discard)
        return running

    async def _started(self) -> RunningKernel:
        """Return a life that answers. A kernel that is killed during its start is started once more."""
        try:
            return await self._begin()
        except KernelKilled as killed:
            self._changed("died", f"{killed.message} It is started once more.")
            return await self._begin()

    async def _begin(self) -> RunningKernel:
        connector = self._connector()
        # Who changes what holds kernels must find this one too.
        self.generation = max(1, self.generation)
        self._changed("starting", connector.why)
        async with connector.starting:
            connect = await asyncio.to_thread(connector.load)
            self._coming = RunningKernel(connector, connect(), self._unclaimed)
            await self._coming.start()
        return self._coming

    async def _mourn(self, running: RunningKernel) -> None:
        """Wait for the end of a life, and report it unless terp ended it."""
        await asyncio.wait({running.gone})
        why = self.obituary(running)
        if self.running is running:
            self._lose("left" if running.was_left else "died", why)
        # Its last output is still on the way, and its note quotes the log.
        await self._settled()
        await running.close()

    def _lose(self, state: KernelState, why: str) -> None:
        self.running = None
        self.generation += 1
        self._changed(state, why)


async def _ended(running: RunningKernel) -> None:
    await running.kill()
    await running.close()
