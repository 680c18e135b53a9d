"""Kernels that somebody else's provisioner starts: a plug-in of Jupyter, named by the person."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from terp.errors import SettingsError
from terp.importing import import_slow
from terp.kernels.connection import Connection
from terp.kernels.launch import Launch


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
            import_slow("terp.kernels.provisioned").ProvisionedKernel, self.launch, self.provisioner
        )


def provisioner_of(name: str, config: Sequence[str]) -> Provisioner | None:
    """The provisioner of that name with these settings, each as NAME=VALUE; None without a name.

    A value that is JSON is what it says, any other one is text.

    Raises:
        SettingsError: one of the settings has no name, or there is no provisioner to have them.
    """
    problems = [
        f"kernel_provisioner_config: '{one}' must be NAME=VALUE."
        for one in config
        if not one.partition("=")[0].strip() or "=" not in one
    ]
    if config and not name:
        problems.append("kernel_provisioner_config: there is no kernel_provisioner that it could be for.")
    if problems:
        raise SettingsError(problems)
    pairs = (one.partition("=") for one in config)
    return Provisioner(name, {key.strip(): _value(text.strip()) for key, _, text in pairs}) if name else None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
