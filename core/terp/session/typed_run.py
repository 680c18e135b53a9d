"""Code that the person typed: it runs as it is, without the model, which is told afterwards."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from terp.errors import TerpError
from terp.events import CodeRejected, CodeTyped, Event, JobChanged, Noticed
from terp.events.kernel import Kernel
from terp.models.tool import Call
from terp.session.job import Job, still_running
from terp.session.parts import Parts
from terp.text.fencing import fenced
from terp.text.interrupts import Interrupted, Interrupts

TYPED = "typed"
"""How the ids of such runs begin."""


@dataclass(slots=True)
class TypedRun:
    """One run over the parts of a session. `told` gets what the model should know of it."""

    parts: Parts
    call: Call
    kernel: Kernel
    interrupts: Interrupts
    told: Callable[[str], None]

    async def run(self) -> None:
        """Run the code to its end; what goes wrong is in the log."""
        self.parts.log.append(CodeTyped(self.call.id, self.call.language, self.call.code))
        try:
            ready = await self.interrupts.guard(self.parts.readiness.before(self.call, self.kernel))
            came = await self.parts.jobs.run(self.call, self.kernel, self.parts.limits)
        except Interrupted:
            self.parts.log.append(CodeRejected(self.call.id, "interrupted before it ran"))
        except TerpError as error:
            self.parts.log.append(CodeRejected(self.call.id, error.message))
            self.parts.log.append(Noticed(error.message, error.remedy))
        else:
            if isinstance(came, Job):
                self.told(_note(self.call, ready + still_running(came)))
                return
            with suppress(Interrupted):
                after = self.parts.readiness.after(self.call, self.kernel, came.error)
                ready += await self.interrupts.guard(after)
            self.told(_note(self.call, ready + came.text))

    async def stop(self) -> None:
        """Interrupt the code; returns when nothing of it runs any more."""
        self.interrupts.stop()
        await self.parts.jobs.interrupt()


def has_left(event: Event) -> bool:
    """Whether code that was typed goes on in the background from here on."""
    return isinstance(event, JobChanged) and event.state == "background" and event.call_id.startswith(TYPED)


def _note(call: Call, text: str) -> str:
    code = fenced(call.code, call.language)
    return f"[Before this message I ran this myself:]\n{code}\n[What came of it:]\n{text}"
