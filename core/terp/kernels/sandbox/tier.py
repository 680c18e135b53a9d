"""The protocol of a way to confine a process, and what goes in and comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from terp.kernels.sandbox.policy import Policy

NONE = "none"
"""The name of the tier that confines nothing."""


@dataclass(frozen=True, slots=True)
class Command:
    """A process to be started. `directory` is the private one of its kernel, where its sockets are.

    `afterwards` is a command that ends what the end of the process leaves running.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: str
    directory: Path
    transport: str = "ipc"
    afterwards: tuple[str, ...] = ()


class Tier(Protocol):
    """One way to confine a process."""

    @property
    def name(self) -> str:
        """What people are told."""

    @property
    def cannot(self) -> tuple[str, ...]:
        """What it does not hold back, each to follow "It cannot"."""

    @property
    def stands_between(self) -> bool:
        """Whether a process of its own stays between terp and the command."""

    def __hash__(self) -> int:
        """Whether it works here is found out once for tiers that are equal."""

    def refuses(self, command: Command, policy: Policy) -> str:
        """Why this command cannot run confined so, as a sentence; "" when it can."""

    def wrap(self, command: Command, policy: Policy) -> Command:
        """The command that runs `command` confined. May write into its directory."""

    def process_of(self, pid: int) -> int:
        """The process of the command itself, given that of the wrapped one; 0 when it is not there yet."""


def is_confined(what: str) -> bool:
    """Whether a tier, as people are told of it, confines anything."""
    return what != NONE


@dataclass(frozen=True, slots=True)
class Confined:
    """A tier with what it holds a kernel to: fixed when the kernel starts."""

    tier: Tier
    policy: Policy

    @property
    def what(self) -> str:
        """What people are told: "none", "bubblewrap", "Landlock without network"."""
        return (
            self.tier.name
            if self.policy.network or self.tier.name == NONE
            else f"{self.tier.name} without network"
        )
