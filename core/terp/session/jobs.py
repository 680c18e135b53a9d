"""The runs of a session: one in the foreground, and background jobs.

    observed = await jobs.run(call, kernel, limits)     # its result, or the `Job` that it has become
    jobs.detach()                                       # move the foreground run to the background
    jobs.blocking(kernel)                               # the job that occupies this kernel, if any

A detached run keeps its kernel, its call's ID, its limits and its outputs. A kernel runs one thing at a time:
it accepts no other code until its job has ended.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from terp.errors import KernelBusy
from terp.events import CodeFinished, JobChanged, Noticed
from terp.events.kernel import Kernel
from terp.events.log import EventLog
from terp.models.tool import Call
from terp.session.context.history import History
from terp.session.foreground import Foreground, Interrupts
from terp.session.resources import Limits
from terp.session.runs import Observed, Runner
from terp.text.note_mark import NoteMark

_END_WAIT_S = 1.0
T = TypeVar("T")


class Job:
    """A run of `call` in `kernel` (an `Attended`). Its `number` is 0 while it is in the foreground.

    `free` returns when the user may be asked for a line of input. `task` runs it. It is detached after
    `detach_after_s` seconds; 0: only by `detach`, None: never.
    """

    task: asyncio.Task[Observed]

    def __init__(self, call: Call, kernel: Kernel, free: Callable[["Job"], Awaitable[None]]) -> None:
        self.call = call
        self.kernel = kernel
        self.number = 0
        self.detach_after_s: float | None = 0.0
        self._interrupts = Interrupts()
        self._free = free
        self._began = time.monotonic()
        self._so_far: Callable[[], str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._detached = asyncio.Event()
        self._asks = 0
        self._detach_requested = False
        self._waiting = 0

    @property
    def name(self) -> str:
        """Its name: "job 1"."""
        return f"job {self.number}"

    @property
    def title(self) -> str:
        """Its name at the beginning of a sentence: "Job 1 (python)"."""
        return f"Job {self.number} ({self.call.language})"

    @property
    def first_line(self) -> str:
        """The first line of its code that is not blank."""
        return next((line for line in self.call.code.splitlines() if line.strip()), "").strip()

    @property
    def seconds(self) -> float:
        """Seconds that it has been running."""
        return time.monotonic() - self._began

    @property
    def so_far(self) -> str:
        """Its output until now, as the model reads it; "" for none."""
        return self._so_far() if self._so_far else ""

    @property
    def asks(self) -> bool:
        """True while its code waits for a line of input."""
        return self._asks > 0

    @property
    def is_awaited(self) -> bool:
        """True while a turn waits for it."""
        return self._waiting > 0

    def begun(self, so_far: Callable[[], str]) -> None:
        """Note that the kernel has the code; `so_far` returns its output until now."""
        self._began, self._so_far = time.monotonic(), so_far
        if self.detach_after_s:
            self._timer = asyncio.get_running_loop().call_later(self.detach_after_s, self.detach)

    def detach(self) -> bool:
        """Move it to the background, as soon as it waits for no line of input; return False if it cannot.

        It cannot before the kernel has its code, nor if its turn needs its end.
        """
        if self.detach_after_s is None or self._so_far is None:
            return False
        self._detach_requested = True
        if not self._asks:
            self._detached.set()
        return True

    async def done_or_detached(self) -> None:
        """Return when it has ended or is detached."""
        detached = asyncio.create_task(self._detached.wait())
        try:
            await asyncio.wait({self.task, detached}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            detached.cancel()
            if self._timer is not None:
                self._timer.cancel()

    async def guard(self, awaitable: Awaitable[T]) -> T:
        """Return the result of `awaitable`.

        Raises:
            Interrupted: the run was stopped.
        """
        return await self._interrupts.guard(awaitable)

    async def asked(self, ask: Callable[[str], Awaitable[T]]) -> T:
        """Call `ask` with the name of the asking run, once the user may be asked; return the answer.

        Raises:
            Interrupted: the run was stopped.
        """
        self._asks += 1
        try:
            return await self.guard(self._ask(ask))
        finally:
            self._asks -= 1
            if self._detach_requested and not self._asks:
                self._detached.set()

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Mark it as awaited by a turn inside the block."""
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def stop(self) -> None:
        """Interrupt it; return when it has ended, or when its code does not respond."""
        self._interrupts.stop()
        await self.kernel.interrupt()

    async def cancel(self) -> None:
        """Cancel it at once. Harmless if it has ended."""
        if not self.task.done():
            self.task.cancel()
            await asyncio.wait({self.task})

    async def _ask(self, ask: Callable[[str], Awaitable[T]]) -> T:
        await self._free(self)
        return await ask(f"[{self.name}, {self.call.language}] " if self.number else "")


