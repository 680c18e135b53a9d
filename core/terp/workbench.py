"""Where code runs as settings say: kernels, the tools in them, and what code needs before it runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from terp.attaching import found_for, told
from terp.errors import SettingsError
from terp.kernels.local import LocalKernels
from terp.kernels.options import KernelOptions
from terp.kernels.provisioning import provisioner_of
from terp.packages.missing import MissingPackages, Policy
from terp.places import Places, find_places
from terp.pythons.choosing import PythonChoice, Wanted, wanted_python
from terp.settings import Settings
from terp.store.places import Place
from terp.tools.offering import OffersServices, offer_tools
from terp.tools.reading import read_toolbox
from terp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from terp.kernels.attached.finding import Found
    from terp.kernels.remote.bench import GatewayBench
    from terp.voice import Voice


@dataclass(frozen=True, slots=True)
class Workbench:
    """What a session's code has, and code without a session as well.

    `wanted` is the Python that settings and surroundings ask for, None for terp's own. `told` is what the
    person must know of a kernel of somebody else, if one is used.
    """

    kernels: LocalKernels
    toolbox: Toolbox
    wanted: Wanted | None
    told: str
    settings: Settings
    environ: Mapping[str, str]
    places: Places

    def pythons(self, voice: "Voice") -> PythonChoice:
        """What decides which Python runs the code."""
        return PythonChoice(self.wanted, self.kernels, voice, self.places.state, self.environ)

    def packages(self, voice: "Voice") -> MissingPackages:
        """What installs what the code imports."""
        return MissingPackages(
            install_policy(self.settings),
            self.settings.packages,
            lambda: self.kernels.python,
            voice,
            self.environ,
        )

    def offer(self, to: OffersServices, voice: "Voice") -> None:
        """Offer what the tools call from a kernel."""
        offer_tools(to, voice, self.settings, self.environ)


def workbench(
    settings: Settings,
    *,
    cwd: str,
    environ: Mapping[str, str],
    folder: Path,
    prelude: str = "",
    found: "Found | None" = None,
) -> Workbench:
    """Kernels and tools as `settings` say. No kernel is started; that of somebody else is what was `found`.

    `folder` is written by terp alone; `prelude` is code that the Python kernel runs at every start.

    Raises:
        SettingsError: a language is one that terp does not know, or a tool file cannot be read.
    """
    places = find_places(environ)
    kernels = LocalKernels(cwd, kernel_options(settings), environ=environ)
    own = (settings.record, settings.replay, str(places.history))
    kernels.own_files = tuple(path for path in own if path)
    kernels.own_folders = _own_folders(places, Path(kernels.cwd), folder)
    told_of = told(found, kernels.begin_with(found.attachment)) if found else ""
    toolbox = read_toolbox(settings, environ, places, kernels)
    kernels.options = kernel_options(settings, f"{prelude}\n{toolbox.prelude()}")
    wanted = wanted_python(settings.python, environ, kernels.cwd)
    return Workbench(kernels, toolbox, wanted, told_of, settings, environ, places)


async def open_bench(
    settings: Settings, *, cwd: str, environ: Mapping[str, str], place: Place, prelude: str = ""
) -> "Workbench | GatewayBench":
    """Kernels and tools as `settings` say: of this machine, or of a gateway, which is asked what it has.

    `place` is where the session's files go; `prelude` is code that the Python kernel runs at every start.

    Raises:
        SettingsError: a language is not there, a tool file cannot be read, or settings exclude each other.
        KernelStartFailed: a kernel or a gateway that is to be used does not answer, or lets nobody in.
    """
    if settings.gateway_url and settings.attach:
        raise SettingsError(["attach and gateway_url exclude each other: code runs in one place."])
    if settings.gateway_url:
        from terp.kernels.remote.bench import open_gateway  # noqa: PLC0415  (most code runs here)

        return await open_gateway(settings, cwd=cwd, environ=environ, place=place, prelude=prelude)
    found = await found_for(settings, environ, cwd)
    return workbench(settings, cwd=cwd, environ=environ, folder=place.folder, prelude=prelude, found=found)


def install_policy(settings: Settings) -> Policy:
    """Whether packages are installed, as `settings` say."""
    return cast("Policy", settings.auto_install or ("known" if settings.auto_run else "ask"))


def kernel_options(settings: Settings, prelude: str = "") -> KernelOptions:
    """What `settings` say about kernels."""
    return KernelOptions(
        python=settings.python,
        shell=settings.shell,
        env_pass=settings.env_pass,
        languages=settings.languages,
        prelude=prelude,
        provisioner=provisioner_of(settings.kernel_provisioner, settings.kernel_provisioner_config),
    )


def _own_folders(places: Places, cwd: Path, session: Path) -> tuple[str, ...]:
    """Where terp alone writes; a folder of terp's that code works in is left to the code."""
    folders = (places.state, places.config)
    around = any(cwd.resolve().is_relative_to(folder.resolve()) for folder in folders)
    return tuple(map(str, (session, *((places.sessions,) if around else folders))))
