"""One run, from its start to its end, whoever waits for it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from terp.events.kernel import Kernel
from terp.kernels.jupyter.channels import first_of
from terp.models.tool import Call
from terp.session.runs import Observed
from terp.text.interrupts import Interrupts

T = TypeVar("T")


class Job:
    """A run of `call` in `kernel` (an `Attended`). Its `number` is 0 until it goes on by itself.

    `free` returns when the person may be asked for a line. `task` runs it, `leaves_after_s` is when it
    leaves the foreground by itself (0: never; None: it never leaves).
    """

    task: asyncio.Task[Observed]

    def __init__(self, call: Call, kernel: Kernel, free: Callable[["Job"], Awaitable[None]]) -> None:
        self.call = call
        self.kernel = kernel
        self.number = 0
        self.leaves_after_s: float | None = 0.0
        self._interrupts = Interrupts()
        self._free = free
        self._began = time.monotonic()
        self._so_far: Callable[[], str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._left = asyncio.Event()
        self._asks = 0
        self._wants_to_leave = False
        self._waiting = 0

    @property
    def name(self) -> str:
        """What it is called."""
        return f"job {self.number}"

    @property
    def title(self) -> str:
        """What it is called at the beginning of a sentence."""
        return f"Job {self.number} ({self.call.language})"

    @property
    def first_line(self) -> str:
        """How its code begins."""
        return next((line for line in self.call.code.splitlines() if line.strip()), "").strip()

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self._began

    @property
    def so_far(self) -> str:
        """What it has put out until now, as the model reads it; "" for nothing."""
        return self._so_far() if self._so_far else ""

    @property
    def asks(self) -> bool:
        """Whether its code waits for a line from the person."""
        return self._asks > 0

    @property
    def is_awaited(self) -> bool:
        """Whether a turn waits for it."""
        return self._waiting > 0

    def begun(self, so_far: Callable[[], str]) -> None:
        """The kernel has the code; `so_far` tells what it has put out."""
        self._began, self._so_far = time.monotonic(), so_far
        if self.leaves_after_s:
            self._timer = asyncio.get_running_loop().call_later(self.leaves_after_s, self.leave)

    def leave(self) -> bool:
        """Let it go on without its turn, once a line that it waits for is there; False when it cannot.

        It cannot before the kernel has its code, and where its turn needs the end of it.
        """
        if self.leaves_after_s is None or self._so_far is None:
            return False
        self._wants_to_leave = True
        if not self._asks:
            self._left.set()
        return True

    async def over_or_left(self) -> None:
        """Return when it is over, or goes on by itself."""
        left = asyncio.create_task(self._left.wait())
        try:
            await first_of(self.task, left)
        finally:
            left.cancel()
            if self._timer is not None:
                self._timer.cancel()

    async def guard(self, awaitable: Awaitable[T]) -> T:
        """What `awaitable` gives.

        Raises:
            Interrupted: the run was stopped.
        """
        return await self._interrupts.guard(awaitable)

    async def asked(self, ask: Callable[[str], Awaitable[T]]) -> T:
        """What `ask` gets from the person, when they may be asked; it is given whose question it is.

        Raises:
            Interrupted: the run was stopped.
        """
        self._asks += 1
        try:
            return await self.guard(self._ask(ask))
        finally:
            self._asks -= 1
            if self._wants_to_leave and not self._asks:
                self._left.set()

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """A turn waits for it meanwhile."""
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def stop(self) -> None:
        """Interrupt it; returns when it is over, or its code does not answer."""
        self._interrupts.stop()
        await self.kernel.interrupt()

    async def cancel(self) -> None:
        """Give it up at once. Harmless when it is over."""
        if not self.task.done():
            self.task.cancel()
            await asyncio.wait({self.task})

    async def _ask(self, ask: Callable[[str], Awaitable[T]]) -> T:
        await self._free(self)
        return await ask(f"[{self.name}, {self.call.language}] " if self.number else "")


def still_running(job: Job) -> str:
    """What the model reads in place of the result of a run that goes on."""
    language, so_far = job.call.language, job.so_far
    put_out = f"Its output so far:\n{so_far}" if so_far else "It has put out nothing so far."
    return (
        f"Still running in the background as {job.name} ({language}, {job.seconds:.0f} s). {put_out}\n"
        f"[The {language} kernel is busy until it ends: code for it waits until then. Go on in another "
        "language, or end your turn; what comes of it is told with a later result or message.]"
    )