class Jobs:
    """Runs code: one run in the foreground and any number of jobs, each in another kernel.

    The model reads the result of a job with a note in `history`. A job that asks for input waits until the
    `foreground` is idle.
    """

    def __init__(self, runner: Runner, log: EventLog, history: History, foreground: Foreground) -> None:
        self._runner = runner
        self._log = log
        self._history = history
        self._foreground = foreground
        self._front: Job | None = None
        self._running: dict[int, Job] = {}
        self._count = 0
        self._ended: list[str] = []
        self._outcomes: dict[str, str] = {}
        self._in_turn = False

    @property
    def running(self) -> Mapping[int, Job]:
        """The jobs that run, by number."""
        return self._running

    async def run(
        self, call: Call, kernel: Kernel, limits: Limits, *, detachable: bool = True
    ) -> Observed | Job:
        """Run an approved call; return its result, or the job that it became.

        A `detachable` run becomes a job by `detach`, or after `background_after_s`.

        Raises:
            KernelStartFailed: there is no kernel to run it.
        """
        job = self._front = Job(call, kernel, self._free)
        job.detach_after_s = limits.background_after_s if detachable else None
        running = self._runner.run(
            call, kernel, job, timeout_s=limits.run_timeout_s, max_chars=limits.max_output_chars
        )
        job.task = asyncio.create_task(running)
        try:
            await job.done_or_detached()
            return job.task.result() if job.task.done() else self._moved_to_background(job)
        finally:
            self._front = None
            if job.number == 0:
                await job.cancel()

    def unanswered(self) -> Sequence[str]:
        """Return for each effect refused because nobody was there, since the last call, its rule or ""."""
        questions = self._runner.questions
        refused, questions.unanswered = questions.unanswered, []
        return refused

    def detach(self) -> bool:
        """Move the foreground run to the background; return False if there is none that can."""
        return self._front is not None and self._front.detach()

    async def interrupt(self) -> None:
        """Stop the foreground run; return when it has ended. Jobs continue."""
        if self._front is not None:
            await self._front.stop()

    async def stop(self, number: int) -> bool:
        """Stop a job; its kernel and the variables stay. Return False if no job has this number.

        Code that does not respond continues; a second call ends its kernel.
        """
        job = self._running.get(number)
        if job is None:
            return False
        await job.stop()
        await asyncio.wait({job.task}, timeout=_END_WAIT_S)
        return True

    def blocking(self, kernel: Kernel) -> Job | None:
        """Return the job that code for `kernel` would have to wait for."""
        return next((job for job in self._running.values() if job.call.id == kernel.running), None)

    def report_running(self) -> None:
        """Show the user which jobs still run, after they stopped something else."""
        for job in self._running.values():
            self._log.append(
                Noticed(f"{job.title} still runs in the background.", f"/jobs stop {job.number} stops it.")
            )

    def check_free(self, kernel: Kernel) -> None:
        """Raise unless the kernel is free of jobs.

        Raises:
            KernelBusy: a job has the kernel.
        """
        if job := self.blocking(kernel):
            raise KernelBusy(
                f"The {job.call.language} kernel is busy with {job.name}: {job.first_line}",
                f"Wait for its end, or stop it: /jobs stop {job.number}.",
            )

    async def wait(self, job: Job) -> Observed | None:
        """Return the result of a job at its end; None if it broke off. Meanwhile it may ask for input."""
        with job.awaited():
            self._log.wake()
            await asyncio.wait({job.task})
        return None if job.task.cancelled() or job.task.exception() else job.task.result()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let the turn inside the block read results of jobs by `outcomes`; notes hold those left over."""
        self._in_turn = True
        try:
            yield
        finally:
            self._in_turn = False
            self._note_ended()

    def outcomes(self) -> str:
        """Return the results of jobs since the last call, to be read before a tool result; "" for none."""
        ended, self._ended = self._ended, []
        return "\n".join([*ended, f"{self._history.mark.note('this call:')}\n"]) if ended else ""

    def missing_from(self, messages: Sequence[str]) -> list[str]:
        """Return results of jobs whose start, but not end, is in `messages` (after a rewind)."""
        return [
            outcome
            for name, outcome in self._outcomes.items()
            if any(f"as {name} (" in text for text in messages)
            and not any(outcome.splitlines()[0] in text for text in messages)
        ]

    async def aclose(self) -> None:
        """Stop all jobs. Harmless if repeated."""
        jobs = list(self._running.values())
        if jobs:
            await asyncio.gather(*(job.stop() for job in jobs))
            await asyncio.wait({job.task for job in jobs}, timeout=_END_WAIT_S)
            await asyncio.gather(*(job.cancel() for job in jobs))

    def _moved_to_background(self, job: Job) -> Job:
        self._count += 1
        job.number = self._count
        self._running[job.number] = job
        self._log.append(JobChanged(job.call.id, job.number, job.call.language, "background", job.seconds))
        job.task.add_done_callback(lambda _: self._ended_job(job))
        return job

    def _ended_job(self, job: Job) -> None:
        del self._running[job.number]
        if job.task.cancelled() or (error := job.task.exception()) is not None:
            result = "It broke off." if job.task.cancelled() else f"It broke off: {error}"
            self._log.append(CodeFinished(job.call.id, "error", job.seconds, note=result))
        else:
            result = job.task.result().text
        self._log.append(JobChanged(job.call.id, job.number, job.call.language, "ended", job.seconds))
        has_ended = self._history.mark.note(f"{job.name} ({job.call.language}) has ended; its result:")
        outcome = f"{has_ended}\n{result}"
        self._outcomes[job.name] = outcome
        self._ended.append(outcome)
        if not self._in_turn:
            self._note_ended()

    def _note_ended(self) -> None:
        for outcome in self._ended:
            self._history.note(outcome)
        self._ended.clear()

    async def _free(self, job: Job) -> None:
        while job.number and self._foreground.busy and not job.is_awaited:
            await self._log.changed(deltas=False)


def still_running(job: Job, mark: NoteMark) -> str:
    """Return what the model reads in place of the result of a detached run."""
    language, so_far = job.call.language, job.so_far
    put_out = "Its output so far:" if so_far else "It has put out nothing so far."
    running = f"Still running in the background as {job.name} ({language}, {job.seconds:.0f} s). {put_out}"
    busy = (
        f"The {language} kernel is busy until it ends: code for it waits until then. Go on in another "
        "language, or end your turn; you read its result with a later result or message."
    )
    return "\n".join([mark.sentence(running), *([so_far] if so_far else []), mark.note(busy)])
