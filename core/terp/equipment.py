"""What a session has besides model, kernels and person: set by whoever puts the session together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from terp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from terp.attaching import Attaching
    from terp.briefing import Briefing
    from terp.mcp_servers.servers import Servers
    from terp.packages.missing import MissingPackages
    from terp.pythons.choosing import PythonChoice
    from terp.sandbox.confinement import Confinement


@dataclass(slots=True)
class Equipment:
    """What settings give the code of a session, and the model's knowledge of it.

    `pythons` decides about the Python that runs the code, `packages` installs into it and `confinement` holds
    the code back; they are None where kernels run elsewhere. `attaching` exchanges kernels for those
    of somebody else. `briefing` makes the system prompt of settings.
    The functions of `toolbox` and `servers` are in the Python kernel, and run when the model calls them as
    tools, by one of the names in `functions`.
    """

    pythons: "PythonChoice | None" = None
    packages: "MissingPackages | None" = None
    briefing: "Briefing | None" = None
    toolbox: Toolbox = field(default_factory=Toolbox)
    servers: "Servers | None" = None
    confinement: "Confinement | None" = None
    attaching: "Attaching | None" = None
    functions: Mapping[str, str] = field(default_factory=dict)

    async def aclose(self) -> None:
        """End what runs for the session."""
        if self.servers is not None:
            await self.servers.aclose()
