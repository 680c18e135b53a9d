"""Where code runs as settings say: kernels, the tools in them, and what code needs before it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from terp.errors import SettingsError
from terp.kernels.environments.choosing import PythonChoice, WantedPython, found_program, wanted_python
from terp.kernels.environments.missing import MissingPackages, Policy
from terp.kernels.jupyter.launch import KernelOptions, provisioner_of
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import confinement_of
from terp.secrets.keys import with_keys
from terp.session.artifacts import OUTPUTS
from terp.session.attaching import found_for, told
from terp.settings import Settings
from terp.settings.places import Places, find_places
from terp.settings.project.files import Project
from terp.store.places import Place
from terp.tools.files.reading import read_toolbox
from terp.tools.offering import OffersServices, offer_tools
from terp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from terp.kernels.attached.finding import FoundKernel
    from terp.opening.remote_workbench import GatewayBench
    from terp.person.dialog import UserDialog


@dataclass(frozen=True, slots=True)
class Workbench:
    """What a session's code has, and code without a session as well.

    `wanted` is the Python that settings and surroundings ask for, None for terp's own. `told` is what the
    person must know of a kernel of somebody else, if one is used. `keyed` is `environ` with the keys that
    are kept: for what asks a provider, and not for the code or an installer.
    """

    kernels: LocalKernels
    toolbox: Toolbox
    wanted: WantedPython | None
    told: str
    settings: Settings
    environ: Mapping[str, str]
    keyed: Mapping[str, str]
    places: Places

    def pythons(self, dialog: "UserDialog") -> PythonChoice:
        """What decides which Python runs the code."""
        return PythonChoice(self.wanted, self.kernels, dialog, self.places.state, self.environ)

    def packages(self, dialog: "UserDialog") -> MissingPackages:
        """What installs what the code imports."""
        return MissingPackages(
            install_policy(self.settings),
            self.settings.packages,
            lambda: self.kernels.python,
            dialog,
            self.environ,
        )

    def offer(self, to: OffersServices, dialog: "UserDialog") -> None:
        """Offer what the tools call from a kernel."""
        offer_tools(to, dialog, self.settings, self.keyed, lambda: self.kernels.network)


def workbench(
    settings: Settings,
    *,
    project: Project,
    environ: Mapping[str, str],
    folder: Path,
    prelude: str = "",
    unasked: Callable[[], bool] | None = None,
    found: "FoundKernel | None" = None,
) -> Workbench:
    """Kernels and tools as `settings` say, and what is trusted of a project. No kernel is started.

    `folder` is written by terp alone; `prelude` is code that the Python kernel runs at every start. `unasked`
    tells whether code runs without a question, as settings say unless it is given. The kernel of somebody
    else that was `found` runs its language.

    Raises:
        SettingsError: a language is one that terp does not know, a tool file cannot be read, or there is no
            Python where the settings name one.
        KeyringFailed: the key is in the system's keyring, which does not give it.
        NoSandbox: a sandbox is required, and none works here.
    """
    places = find_places(environ)
    if settings.python and not found_program(settings.python, environ):
        raise SettingsError([f"No Python at {settings.python} ({settings.origin('python')})."])
    confinement = confinement_of(settings, project.cwd, environ, unasked)
    confinement.check()
    confinement.outputs = str(folder / OUTPUTS)
    confinement.readable = tuple(map(str, folder.glob("stdin*")))
    options = kernel_options(settings)
    kernels = LocalKernels(str(project.cwd), options, environ=environ, confinement=confinement)
    own = (settings.record, settings.replay, str(places.history))
    kernels.own_files = tuple(path for path in own if path)
    kernels.own_folders = _own_folders(places, Path(kernels.cwd), folder)
    told_of = told(found, kernels.begin_with(found.attachment)) if found else ""
    keyed = with_keys(environ, settings.model, *settings.fallback_models)
    toolbox = read_toolbox(settings, keyed, places, kernels, project.tools)
    kernels.options = kernel_options(settings, f"{prelude}\n{toolbox.prelude()}")
    wanted = wanted_python(settings.python, environ, kernels.cwd, project.python)
    return Workbench(kernels, toolbox, wanted, told_of, settings, environ, keyed, places)


async def open_bench(
    settings: Settings,
    *,
    project: Project,
    environ: Mapping[str, str],
    place: Place,
    prelude: str = "",
    unasked: Callable[[], bool] | None = None,
) -> "Workbench | GatewayBench":
    """Kernels and tools as `settings` say: of this machine, or of a gateway, which is asked what it has.

    `place` is where the session's files go; `prelude` is code that the Python kernel runs at every start.
    `unasked` tells whether code runs without a question, as settings say unless it is given.

    Raises:
        NoSandbox: a sandbox is required, and there is none where the code runs.
        SettingsError: a language is not there, a tool file cannot be read, or settings exclude each other.
        KernelStartFailed: a kernel or a gateway that is to be used does not answer, or lets nobody in.
    """
    if settings.gateway_url and settings.attach:
        raise SettingsError(["attach and gateway_url exclude each other: code runs in one place."])
    if settings.gateway_url:
        from terp.opening.remote_workbench import open_gateway  # noqa: PLC0415  (most code runs here)

        return await open_gateway(settings, project=project, environ=environ, place=place, prelude=prelude)
    found = await found_for(settings, environ, str(project.cwd))
    return workbench(
        settings,
        project=project,
        environ=environ,
        folder=place.folder,
        prelude=prelude,
        unasked=unasked,
        found=found,
    )


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
    return tuple(map(str, (session, *((places.sessions, places.usage) if around else folders))))
