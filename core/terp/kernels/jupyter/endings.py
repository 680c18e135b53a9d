"""How a run ended, once nothing more will come of it."""

import signal

from terp.events.outputs import FileChange, RunEnded, RunStatus, StoppedAt
from terp.kernels.jupyter.reports import changes_in, failed_in, more_in, stopped_in, stopped_in_stack
from terp.kernels.jupyter.run import Run


def silent_end(run: Run, files: tuple[FileChange, ...]) -> RunEnded:
    """The end of a run that brought no reply, in a kernel that lives."""
    return RunEnded(run.stopped or "error", files=files, note="The kernel gave no result.")


def fatal_end(run: Run, files: tuple[FileChange, ...], obituary: str, *, left: bool) -> RunEnded:
    """The end of a run with its kernel, or without it when that was `left` to somebody else."""
    status: RunStatus = "timeout" if run.stopped == "timeout" else "died"
    if left and run.stopped:
        status = run.stopped
    stopped = stopped_in_stack(run.stack, run.code) if run.stack else None
    unknown = "The line at which the code stood is not known." if run.killed and stopped is None else ""
    note = " ".join(part for part in (run.overtime, unknown, obituary) if part)
    return RunEnded(status, files=files, note=note, stopped_at=stopped)


def ordinary_end(run: Run, files: tuple[FileChange, ...], note: str, *, recall: str) -> RunEnded:
    """The end of a run that brought its reply."""
    ok = run.reply.result().get("status") == "ok"
    stopped: StoppedAt | None = stopped_in(run.report) if run.stopped else None
    hidden = run.report.get("hidden")
    return RunEnded(
        run.stopped or ("ok" if ok else "error"),
        hidden if isinstance(hidden, str) else None,
        files,
        note,
        changes_in(run.report),
        more_in(run.report),
        stopped,
        "" if run.report.get("shadowed") else recall,
        *failed_in(run.report),
    )


def end_of(code: int) -> str:
    """How a kernel ended, by the exit code of its process, negative for a signal."""
    how = f"by signal {_signal_name(-code)}" if code < 0 else f"with exit code {code}"
    return f"The kernel ended {how}."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
