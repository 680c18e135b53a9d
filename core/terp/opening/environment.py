"""The execution environment of a session: its kernels, the tools in them, and preparations before code."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from terp.errors import SettingsError
from terp.kernels.environments.choosing import PythonChoice, WantedPython, found_program, wanted_python
from terp.kernels.environments.missing import MissingPackages, Policy
from terp.kernels.environments.readiness import Readiness
from terp.kernels.jupyter.launch import KernelOptions, provisioner_of
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import Confinement, confinement_of
from terp.opening.supplied import Supplied
from terp.secrets.keys import with_keys
from terp.session.artifacts import CHECKPOINTS, OUTPUTS
from terp.session.attaching import Attaching, found_for, notice_for_user
from terp.settings import Settings
from terp.settings.places import Places, find_places
from terp.settings.project.files import Project
from terp.store.places import Place
from terp.text.dataclasses import dataclass
from terp.tools.files.reading import read_toolbox
from terp.tools.functions import tools_of
from terp.tools.offering import OffersServices, offer_tools
from terp.tools.skills import FUNCTION as SKILL
from terp.tools.skills import find_skills
from terp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from terp.kernels.attached.finding import FoundKernel
    from terp.opening.gateway_environment import GatewayEnvironment
    from terp.person.dialog import UserDialog
    from terp.session.session import Session

ExecutionEnvironment: TypeAlias = "LocalEnvironment | GatewayEnvironment"
"""The environment on this machine, or the one behind a gateway."""


@dataclass(frozen=True, slots=True)
class LocalEnvironment:
    """Kernels on this machine and their tools, for a session or for code without one.

    `wanted` is the Python that settings and surroundings ask for, None for terp's own. `notices` are lines
    for the user: on the kernel of another program that is used, and on refused tools. `keyed` is `environ`
    with the stored keys: for requests to providers, not for the code or an installer.
    """

    kernels: LocalKernels
    toolbox: Toolbox
    wanted: WantedPython | None
    notices: tuple[str, ...]
    settings: Settings
    environ: Mapping[str, str]
    keyed: Mapping[str, str]
    places: Places

    @property
    def confinement(self) -> Confinement | None:
        """The sandbox of the kernels."""
        return self.kernels.confinement

    @property
    def chooses_python(self) -> bool:
        """False while Python code runs in a kernel of another program."""
        return "python" not in self.kernels.attached

    def connect(self, session: "Session") -> None:
        """Give a session its preparations before code, and offer the services that its tools call."""
        if self.confinement is not None:
            session.readiness.hand_to(self.confinement.let_read)
        resources, preparations = session.resources, self._preparations(session.dialog)

        def choose(own: bool) -> None:
            resources.pythons, resources.packages = preparations if own else (None, None)
            for preparation in preparations:
                session.readiness.remove(preparation)
                if own:
                    session.readiness.add(preparation)

        choose(self.chooses_python)
        resources.attaching = Attaching(self.kernels, session.note, choose)
        self.offer(session, session.dialog)

    def prepare(self, readiness: Readiness, dialog: "UserDialog") -> None:
        """Add the preparations for code that runs without a session."""
        if self.chooses_python:
            for preparation in self._preparations(dialog):
                readiness.add(preparation)

    def offer(self, to: OffersServices, dialog: "UserDialog") -> None:
        """Offer the services that the tools call from a kernel."""
        offer_tools(to, dialog, self.settings, self.keyed, lambda: self.kernels.network)
        to.offer(SKILL, self.toolbox.skills.read)

    def _preparations(self, dialog: "UserDialog") -> tuple[PythonChoice, MissingPackages]:
        return (
            PythonChoice(self.wanted, self.kernels, dialog, self.places.state, self.environ),
            MissingPackages(
                install_policy(self.settings),
                self.settings.packages,
                lambda: self.kernels.python,
                dialog,
                self.environ,
            ),
        )


def local_environment(
    settings: Settings,
    *,
    project: Project,
    environ: Mapping[str, str],
    folder: Path,
    supplied: Supplied | None = None,
    unasked: Callable[[], bool] | None = None,
    found: "FoundKernel | None" = None,
) -> LocalEnvironment:
    """Return kernels and tools for these settings and the trusted files of a project. No kernel is started.

    Only terp writes to `folder`. `unasked` returns True if code runs without asking; by default the settings
    decide. The kernel of another program that was `found` runs its language.

    Raises:
        SettingsError: a language is unknown, a tool file cannot be read, or the Python that the settings name
            does not exist.
        KeyringFailed: the key is in the system's keyring, which did not return it.
        NoSandbox: a sandbox is required, and none works here.
    """
    places = find_places(environ)
    if settings.python and not found_program(settings.python, environ):
        raise SettingsError([f"No Python at {settings.python} ({settings.origin('python')})."])
    confinement = confinement_of(settings, project.cwd, environ, unasked)
    confinement.check()
    confinement.outputs = str(folder / OUTPUTS)
    options = kernel_options(settings)
    kernels = LocalKernels(str(project.cwd), options, environ=environ, confinement=confinement)
    own = (settings.record, settings.replay, str(places.history))
    kernels.own_files = tuple(path for path in own if path)
    kernels.own_folders = _own_folders(places, Path(kernels.cwd), folder)
    attached = [notice_for_user(found, kernels.begin_with(found.attachment))] if found else []
    keyed = with_keys(environ, settings.model, *settings.fallback_models)
    supplied, skills = supplied or Supplied(), find_skills(places, project)
    functions = tools_of(supplied.functions)
    toolbox = read_toolbox(settings, keyed, places, kernels, project.tools, skills, functions)
    stored = (str(folder / CHECKPOINTS), *map(str, folder.glob("stdin*")))
    confinement.readable = (*stored, *toolbox.skills.folders)
    kernels.options = kernel_options(settings, f"{supplied.prelude}\n{toolbox.prelude()}")
    wanted = wanted_python(settings.python, environ, kernels.cwd, project.python)
    notices = (*attached, *toolbox.problems)
    return LocalEnvironment(kernels, toolbox, wanted, notices, settings, environ, keyed, places)


async def open_environment(
    settings: Settings,
    *,
    project: Project,
    environ: Mapping[str, str],
    place: Place,
    supplied: Supplied | None = None,
    unasked: Callable[[], bool] | None = None,
) -> ExecutionEnvironment:
    """Return kernels and tools for these settings: on this machine, or of a gateway, which is contacted.

    `place` is where the session's files are written. `unasked` returns True if code runs without
    asking; by default the settings decide.

    Raises:
        NoSandbox: a sandbox is required, and there is none where the code runs.
        SettingsError: a language is unknown, a tool file cannot be read, or settings exclude each other.
        KernelStartFailed: the kernel or the gateway does not answer, or refuses access.
    """
    if settings.gateway_url and settings.attach:
        raise SettingsError(["attach and gateway_url exclude each other: code runs in one place."])
    if settings.gateway_url:
        from terp.opening.gateway_environment import gateway_environment  # noqa: PLC0415  (rarely used)

        return await gateway_environment(
            settings, project=project, environ=environ, place=place, supplied=supplied
        )
    found = await found_for(settings, environ, str(project.cwd))
    return local_environment(
        settings,
        project=project,
        environ=environ,
        folder=place.folder,
        supplied=supplied,
        unasked=unasked,
        found=found,
    )


def install_policy(settings: Settings) -> Policy:
    """Return the setting for installing packages; its default depends on `auto_run`."""
    return cast("Policy", settings.auto_install or ("known" if settings.auto_run else "ask"))


def kernel_options(settings: Settings, prelude: str = "") -> KernelOptions:
    """Return the options of kernels for these settings."""
    return KernelOptions(
        python=settings.python,
        shell=settings.shell,
        env_pass=settings.env_pass,
        languages=settings.languages,
        prelude=prelude,
        provisioner=provisioner_of(settings.kernel_provisioner, settings.kernel_provisioner_config),
    )


def _own_folders(places: Places, cwd: Path, session: Path) -> tuple[str, ...]:
    """Return the folders that only terp writes to, without one that is around the working directory."""
    folders = (places.state, places.config)
    around = any(cwd.resolve().is_relative_to(folder.resolve()) for folder in folders)
    return tuple(map(str, (session, *((places.sessions, places.usage) if around else folders))))
