"""Where a session's code runs when that is behind a gateway: kernels, and the tools in them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from terp.errors import SettingsError
from terp.kernels.environments.readiness import Readiness
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.remote.claims import Claims
from terp.kernels.remote.kernels import FileCarrier, GatewayKernels, Origin
from terp.kernels.sandbox.confinement import confinement_of
from terp.secrets.keys import with_keys
from terp.session.artifacts import OUTPUTS
from terp.settings import Settings
from terp.settings.gateway import gateway_of
from terp.settings.places import find_places
from terp.settings.project.files import Project
from terp.store.places import Place
from terp.tools.files.reading import read_toolbox
from terp.tools.offering import OffersServices, offer_tools
from terp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from terp.person.dialog import UserDialog


@dataclass(frozen=True, slots=True)
class GatewayBench:
    """What a session's code has behind a gateway. No environment is chosen and no package installed there."""

    kernels: GatewayKernels
    toolbox: Toolbox
    settings: Settings
    keyed: Mapping[str, str]

    def carry(self, readiness: Readiness) -> None:
        """Have what is attached brought to the kernels."""
        readiness.carry(FileCarrier(self.kernels))

    def offer(self, to: OffersServices, dialog: "UserDialog") -> None:
        """Offer what the tools call from a kernel."""
        # Another machine's network says nothing about that of this one, from which the tools work.
        offer_tools(to, dialog, self.settings, self.keyed, lambda: self.settings.network)


async def open_gateway(
    settings: Settings, *, project: Project, environ: Mapping[str, str], place: Place, prelude: str = ""
) -> GatewayBench:
    """The kernels behind `gateway_url`, and the tools; `project` is that of the person's directory.

    A session that is kept finds those kernels again that it had there.

    Raises:
        SettingsError: the address or the token is wrong, or a language that was chosen is not there.
        GatewayRefused: the gateway does not let us in.
        GatewayUnavailable: it does not answer.
        NoSandbox: a sandbox is required; terp cannot put one around another machine.
        KeyringFailed: the key is in the system's keyring, which does not give it.
    """
    cwd = str(project.cwd)
    confinement_of(settings, project.cwd, environ, None).check_elsewhere("a kernel behind a gateway")
    gateway = gateway_of(settings, environ)
    if gateway is None:
        raise SettingsError(["gateway_url is not set."])
    claims = Claims(place.folder if place.keeper is not None else None, gateway.url)
    options = KernelOptions(languages=settings.languages, keep=settings.gateway_keep)
    origin = Origin(cwd, place.folder / OUTPUTS, options, environ)
    kernels = await GatewayKernels.connect(gateway, claims, origin)
    keyed = with_keys(environ, settings.model, *settings.fallback_models)
    toolbox = read_toolbox(settings, keyed, find_places(environ), kernels, project.tools)
    kernels.options = replace(options, prelude=f"{prelude}\n{toolbox.prelude()}")
    if settings.packages:
        told = (
            f"packages: nothing is installed at {gateway.host}. Code can do that itself, with %pip install."
        )
        toolbox = replace(toolbox, problems=(*toolbox.problems, told))
    return GatewayBench(kernels, toolbox, settings, keyed)
