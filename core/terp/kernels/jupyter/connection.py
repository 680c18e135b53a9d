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
    """What holds in a kernel that somebody else has started: terp neither restarts nor ends it.

    `session` is the id with which terp's requests are sent, `farewell` code that takes terp's own package out
    of the kernel again.
    """

    session: str
    farewell: str = ""


class Connection(Protocol):
    """One kernel for one life of it. Of no use any more after `gone` is done.

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
        """Whether a kernel that is gone may be there all the same, out of reach, with its variables."""

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
        """End the code and its state at once, or leave it alone where it is not ours; `gone` is done then."""

    async def close(self) -> None:
        """Say farewell and leave no trace of ours. Harmless when repeated, or before `open`."""

    def last_words(self) -> str:
        """The end of what the kernel wrote outside of Jupyter, "" when nothing; also after `close`."""

    def not_up(self, seconds: float) -> KernelStartFailed:
        """Why the kernel has ended, or not answered for so long, while it was awaited."""


class Connector(Protocol):
    """What is known of a kernel before it is reached, and how to reach it. Made without heavy imports."""

    @property
    def cwd(self) -> str:
        """The directory in which it will be; "" when the kernel alone knows."""

    @property
    def guest(self) -> Guest | None:
        """How terp is a guest in a kernel that is somebody else's; None for its own."""

    @property
    def why(self) -> str:
        """Why this one, in a few words for the person; "" when there is nothing to say."""

    @property
    def bootstrap(self) -> str:
        """Code that the kernel runs silently before the first cell: terp's own package; "" for none."""

    @property
    def start_timeout_s(self) -> float:
        """How long it may take until it answers."""

    @property
    def results_lag(self) -> bool:
        """Whether a result may come after the kernel has said that it is idle."""

    @property
    def tier(self) -> str:
        """What confines it: "none" when nothing does."""

    def load(self) -> Callable[[], Connection]:
        """What makes the connection. Imports what that needs, which takes long: meant for a thread."""
