"""The runs of a session: its turn waits for one, and those that take long go on beside the conversation.

    observed = await jobs.run(call, kernel, limits)     # what came of it, or the `Job` that it is now
    jobs.leave()                                        # the run that is waited for becomes a job
    jobs.in_the_way(kernel)                             # the job that has this kernel, if one does

A job is the run that it was: the kernel, the call's id, its limits and its outputs stay. One kernel runs one
thing at a time, so as long as a job goes on its kernel takes no other code.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from terp.errors import KernelBusy
from terp.events import CodeFinished, JobChanged, Noticed
from terp.events.kernel import Kernel
from terp.events.log import EventLog
from terp.models.tool import Call
from terp.session.job import Job
from terp.session.limits import Limits
from terp.session.runs import Observed, Runner

_LAST_WORDS_S = 1.0


class Jobs:
    """Runs code, one run in the foreground and any number beside it, each in a kernel of its own.

    `teach` lets the model read how a job ended with the next message; `busy` tells whether the session does
    something, so that a job that wants a line has to wait.
    """

    def __init__(
        self, runner: Runner, log: EventLog, teach: Callable[[str], None], busy: Callable[[], bool]
    ) -> None:
        self._runner = runner
        self._log = log
        self._teach = teach
        self._busy = busy
        self._front: Job | None = None
        self._running: dict[int, Job] = {}
        self._count = 0
        self._ended: list[str] = []
        self._outcomes: dict[str, str] = {}
        self._telling = False

    @property
    def running(self) -> Mapping[int, Job]:
        """The jobs that go on, by their numbers."""
        return self._running

    async def run(
        self, call: Call, kernel: Kernel, limits: Limits, *, may_leave: bool = True
    ) -> Observed | Job:
        """Run an approved call: what came of it, or the job as which it goes on.

        It becomes one by `leave`, or after `background_after_s`, where it `may_leave`.

        Raises:
            KernelStartFailed: there is no kernel to run it.
        """
        job = self._front = Job(call, kernel, self._free)
        job.leaves_after_s = limits.background_after_s if may_leave else None
        running = self._runner.run(
            call, kernel, job, timeout_s=limits.run_timeout_s, max_chars=limits.max_output_chars
        )
        job.task = asyncio.create_task(running)
        try:
            await job.over_or_left()
            return job.task.result() if job.task.done() else self._go_on(job)
        finally:
            self._front = None
            if job.number == 0:
                await job.cancel()

    def leave(self) -> bool:
        """Let the run that is waited for go on as a job; False when none can."""
        return self._front is not None and self._front.leave()

    async def interrupt(self) -> None:
        """Stop the run that is waited for; returns when it is over. Jobs go on."""
        if self._front is not None:
            await self._front.stop()

    async def stop(self, number: int) -> bool:
        """Stop a job; its kernel and the variables stay. False when there is none of this number.

        Code that does not answer goes on; once more ends its kernel.
        """
        job = self._running.get(number)
        if job is None:
            return False
        await job.stop()
        await asyncio.wait({job.task}, timeout=_LAST_WORDS_S)
        return True

    def in_the_way(self, kernel: Kernel) -> Job | None:
        """The job that code for `kernel` would have to wait for."""
        return next((job for job in self._running.values() if job.call.id == kernel.running), None)

    def tell_going_on(self) -> None:
        """Tell the person which jobs go on, as they have just stopped something else."""
        for job in self._running.values():
            self._log.append(
                Noticed(f"{job.title} goes on in the background.", f"/jobs stop {job.number} ends it.")
            )

    def check_free(self, kernel: Kernel) -> None:
        """Nothing, while no job has the kernel.

        Raises:
            KernelBusy: one has.
        """
        if job := self.in_the_way(kernel):
            raise KernelBusy(
                f"The {job.call.language} kernel is busy with {job.name}: {job.first_line}",
                f"Wait for its end, or stop it: /jobs stop {job.number}.",
            )

    async def wait(self, job: Job) -> Observed | None:
        """What came of a job, once it is over; None when it broke off. Meanwhile it may ask for a line."""
        with job.awaited():
            self._log.wake()
            await asyncio.wait({job.task})
        return None if job.task.cancelled() or job.task.exception() else job.task.result()

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Inside, who asks for `outcomes` tells the model of jobs that end; what is left is told later."""
        self._telling = True
        try:
            yield
        finally:
            self._telling = False
            self._note_ended()

    def outcomes(self) -> str:
        """What came of jobs since this was asked, to be read before a result; "" for nothing."""
        ended, self._ended = self._ended, []
        return "\n".join([*ended, "[this call:]\n"]) if ended else ""

    def untold(self, said: Sequence[str]) -> list[str]:
        """What came of jobs of which `said` has the beginning alone, as after turns were taken back."""
        return [
            told
            for name, told in self._outcomes.items()
            if any(f"as {name} (" in text for text in said)
            and not any(told.splitlines()[0] in text for text in said)
        ]

    async def aclose(self) -> None:
        """Stop all jobs. Harmless when repeated."""
        jobs = list(self._running.values())
        if jobs:
            await asyncio.gather(*(job.stop() for job in jobs))
            await asyncio.wait({job.task for job in jobs}, timeout=_LAST_WORDS_S)
            await asyncio.gather(*(job.cancel() for job in jobs))

    def _go_on(self, job: Job) -> Job:
        self._count += 1
        job.number = self._count
        self._running[job.number] = job
        self._log.append(JobChanged(job.call.id, job.number, job.call.language, "background", job.seconds))
        job.task.add_done_callback(lambda _: self._over(job))
        return job

    def _over(self, job: Job) -> None:
        del self._running[job.number]
        if job.task.cancelled() or (error := job.task.exception()) is not None:
            told = "It broke off." if job.task.cancelled() else f"It broke off: {error}"
            self._log.append(CodeFinished(job.call.id, "error", job.seconds, note=told))
        else:
            told = job.task.result().text
        self._log.append(JobChanged(job.call.id, job.number, job.call.language, "ended", job.seconds))
        outcome = f"[{job.name} ({job.call.language}) has ended; what came of it:]\n{told}"
        self._outcomes[job.name] = outcome
        self._ended.append(outcome)
        if not self._telling:
            self._note_ended()

    def _note_ended(self) -> None:
        for told in self._ended:
            self._teach(told)
        self._ended.clear()

    async def _free(self, job: Job) -> None:
        while job.number and self._busy() and not job.is_awaited:
            await self._log.changed()
