"""The seam below a running kernel: how messages travel to it, and who has power over its life."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from terp.errors import KernelStartFailed
from terp.kernels.jupyter.channels import Message

Route = Callable[[str, Message], None]
"""Takes a message of the kernel with the name of its channel: "shell", "iopub", "stdin" or "control"."""


@dataclass(frozen=True, slots=True)
class Guest:
    """Terms of use of a kernel that another program started: terp neither restarts nor ends it.

    `session` is the client id of terp's requests. `farewell` is code that removes terp's package from the
    kernel.
    """

    session: str
    farewell: str = ""


class Connection(Protocol):
    """A connection to one kernel process. Of no use after `gone` is done.

    There is a sibling for each place where a kernel can be: a process of our own, somebody else's kernel.
    """

    @property
    def gone(self) -> asyncio.Future[str]:
        """Done when the kernel can no longer be used, with how it ended as a sentence."""

    @property
    def connection_file(self) -> str:
        """Jupyter's connection file of the kernel, for other programs of this machine; "" where none fits."""

    @property
    def may_live(self) -> bool:
        """True if a kernel that is `gone` may still run, out of reach, with its variables."""

    async def open(self, route: Route) -> None:
        """Start the kernel or find it; from then on messages go to it and from it to `route`.

        It need not answer yet. What is half done when this fails is ended by `close`.

        Raises:
            KernelStartFailed: it cannot be started or reached.
        """

    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message, made by `new_request`, on "shell", "stdin" or "control"; never waits."""

    async def interrupt(self) -> None:
        """Ask the code to stop, as the kernel wants to be asked."""

    async def stack(self) -> str:
        """Where the code stands, as faulthandler writes it; "" when that is not known at once.

        Only for a kernel that is killed next: code that has taken the signal for itself may end of it.
        """

    async def kill(self) -> None:
        """End the kernel at once, or only disconnect if it is not terp's; `gone` is done then."""

    async def close(self) -> None:
        """Disconnect and remove terp's files. Harmless when repeated, or before `open`."""

    def last_words(self) -> str:
        """The last lines of the kernel's log, "" when it is empty; also after `close`."""

    def not_up(self, seconds: float) -> KernelStartFailed:
        """The error for a kernel that ended, or did not answer within `seconds`, at its start."""


class Connector(Protocol):
    """The facts of a kernel before it is reached, and the means to reach it. Made without heavy imports."""

    @property
    def cwd(self) -> str:
        """The working directory at its start; "" when only the kernel knows it."""

    @property
    def guest(self) -> Guest | None:
        """The terms of use of another program's kernel; None for terp's kernels."""

    @property
    def why(self) -> str:
        """The reason for this kernel, in a few words for the user; "" without one."""

    @property
    def bootstrap(self) -> str:
        """Code that the kernel runs silently before the first cell: terp's own package; "" for none."""

    @property
    def start_timeout_s(self) -> float:
        """Time limit for the first answer, in seconds."""

    @property
    def results_lag(self) -> bool:
        """True if a result may arrive after the kernel's `idle` status."""

    @property
    def tier(self) -> str:
        """The sandbox of the kernel; "none" without one."""

    def load(self) -> Callable[[], Connection]:
        """Return a function that makes the connection. Imports its slow modules: call it in a thread."""
