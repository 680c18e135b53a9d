"""Kernels that another program started: their facts, the connector to one, and the language it runs."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from terp.errors import KernelError, UnknownLanguage
from terp.events.kernel import Kernel
from terp.kernels.attached.connection_files import ConnectionFile
from terp.kernels.jupyter.channels import Connection, Guest
from terp.kernels.jupyter.launch import bootstrap_code, farewell_code
from terp.kernels.runtimes.runtime import Runtime
from terp.text.importing import import_slow

if TYPE_CHECKING:
    from terp.kernels.jupyter.local import LocalKernels


@dataclass(frozen=True, slots=True)
class KernelAttachment:
    """A running kernel of another program: its `language` in lower case, its working directory (`cwd`).

    `takes_guests` is whether terp's own package works there; it `is_here` when its process is one of this
    machine. `version` is that of the language.
    """

    file: ConnectionFile
    language: str
    version: str = ""
    cwd: str = ""
    takes_guests: bool = False
    is_here: bool = False
    interrupt_by: Literal["signal", "message"] = "signal"
    session: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def place(self) -> str:
        """The kernel as a phrase after "in"."""
        return f"somebody else's kernel ({self.file.title})"

    @property
    def heeds_interrupts(self) -> bool:
        """True if code there can be interrupted from here."""
        # An ipykernel understands the message, whatever its kernelspec says.
        return self.is_here or self.takes_guests or self.interrupt_by == "message"

    def connector(self, token: str, prelude: str = "", timeout_s: float = 10.0) -> "AttachedConnector":
        """The connector to it; `token` marks calls to terp, `prelude` is run after terp's package."""
        bootstrap = f"{bootstrap_code(token, self.session)}\n{prelude}" if self.takes_guests else ""
        return AttachedConnector(self, bootstrap, timeout_s)


@dataclass(frozen=True, slots=True)
class AttachedConnector:
    """Implements `Connector` with a running kernel."""

    attachment: KernelAttachment
    bootstrap: str
    start_timeout_s: float
    results_lag: bool = False

    @property
    def cwd(self) -> str:
        """Always "": the kernel may have changed its directory since it was found."""
        return ""

    @property
    def guest(self) -> Guest:
        """The terms of use of the kernel."""
        session = self.attachment.session
        return Guest(session, farewell_code(session) if self.bootstrap else "")

    @property
    def tier(self) -> str:
        """Always "none": no sandbox is known."""
        return "none"

    @property
    def why(self) -> str:
        """The kernel's place."""
        return self.attachment.place

    def load(self) -> Callable[[], Connection]:
        """Return a function that makes the connection."""
        return partial(import_slow("terp.kernels.attached.kernel").AttachedKernel, self.attachment)


class AttachedLanguage:
    """Implements `Kernel` with one that is connected to somebody else's: it says so, and is not restarted."""

    def __init__(self, attachment: KernelAttachment, kernel: Kernel) -> None:
        self._attachment = attachment
        self._kernel = kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    @property
    def place(self) -> str:
        """The kernel's place."""
        return self._attachment.place

    async def restart(self) -> None:
        """Refuse.

        Raises:
            KernelError: always.
        """
        raise KernelError(
            f"Code runs in {self.place}, which terp does not restart.",
            "Restart it where it was started; /attach own takes a kernel of terp's own instead.",
        )


def row_of(attachment: KernelAttachment) -> Runtime:
    """The row of a language that nothing else runs here."""

    def make(_: "LocalKernels") -> Kernel:
        raise UnknownLanguage(f"Nothing but {attachment.place} runs {attachment.language} here.")

    return Runtime((attachment.language,), lambda _: attachment.place, "", make)
