"""The way to a kernel at a gateway."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from terp.kernels.jupyter.connection import Connection, Guest
from terp.kernels.remote.claims import Claims
from terp.text.importing import import_slow

if TYPE_CHECKING:
    from terp.kernels.remote.rest import GatewayApi


@dataclass(frozen=True, slots=True)
class GatewayWay:
    """Implements `Way` with the kernel of a kernelspec `spec`, found by `claims` or started anew.

    `environment` is what the gateway is told of a kernel that it starts. The kernel alone knows where it is.
    """

    api: "GatewayApi"
    claims: Claims
    language: str
    spec: str
    environment: Mapping[str, str] = field(default_factory=dict)
    bootstrap: str = ""
    start_timeout_s: float = 60.0
    cwd: str = ""
    guest: Guest | None = None
    results_lag: bool = False

    @property
    def tier(self) -> str:
        """Nothing that is known."""
        return "none"

    @property
    def why(self) -> str:
        """Where it runs."""
        return f"{self.spec} at {self.api.gateway.host}"

    def load(self) -> Callable[[], Connection]:
        """What makes the connection. Imports the library of the websocket."""
        make = import_slow("terp.kernels.remote.kernel").GatewayKernel
        is_ipykernel = bool(self.bootstrap)
        return partial(make, self.api, self.claims, self.language, self.spec, self.environment, is_ipykernel)
