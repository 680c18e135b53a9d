"""The execution environment behind a gateway: its kernels, and the tools in them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from terp.errors import SettingsError
from terp.kernels.environments.readiness import Readiness
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.remote.claims import Claims
from terp.kernels.remote.kernels import FileCarrier, GatewayKernels, Origin
from terp.kernels.sandbox.confinement import confinement_of
from terp.opening.supplied import Supplied
from terp.secrets.keys import with_keys
from terp.session.artifacts import OUTPUTS
from terp.settings import Settings
from terp.settings.gateway import gateway_of
from terp.settings.places import find_places
from terp.settings.project.files import Project
from terp.store.places import Place
from terp.text.dataclasses import dataclass, replace
from terp.tools.files.reading import read_toolbox
from terp.tools.functions import tools_of
from terp.tools.offering import OffersServices, offer_tools
from terp.tools.skills import FUNCTION as SKILL
from terp.tools.skills import find_skills
from terp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from terp.person.dialog import UserDialog
    from terp.session.session import Session


@dataclass(frozen=True, slots=True)
class GatewayEnvironment:
    """Kernels behind a gateway and their tools. No Python is chosen and no package installed there.

    `notices` are lines for the user. `keyed` is the environment with the stored keys.
    """

    kernels: GatewayKernels
    toolbox: Toolbox
    notices: tuple[str, ...]
    settings: Settings
    keyed: Mapping[str, str]
    confinement: None = None

    def connect(self, session: "Session") -> None:
        """Have the attachments of a session copied to the kernels, and offer the services of its tools."""
        session.readiness.carry(FileCarrier(self.kernels))
        self.offer(session, session.dialog)

    def prepare(self, readiness: Readiness, dialog: "UserDialog") -> None:
        """No-op: code behind a gateway needs no preparation."""

    def offer(self, to: OffersServices, dialog: "UserDialog") -> None:
        """Offer the services that the tools call from a kernel."""
        # Tools work from this machine, whatever network the other machine has.
        offer_tools(to, dialog, self.settings, self.keyed, lambda: self.settings.network)
        to.offer(SKILL, self.toolbox.skills.read)


async def gateway_environment(
    settings: Settings,
    *,
    project: Project,
    environ: Mapping[str, str],
    place: Place,
    supplied: Supplied | None = None,
) -> GatewayEnvironment:
    """Connect to the kernels behind `gateway_url`; `project` is that of the user's directory.

    A stored session that is resumed gets its kernels back, if they still run.

    Raises:
        SettingsError: the address or the token is wrong, or the gateway lacks a chosen language.
        GatewayRefused: the gateway refused access.
        GatewayUnavailable: the gateway does not answer.
        NoSandbox: a sandbox is required, which another machine cannot be given.
        KeyringFailed: the key is in the system's keyring, which did not return it.
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
    supplied, places = supplied or Supplied(), find_places(environ)
    skills, own = find_skills(places, project, here=False), tools_of(supplied.functions)
    toolbox = read_toolbox(settings, keyed, places, kernels, project.tools, skills, own)
    kernels.options = replace(options, prelude=f"{supplied.prelude}\n{toolbox.prelude()}")
    notices = toolbox.problems
    if settings.packages:
        notices += (f"packages: none is installed at {gateway.host}. Code can run %pip install instead.",)
    return GatewayEnvironment(kernels, toolbox, notices, settings, keyed)
