"""`open`, the short way to a session, and `build_session`, the one place that builds it from settings."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from terp.analysis.rules.deciding import Rules
from terp.errors import SettingsError
from terp.models.building import build_model
from terp.models.facts.lookup import known_prices, windows
from terp.opening.environment import ExecutionEnvironment, open_environment
from terp.person import AutoRun, Nobody, Person
from terp.secrets.known_secrets import Secrets
from terp.session.context.system_prompt import SystemPrompt
from terp.session.cost.ledger import Ledger, LedgerAccount
from terp.session.resources import Limits, SessionResources
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.loading import Loaded, load_settings
from terp.settings.places import Places, find_places
from terp.settings.project.files import Project, Trust, bare_project, read_project
from terp.settings.setting import table
from terp.settings.sources import Given
from terp.store.folders import new_folder
from terp.store.places import Place, is_session, new_place, stored_place
from terp.text.note_mark import NoteMark, new_word
from terp.text.paths import typed_path
from terp.tools.toolbox import FunctionNames

if TYPE_CHECKING:
    from terp.analysis.rules.rule import Rule
    from terp.checks.until.goal import Goal
    from terp.opening.chat import Chat
    from terp.session.keeping import Keeping


_ASKED = ("approve", "allow", "choose", "type_in")


def open(  # noqa: A001  # reads as `terp.open(…)`
    *,
    person: Person | None = None,
    profile: str = "",
    cwd: str | Path = "",
    environ: Mapping[str, str] | None = None,
    keep: "bool | str | Path | Keeping" = False,
    trusted: Trust | None = None,
    **settings: Any,
) -> "Opening":
    """Open a conversation, for a `with` block (`Chat`) or an `async with` block (`Session`).

        with terp.open(model="openai/gpt-4o", auto_run=True) as chat:
            print(chat("How many primes are there below a million?").text)

    `settings` are fields of `terp.settings.Settings`; others come from `TERP_…` variables, `profile` and the
    user's configuration. Without `auto_run` and without a `person`, any code ends the turn: nobody is there
    to approve it.

    Nothing is stored unless `keep` is given. True stores the session among those that `terp sessions` lists,
    a path stores it in that folder; if the folder holds a session already, that one is resumed, in a new
    kernel. Any implementation of `terp.session.keeping.Keeping` stores it elsewhere, such as in a database;
    pictures and full outputs are then still files in a new folder. `terp.store.lines.keep_lines` builds one
    from a function that appends lines.

    Settings and instructions of the project around `cwd` are ignored unless `trusted` returns True for the
    file, by path and content.

    Raises:
        SettingsError: a setting is unknown or wrong, or `person` lacks a method.
        SessionError: on entering the block: the folder holds a session that cannot be resumed.
    """
    if missing := [name for name in _ASKED if person is not None and not hasattr(person, name)]:
        raise SettingsError([f"terp.open: person has no method {missing[0]}; see terp.person.Person."])
    surroundings = os.environ if environ is None else environ
    places = find_places(surroundings)
    project = read_project(cwd, surroundings, trusted) if trusted else bare_project(cwd)
    loaded = load_settings(
        _given(settings), profile=profile, environ=surroundings, places=places, project=project
    )
    return Opening(loaded, person, places, project, surroundings, keep)


@dataclass(slots=True)
class Opening:
    """Settings from which entering a block opens a conversation: a `Chat`, or with `async` a `Session`."""

    _loaded: Loaded
    _person: Person | None
    _places: Places
    _project: Project
    _environ: Mapping[str, str]
    _keep: "bool | str | Path | Keeping" = False
    _chat: "Chat | None" = None
    _session: Session | None = None

    def __enter__(self) -> "Chat":
        from terp.opening.chat import Chat  # noqa: PLC0415  (`async with` does not need it)

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
        decides = AutoRun(person) if self._loaded.settings.auto_run else person
        session = await build_session(
            self._loaded.settings, decides, place=place, project=self._project, environ=self._environ
        )
        for line in (*self._project.notices, *self._loaded.notices, *session.resources.notices):
            session.dialog.notify(line)
        return session

    def _place(self) -> Place:
        if self._keep is False:
            return Place(new_folder(self._places.sessions))
        if not isinstance(self._keep, bool | str | Path):
            return Place(new_folder(self._places.sessions), self._keep)
        own = None if self._keep is True else typed_path(str(self._keep)).absolute()
        secrets = Secrets(self._environ, self._loaded.settings)
        if own is not None and is_session(own):
            return stored_place(own, secrets)
        return new_place(own or new_folder(self._places.sessions), str(self._project.cwd), secrets)


async def build_session(
    settings: Settings,
    person: Person,
    *,
    place: Place,
    project: Project,
    environ: Mapping[str, str],
    api_key: str = "",
    prelude: str = "",
) -> Session:
    """Build a session from settings; `person` decides about code, and implements `auto_run`.

    No kernel is started. If the settings name no model, one is looked for: by the keys in `environ`, then
    among the servers of this machine, with consent. The model reads the instructions of `project`, and
    `prelude` is code that the Python kernel runs in its directory at every start. `place` has the folder for
    the session's files, and a `keeper` if the session is stored; the keeper's `stored` session is resumed.

    Raises:
        SettingsError: the model's name has no known provider, or a language is unknown.
        NoModel: no model was found.
        KeyringFailed: the key is in the system's keyring, which did not return it.
        NoSandbox: a sandbox is required, and none works here.
        KernelStartFailed: the kernel to attach to does not answer, or the gateway refuses access.
    """
    environment = await open_environment(
        settings, project=project, environ=environ, place=place, prelude=prelude
    )
    kernels, functions = environment.kernels, FunctionNames(environment.toolbox)
    model = await build_model(
        settings,
        kernels.languages,
        cwd=kernels.cwd,
        environ=environment.keyed,
        api_key=api_key,
        functions=functions,
    )
    resources = _resources(settings, environment, place)
    resources.secrets = place.secrets or Secrets(environ, settings, api_key)
    # `place.secrets` may have been built from older settings.
    resources.secrets.use(settings)
    resources.functions = functions
    mark = resources.note_mark = NoteMark(place.keeper.note_word if place.keeper else new_word())
    resources.system_prompt = SystemPrompt(kernels, environment.toolbox, environ, project, mark)
    session = Session(model, kernels, person, folder=place.folder, resources=resources, keeper=place.keeper)
    session.instruct(resources.system_prompt.text(settings), code=settings.code)
    environment.connect(session)
    if settings.mcp_servers and "python" in kernels.languages:
        from terp.opening.mcp import open_servers  # noqa: PLC0415  (few sessions have any)

        open_servers(session, kernels, settings.mcp_servers, functions)
    return session


def _resources(settings: Settings, environment: ExecutionEnvironment, place: Place) -> SessionResources:
    return SessionResources(
        limits=limits_of(settings),
        windows=windows(settings, environment.keyed),
        prices=known_prices(settings, environment.keyed),
        account=_account(settings, place, environment.keyed),
        notices=environment.notices,
        toolbox=environment.toolbox,
        confinement=environment.confinement,
        rules=Rules(written_rules(settings)),
        goal=goal_in(settings),
        references=settings.references,
        error_values=settings.error_values,
    )


def _account(settings: Settings, place: Place, environ: Mapping[str, str]) -> LedgerAccount | None:
    """Return the account in the ledger, for sessions that are stored or have a monthly limit."""
    # Replies of a recording cost nothing.
    is_replay = bool(settings.replay) and settings.replay_mode != "new"
    if is_replay or not (place.keeper or settings.max_month_usd):
        return None
    return LedgerAccount(Ledger(find_places(environ).usage), settings.profile, place.folder.name)


def limits_of(settings: Settings) -> Limits:
    """Return the limits in the settings."""
    names = (limit.name for limit in fields(Limits))
    return Limits(**{name: getattr(settings, name) for name in names if hasattr(settings, name)})


def written_rules(settings: Settings) -> Sequence["Rule"]:
    """Return the rules in the settings."""
    if not (settings.allow or settings.ask or settings.deny):
        return ()
    from terp.settings.rules import rules_of  # noqa: PLC0415  (few settings have rules)

    return rules_of(settings)


def goal_in(settings: Settings) -> "Goal | None":
    """Return the check in the settings, if there is one.

    Raises:
        SettingsError: the check is malformed.
    """
    if not settings.until:
        return None
    from terp.checks.until.goal import goal_of  # noqa: PLC0415  (few settings have a check)

    return goal_of(settings)


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
