"""Kernels that somebody else's provisioner starts: a plug-in of Jupyter, named by the person."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from terp.errors import SettingsError
from terp.kernels.jupyter.connection import Connection
from terp.kernels.jupyter.launch import Launch
from terp.text.importing import import_slow


@dataclass(frozen=True)
class Provisioner:
    """An entry point of the group `jupyter_client.kernel_provisioners`, and what it is configured with."""

    name: str
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ProvisionedWay:
    """Implements `Way` with a command that a provisioner runs, wherever it does that.

    It is no process of ours, so nothing of ours confines it.
    """

    launch: Launch
    provisioner: Provisioner

    @property
    def cwd(self) -> str:
        """The directory that it is told to start in."""
        return self.launch.cwd

    @property
    def guest(self) -> None:
        """Nobody's guest: it is started for us."""

    @property
    def tier(self) -> str:
        """Nothing that is known."""
        return "none"

    @property
    def why(self) -> str:
        """Why this one, and who starts it."""
        return f"{self.launch.why}, started by the kernel provisioner {self.provisioner.name}"

    @property
    def bootstrap(self) -> str:
        """As for the command."""
        return self.launch.bootstrap

    @property
    def start_timeout_s(self) -> float:
        """As for the command."""
        return self.launch.start_timeout_s

    @property
    def results_lag(self) -> bool:
        """As for the command."""
        return self.launch.results_lag

    def load(self) -> Callable[[], Connection]:
        """What makes the connection."""
        return partial(
            import_slow("terp.kernels.jupyter.provisioned").ProvisionedKernel, self.launch, self.provisioner
        )


def provisioner_of(name: str, config: Mapping[str, Any]) -> Provisioner | None:
    """The provisioner of that name with this configuration; None without a name.

    Raises:
        SettingsError: there is a configuration, and no provisioner to have it.
    """
    if config and not name:
        raise SettingsError(
            ["kernel_provisioner_config: there is no kernel_provisioner that it could be for."]
        )
    return Provisioner(name, config) if name else None
