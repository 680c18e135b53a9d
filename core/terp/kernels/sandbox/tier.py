"""The protocol of a sandbox tier, its commands, and the tier without a sandbox."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from terp.kernels.sandbox.launcher import limited
from terp.kernels.sandbox.policy import Policy

NONE = "none"
"""The name of the tier without a sandbox."""


@dataclass(frozen=True, slots=True)
class ProcessCommand:
    """A process to start. `directory` is its private folder, with the sockets of a kernel.

    `afterwards` is a command that ends processes which outlive this one.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: str
    directory: Path
    transport: str = "ipc"
    afterwards: tuple[str, ...] = ()


class Tier(Protocol):
    """One kind of sandbox."""

    @property
    def name(self) -> str:
        """The name shown to the user."""

    @property
    def cannot(self) -> tuple[str, ...]:
        """The tier's limits, each to follow "It cannot"."""

    @property
    def stands_between(self) -> bool:
        """True if a wrapper process stays between terp and the command."""

    def __hash__(self) -> int:
        """Hash equal tiers equally: each is tried once."""

    def refuses(self, command: ProcessCommand, policy: Policy) -> str:
        """Return why this command cannot run in the tier, as a sentence; "" if it can."""

    def wrap(self, command: ProcessCommand, policy: Policy) -> ProcessCommand:
        """Return the command that runs `command` in the sandbox. May write into its directory."""

    def process_of(self, pid: int) -> int:
        """Return the pid of the command itself, given the wrapper's; 0 if it has not started yet."""


def is_confined(what: str) -> bool:
    """Return True if a tier, by its shown name, is a sandbox."""
    return what != NONE


@dataclass(frozen=True, slots=True)
class Confined:
    """A tier with its policy: fixed when a kernel starts."""

    tier: Tier
    policy: Policy

    @property
    def what(self) -> str:
        """The name shown to the user: "none", "bubblewrap", "Landlock without network"."""
        return (
            self.tier.name
            if self.policy.network or self.tier.name == NONE
            else f"{self.tier.name} without network"
        )


@dataclass(frozen=True, slots=True)
class Unconfined:
    """Implements `Tier` without a sandbox; only resource limits apply."""

    name: str = NONE
    cannot: tuple[str, ...] = ()
    stands_between: bool = False

    def refuses(self, command: ProcessCommand, policy: Policy) -> str:
        """Refuse nothing."""
        return ""

    def wrap(self, command: ProcessCommand, policy: Policy) -> ProcessCommand:
        """Return the same command, with resource limits."""
        argv = limited(command.argv, command.directory, policy)
        return ProcessCommand(argv, command.environment, command.cwd, command.directory, command.transport)

    def process_of(self, pid: int) -> int:
        """Return the same process."""
        return pid


def unconfined(cwd: str = "") -> Confined:
    """Return the tier without a sandbox, with its policy."""
    return Confined(Unconfined(), Policy(cwd))
