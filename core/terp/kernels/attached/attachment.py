"""What is known of a kernel that somebody else has started, and the way to it."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from terp.kernels.attached.connection_files import ConnectionFile
from terp.kernels.jupyter.bootstrap_code import bootstrap_code, farewell_code
from terp.kernels.jupyter.connection import Connection, Guest
from terp.text.importing import import_slow


@dataclass(frozen=True, slots=True)
class Attachment:
    """A kernel that runs and is somebody else's: its `language` in lower case, and where it is (`cwd`).

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
        """Where code runs in it, to follow "in"."""
        return f"somebody else's kernel ({self.file.title})"

    @property
    def heeds_interrupts(self) -> bool:
        """Whether code that runs there is known to be interruptible from here."""
        # An ipykernel understands the message, whatever its kernelspec says.
        return self.is_here or self.takes_guests or self.interrupt_by == "message"

    def way(self, token: str, prelude: str = "", timeout_s: float = 10.0) -> "AttachedWay":
        """The way to it; `token` marks the calls home, `prelude` is run after terp's own package."""
        bootstrap = f"{bootstrap_code(token, self.session)}\n{prelude}" if self.takes_guests else ""
        return AttachedWay(self, bootstrap, timeout_s)


@dataclass(frozen=True, slots=True)
class AttachedWay:
    """Implements `Way` with a kernel that runs already."""

    attachment: Attachment
    bootstrap: str
    start_timeout_s: float
    results_lag: bool = False

    @property
    def cwd(self) -> str:
        """Nowhere that is known: it may have moved since it was found."""
        return ""

    @property
    def guest(self) -> Guest:
        """How terp is a guest there."""
        session = self.attachment.session
        return Guest(session, farewell_code(session) if self.bootstrap else "")

    @property
    def tier(self) -> str:
        """Nothing that is known."""
        return "none"

    @property
    def why(self) -> str:
        """What it is."""
        return self.attachment.place

    def load(self) -> Callable[[], Connection]:
        """What makes the connection."""
        return partial(import_slow("terp.kernels.attached.kernel").AttachedKernel, self.attachment)
