"""The short way to a session, and the one place where its parts are put together from settings."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from terp.attaching import Attaching, attached_at_once, taught
from terp.errors import SettingsError
from terp.kernels.local import LocalKernels
from terp.kernels.options import KernelOptions
from terp.limits import Limits
from terp.models.building import build_model
from terp.packages.missing import MissingPackages, Policy
from terp.person import AutoRun, Nobody, Person
from terp.places import Places, find_places
from terp.profiles import load_settings
from terp.prompt import Facts, system_prompt
from terp.pythons.choosing import PythonChoice, wanted_python
from terp.pythons.interpreter import version_of
from terp.session import Session
from terp.setting import table
from terp.settings import Given, Settings
from terp.store.folders import new_folder
from terp.store.places import Place, Secrets, is_session, new_place, stored_place
from terp.tools.offering import offer_tools
from terp.tools.reading import read_toolbox

if TYPE_CHECKING:
    from terp.chat import Chat
    from terp.kernels.remote.kernels import GatewayKernels
    from terp.store.protocol import Keeping


def open(  # noqa: A001  # reads as `terp.open(…)`
    *,
    person: Person | None = None,
    profile: str = "",
    cwd: str | Path = "",
    environ: Mapping[str, str] | None = None,
    keep: "bool | str | Path | Keeping" = False,
    **settings: Any,
) -> "Opening":
    """A conversation, for a `with` block (`Chat`) or an `async with` block (`Session`).

        with terp.open(model="openai/gpt-4o", auto_run=True) as chat:
            print(chat("How many primes are there below a million?").text)

    `settings` are those of `terp.settings.Settings`; what is not given comes from `TERP_…` variables,
    `profile` and the person's configuration. Without `auto_run` and without a `person` every piece of
    code ends the turn: nobody is there to approve it.

    Nothing is kept unless `keep` is given: True keeps the session among those that `terp sessions` lists, a
    path keeps it in that folder. A folder that holds a session already is gone on with, in a new kernel. What
    implements `terp.store.protocol.Keeping` keeps it in a store of its own, such as a database; pictures and
    full outputs are then still files of a new folder. `terp.store.lines.keep_lines` makes one of little.

    Raises:
        SettingsError: a setting is unknown or wrong.
        SessionError: on entering the block: the folder holds a session that cannot be gone on with.
    """
    surroundings = os.environ if environ is None else environ
    places = find_places(surroundings)
    chosen = load_settings(_given(settings), profile=profile, environ=surroundings, places=places)
    return Opening(chosen, person, places, str(cwd), surroundings, keep)


class Opening:
    """What `open` returns: settings that become a conversation when a block is entered."""

    def __init__(
        self,
        settings: Settings,
        person: Person | None,
        places: Places,
        cwd: str,
        environ: Mapping[str, str],
        keep: "bool | str | Path | Keeping" = False,
    ) -> None:
        self._keep = keep
        self._settings = settings
        self._person = person
        self._places = places
        self._cwd = cwd
        self._environ = environ
        self._chat: Chat | None = None
        self._session: Session | None = None

    def __enter__(self) -> "Chat":
        from terp.chat import Chat  # noqa: PLC0415  (who awaits does without)

        self._chat = Chat(self._build)
        return self._chat

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._chat is not None:
            self._chat.close()

    async def __aenter__(self) -> Session:
        self._session = await self._build()
        return self._session

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.aclose()

    async def _build(self) -> Session:
        person, place = self._person or Nobody(), self._place()
        decides = AutoRun(person) if self._settings.auto_run else person
        session = await build_session(
            self._settings, decides, place=place, cwd=self._cwd, environ=self._environ
        )
        begun_with = [session.attaching.told] if session.attaching and session.attaching.told else []
        for line in (*begun_with, *session.toolbox.problems):
            session.voice.tell(line)
        return session

    def _place(self) -> "Place":
        if self._keep is False:
            return Place(new_folder(self._places.sessions))
        if not isinstance(self._keep, bool | str | Path):
            return Place(new_folder(self._places.sessions), self._keep)
        own = None if self._keep is True else Path(self._keep).expanduser().absolute()
        secrets = Secrets(self._environ, self._settings)
        if own is not None and is_session(own):
            return stored_place(own, secrets)
        return new_place(own or new_folder(self._places.sessions), self._cwd, secrets)


async def build_session(
    settings: Settings,
    person: Person,
    *,
    place: Place,
    cwd: str,
    environ: Mapping[str, str],
    api_key: str = "",
    prelude: str = "",
) -> Session:
    """A session as `settings` say; `person` decides about code, also as `auto_run` says.

    No kernel is started. Without a model in the settings one is looked for: by the keys in `environ`,
    then among the servers of this machine, with consent. `prelude` is code that the Python kernel runs
    at every start; `place` is where the session's files go, and with its `keeper` what keeps the session: any
    implementation of `terp.store.protocol.Keeping`, whose `stored` is what it goes on with.

    Raises:
        SettingsError: the model's name says no provider, or a language is one that terp does not know.
        NoModel: there is no model to be found.
        GatewayRefused: the gateway that code is to run behind does not let us in.
        GatewayUnavailable: it does not answer.
    """
    places = find_places(environ)
    kernels = await open_kernels(settings, cwd, environ, places, place)
    attached = ""
    if settings.attach and isinstance(kernels, LocalKernels):
        attached = await attached_at_once(kernels, settings.attach)
    toolbox = read_toolbox(settings, environ, places, kernels)
    kernels.options = kernel_options(settings, f"{prelude}\n{toolbox.prelude()}")
    model = await build_model(
        settings,
        kernels.languages,
        cwd=kernels.cwd,
        environ=environ,
        api_key=api_key,
        functions=toolbox.names,
    )
    session = Session(
        model,
        kernels,
        person,
        folder=place.folder,
        keeper=place.keeper,
        system=system_prompt(
            _facts(settings, kernels, environ),
            instructions=settings.instructions,
            replacement=settings.system_message,
            functions=toolbox.told(shipped=not settings.system_message),
        ),
        limits=_limits(settings),
    )
    _prepare(session, kernels, settings, environ, attached)
    session.toolbox = toolbox
    offer_tools(session, session.voice, settings, environ)
    return session


def _prepare(
    session: Session,
    kernels: "LocalKernels | GatewayKernels",
    settings: Settings,
    environ: Mapping[str, str],
    attached: str,
) -> None:
    """Let come before code what it needs where it runs: an environment and packages here, files elsewhere."""
    if not isinstance(kernels, LocalKernels):
        from terp.kernels.remote.carrying import FileCarrier  # noqa: PLC0415  (most code runs here)

        session.readiness.carry(FileCarrier(kernels))
        return
    choose = _python_choice(session, kernels, settings, environ)
    choose("python" not in kernels.attached)
    session.attaching = Attaching(kernels, session.teach, choose, attached)


async def open_kernels(
    settings: Settings, cwd: str, environ: Mapping[str, str], places: Places, place: Place
) -> "LocalKernels | GatewayKernels":
    """The kernels of this machine, or of the gateway that the settings name; none is started.

    Raises:
        SettingsError: a language is one that terp does not know, or the gateway's settings are wrong.
        GatewayRefused, GatewayUnavailable: it does not let us in, or does not answer.
    """
    if settings.gateway_url and settings.attach:
        raise SettingsError(["attach and gateway_url exclude each other: code runs in one place."])
    if settings.gateway_url:
        from terp.kernels.remote.opening import open_gateway  # noqa: PLC0415  (see `_prepare`)

        return await open_gateway(settings, kernel_options(settings), str(_absolute(cwd)), environ, place)
    kernels = LocalKernels(cwd, kernel_options(settings), environ=environ)
    own = (settings.record, settings.replay, str(places.history))
    kernels.own_files = tuple(path for path in own if path)
    kernels.own_folders = _own_folders(places, Path(kernels.cwd), place.folder)
    return kernels


def _absolute(cwd: str) -> Path:
    return Path(cwd or Path.cwd()).absolute()


def _python_choice(
    session: Session, kernels: LocalKernels, settings: Settings, environ: Mapping[str, str]
) -> Callable[[bool], None]:
    """What lets the session choose its Python and install into it, or not where that is somebody else's."""
    wanted = wanted_python(settings.python, environ, kernels.cwd)
    pythons = PythonChoice(wanted, kernels, session.voice, find_places(environ).state, environ)
    packages = MissingPackages(
        _install_policy(settings), settings.packages, lambda: kernels.python, session.voice, environ
    )

    def choose(own: bool) -> None:
        session.pythons, session.packages = (pythons, packages) if own else (None, None)
        for preparation in pythons, packages:
            session.readiness.remove(preparation)
            if own:
                session.readiness.add(preparation)

    return choose


