"""The exit codes of terp, and early ends: Ctrl-C, SIGTERM, SIGHUP and the end of `--timeout`."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from terp.errors import StopReason

EXIT_CODES: Mapping[StopReason, int] = {
    "done": 0,
    "error": 1,
    "rejected": 1,
    "context_full": 1,
    "repeated_failure": 1,
    "until_failed": 1,
    "watch_broken": 1,
    "usage": 2,
    "approval_needed": 3,
    "declined": 3,
    "no_sandbox": 3,
    "max_steps": 4,
    "max_budget": 4,
    "unavailable": 69,
    "rate_limited": 75,
    "auth": 77,
    "timeout": 124,
    "interrupted": 130,
}
HUNG_UP = 129
READER_LEFT = 141
TERMINATED = 143


TIME_IS_OVER = "the time given with --timeout is over."

Ending = Callable[[], Awaitable[None]]

_CODES: Mapping[int, int] = {
    signal.SIGINT: EXIT_CODES["interrupted"],
    signal.SIGALRM: EXIT_CODES["timeout"],
    signal.SIGTERM: TERMINATED,
    signal.SIGHUP: HUNG_UP,
}


# A kernel that is shut down while it handles an interrupt prints errors of both.
_GRACE_S = 0.5
# Code that ignores the interrupt for so long is interrupted again, which ends its kernel.
_PATIENCE_S = 5.0


async def _later(seconds: float, end: Ending) -> None:
    await asyncio.sleep(seconds)
    await end()


class StoppedBySignal(BaseException):
    """Raised at a signal before there is a session to interrupt."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Stopping:
    """Turn signals into an orderly end; `code` is the exit code of the first one, or None."""

    def __init__(self) -> None:
        self.code: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def timed_out(self) -> bool:
        """True if the time of `--timeout` is over."""
        return self.code == EXIT_CODES["timeout"]

    @contextmanager
    def armed(self, timeout_s: float) -> Iterator[None]:
        """Raise `StoppedBySignal` at a signal, before anything runs; start the time of `--timeout`."""
        before = {number: signal.signal(number, self._raise) for number in _CODES}
        signal.setitimer(signal.ITIMER_REAL, timeout_s)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def watching(self, interrupt: Ending, kill: Ending) -> Iterator[None]:
        """Call `interrupt` at a signal, and again after 5 s; the run must then end by itself.

        SIGTERM and SIGHUP also call `kill`, after 0.5 s; a second signal cancels the current task.
        """
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        before = {number: signal.getsignal(number) for number in _CODES}
        for number in _CODES:
            loop.add_signal_handler(number, self._stop, number, (interrupt, kill), task)
        try:
            yield
        finally:
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                # Removal resets to the default, which for SIGALRM and SIGTERM ends the process at once.
                signal.signal(number, handler)

    def _stop(self, number: int, endings: tuple[Ending, Ending], task: asyncio.Task[object]) -> None:
        if self.code is not None:
            task.cancel()
            return
        self.code = _CODES[number]
        interrupt, kill = endings
        self._begin(interrupt())
        # The sender of SIGTERM does not wait.
        waits = number not in (signal.SIGTERM, signal.SIGHUP)
        self._begin(_later(_PATIENCE_S, interrupt) if waits else _later(_GRACE_S, kill))

    def _begin(self, ending: Awaitable[None]) -> None:
        under_way = asyncio.ensure_future(ending)
        self._tasks.add(under_way)
        under_way.add_done_callback(self._tasks.discard)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self.code = self.code or _CODES[number]
        raise StoppedBySignal(_CODES[number])
