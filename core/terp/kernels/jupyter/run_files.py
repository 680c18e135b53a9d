"""The files that runs change, wherever their kernel is."""

import asyncio
from typing import Protocol

from terp.events.outputs import FileChange
from terp.kernels.jupyter.files import FileWatch
from terp.kernels.jupyter.run import Run
from terp.kernels.jupyter.rundir import sweep
from terp.kernels.jupyter.running import RunningKernel


class RunFiles(Protocol):
    """Finds the files that the runs of one kernel change."""

    async def look(self, root: str) -> None:
        """See the directory in which a kernel is started as it is before its first run."""

    def begin(self) -> None:
        """A run begins."""

    async def changed_by(self, run: Run, running: RunningKernel) -> tuple[FileChange, ...]:
        """The files that a run which is over has changed, sorted by path."""


class LocalFiles:
    """Implements `RunFiles` for a kernel of this machine, in a thread; kernels may share the watch."""

    def __init__(self, watch: FileWatch) -> None:
        self._watch = watch

    async def look(self, root: str) -> None:
        """See the directory, and remove what a killed terp has left elsewhere."""
        await asyncio.to_thread(self._look, root)

    def begin(self) -> None:
        """Remember what was seen last."""
        self._watch.begin(self)

    async def changed_by(self, run: Run, running: RunningKernel) -> tuple[FileChange, ...]:
        """Compare the directory with what it was."""
        return await asyncio.to_thread(self._watch.changes, run.sent_ns, run.touched, run.cwd, self)

    def _look(self, root: str) -> None:
        sweep()
        self._watch.look(root, self)
