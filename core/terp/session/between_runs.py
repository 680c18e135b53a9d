"""Events between runs that the model reads with the next result: kernel changes, late output, objections."""

from collections.abc import Callable

from terp.events import KernelChanged, KernelState, LateOutput
from terp.events.kernel import Kernel
from terp.events.log import EventLog
from terp.events.outputs import Output, Text
from terp.text.headtail import HeadTail
from terp.text.plain import without_escapes

_LATE_CHARS = 2_000


class BetweenRuns:
    """Listens to the kernels of a session (`KernelListener`). The next result begins with `note`, once."""

    def __init__(self, log: EventLog) -> None:
        self.note = ""
        self._log = log
        self._late = HeadTail(_LATE_CHARS)

    def changed(self, language: str, state: KernelState, why: str) -> None:
        """Log that a kernel changed its state."""
        self._log.append(KernelChanged(language, state, why))
        if state == "stopped":
            # It was idle for long, or was replaced. Of a kernel that died its run reports.
            self._add(f"[The {language} kernel was closed: its variables and imports are gone.]")

    def objected(self, what: str, why: str) -> None:
        """Note that the user declined a question with words."""
        self._add(objection(what, why))

    def _add(self, note: str) -> None:
        self.note = f"{self.note}\n{note}".lstrip("\n")

    def late_output(self, run_id: str, output: Output) -> None:
        """Log output of a run that had ended."""
        self._log.append(LateOutput(run_id, output))
        if isinstance(output, Text):
            self._late.add(without_escapes(output.text))

    def text(self) -> str:
        """Return what the model reads before the next result, or "", and forget it."""
        note, self.note = self.note, ""
        before = f"{note}\n" if note else ""
        if self._late.empty:
            return before
        late = self._late.text().rstrip("\n")
        self._late.clear()
        return f"{before}[an earlier run put out after its end:]\n{late}\n[this run:]\n"


def objection(what: str, why: str) -> str:
    """Return the sentence for the model about a question that the user declined with words."""
    return f'[The user was asked "{what.strip().splitlines()[0]}" and did not agree, but wrote: {why}]'


async def restart_kernel(kernel: Kernel, teach: Callable[[str], None]) -> None:
    """Restart a kernel for the user, and let the next message to the model say so.

    Raises:
        KernelStartFailed: it does not start again.
    """
    await kernel.restart()
    teach(f"[The user restarted the {kernel.language} kernel: its variables and imports are gone.]")