def _facts(settings: Settings, kernels: "LocalKernels | GatewayKernels", environ: Mapping[str, str]) -> Facts:
    if not isinstance(kernels, LocalKernels):
        from terp.kernels.remote.opening import gateway_facts  # noqa: PLC0415  (see `_prepare`)

        return gateway_facts(settings, kernels)
    wanted = wanted_python(settings.python, environ, kernels.cwd)
    theirs = kernels.attached.get("python")
    return Facts(
        system="{0.sysname} {0.machine}".format(os.uname()),
        cwd=kernels.cwd,
        languages=kernels.languages,
        python=theirs.version if theirs else version_of(wanted.path if wanted else sys.executable),
        max_output_chars=settings.max_output_chars,
        stateless=kernels.stateless,
        packages=() if theirs else settings.packages,
        shared=" ".join(taught(one, language) for language, one in kernels.attached.items()),
    )


def _install_policy(settings: Settings) -> "Policy":
    return cast("Policy", settings.auto_install or ("known" if settings.auto_run else "ask"))


def _limits(settings: Settings) -> Limits:
    return Limits(
        max_steps=settings.max_steps,
        max_budget_usd=settings.max_budget_usd,
        run_timeout_s=settings.run_timeout_s,
        max_output_chars=settings.max_output_chars,
    )


def kernel_options(settings: Settings, prelude: str = "") -> KernelOptions:
    """What `settings` say about kernels."""
    return KernelOptions(
        python=settings.python,
        shell=settings.shell,
        env_pass=settings.env_pass,
        languages=settings.languages,
        prelude=prelude,
        keep=settings.gateway_keep,
    )


def _own_folders(places: Places, cwd: Path, session: Path) -> tuple[str, ...]:
    """Where terp alone writes; a folder of terp's that code works in is left to the code."""
    folders = (places.state, places.config)
    around = any(cwd.resolve().is_relative_to(folder.resolve()) for folder in folders)
    return tuple(map(str, (session, *((places.sessions,) if around else folders))))


def _given(settings: Mapping[str, Any]) -> dict[str, Given]:
    rows = table(Settings)
    given: dict[str, Given] = {}
    problems: list[str] = []
    for name, value in settings.items():
        try:
            given[name] = Given(rows[name].checked(value), "terp.open")
        except KeyError:
            problems.append(f"terp.open: unknown setting '{name}'.")
        except ValueError:
            problems.append(f"terp.open: '{name}' is {value!r}, must be {rows[name].rule}.")
    if problems:
        raise SettingsError(problems)
    return given
