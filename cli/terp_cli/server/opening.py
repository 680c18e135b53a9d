"""Sessions opened at a client's request, within the settings of the server."""

import asyncio
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from terp.errors import SettingsError
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import confinement_of
from terp.models.adapters.discovery import keyed_models, listed_models
from terp.models.building import options_of
from terp.opening.changing import Change, change_settings
from terp.opening.session import build_session
from terp.opening.supplied import Supplied
from terp.person import AutoRun, Person
from terp.secrets.known_secrets import Secrets
from terp.session.session import Session
from terp.settings import DEFAULT_PROFILE, Settings
from terp.settings.profiles import Profiles
from terp.settings.project.files import bare_project
from terp.settings.setting import Setting, table
from terp.store.catalogue import Catalogue
from terp.store.folders import new_folder
from terp.store.places import Place, new_place, stored_place
from terp.store.reading import read_header
from terp.text.dataclasses import dataclass, field, replace
from terp_cli.repl.keeping import prefetch_adapters
from terp_cli.server.access import TOKEN_VARIABLE, ServerToken
from terp_cli.server.failures import RequestRefused
from terp_cli.server.workspaces import Workspaces

# A path would name any file of this machine.
_PROFILE = re.compile(r"\w[\w-]{0,63}")
ORIGIN = "client"
OF_CLIENTS = tuple(name for name, row in table(Settings).items() if "wire" in row.sources)
"""The settings that a client may send: none of them lets code, keys or files out of the user's hands."""
_KEPT = ("max_budget_usd", "max_month_usd", "max_turn_usd", "session_quota_mb")


# Limit of local kernels that start at once. Fifty at once stopped the event loop for 2 s at a time, and
# were up no earlier (2 cores).
_STARTING = 4
# The page shows charts that can be used.
_LIVE_CHARTS = "__import__('os').environ['TERP_LIVE_CHARTS'] = '1'"


@dataclass(frozen=True)
class SessionRequest:
    """A client's request for a session: a profile by name, a model, a working directory, settings.

    With `asked`, all code needs approval, whatever the server was started with (`auto_run`, `approve`).
    """

    profile: str = ""
    model: str = ""
    cwd: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: bool = False


def settings_for(
    wishes: SessionRequest, started: Settings, of_profile: Callable[[str], Settings]
) -> Settings:
    """Return the settings of a session, based on those that the server was `started` with.

    Of a profile only the settings of the model and the conversation apply: it was written for a user at a
    terminal. The settings of code and its sandbox stay as the server was started.

    Raises:
        SettingsError: with every requested setting that is not allowed.
    """
    problems = _problems(wishes)
    if problems:
        raise SettingsError(problems)
    settings = replace(started, approve="before") if wishes.asked and started.approve == "effect" else started
    if wishes.profile:
        chosen = of_profile(wishes.profile)
        settings = _with(settings, {name: getattr(chosen, name) for name in _of_profiles()}, wishes.profile)
    if wishes.model:
        # Prices are those of the model that they were set with.
        prices = {} if wishes.model == settings.model else {"input_price": None, "output_price": None}
        settings = _with(settings, {"model": wishes.model, **prices}, ORIGIN)
    rows = table(Settings)
    return _with(
        settings, {name: rows[name].checked(value) for name, value in wishes.settings.items()}, ORIGIN
    )


def schema_of_settings() -> dict[str, Any]:
    """Return the JSON Schema of the settings that a client may send."""
    rows = table(Settings)
    return {
        "type": "object",
        "properties": {name: _schema(rows[name]) for name in OF_CLIENTS},
        "additionalProperties": False,
    }


def _schema(row: Setting) -> dict[str, Any]:
    if row.choices:
        found: dict[str, Any] = {"enum": [*dict.fromkeys([row.default, *row.choices])]}
    elif row.kind in ("whole", "number"):
        low, high = row.limits
        kind = "integer" if row.kind == "whole" else "number"
        found = {"type": kind, "minimum": low, **({} if math.isinf(high) else {"maximum": high})}
    else:
        found = {"type": "boolean" if row.kind == "switch" else "string"}
    found["description"] = row.about
    return {"anyOf": [found, {"type": "null"}]} if row.default is None else found


def checked_settings(sent: dict[str, Any]) -> dict[str, Any]:
    """Return a client's settings, validated.

    Raises:
        ValueError: one is not for clients, or has a wrong value.
    """
    read = {name: _read(name, value) for name, value in sent.items()}
    if problems := _wrong(read):
        raise ValueError(" ".join(problems))
    return read


def _read(name: str, value: Any) -> Any:
    """Return the value; 5.0 becomes 5, as JSON Schema counts it as an integer."""
    is_whole = name in OF_CLIENTS and table(Settings)[name].kind == "whole"
    return int(value) if is_whole and isinstance(value, float) and value.is_integer() else value


def _problems(wishes: SessionRequest) -> list[str]:
    named = not wishes.profile or _PROFILE.fullmatch(wishes.profile)
    return [*([] if named else ["profile must be the name of a profile."]), *_wrong(wishes.settings)]


def _wrong(sent: Mapping[str, Any]) -> list[str]:
    rows = table(Settings)
    problems: list[str] = []
    for name, value in sent.items():
        if name not in OF_CLIENTS:
            problems.append(f"{name[:40]!r} is no setting of clients; they may send {', '.join(OF_CLIENTS)}.")
            continue
        try:
            rows[name].checked(value)
        except ValueError:
            problems.append(f"{name} must be {rows[name].rule}.")
    return problems


def _of_profiles() -> list[str]:
    groups = ("model", "conversation")
    return [name for name, row in table(Settings).items() if row.group in groups and name not in _KEPT]


def _with(settings: Settings, values: Mapping[str, Any], origin: str) -> Settings:
    origins = {**settings.origins, **dict.fromkeys(values, origin)}
    return replace(settings, **values, origins=origins)


@dataclass(frozen=True)
class OpenedSession:
    """An open session, its working directory, settings and profile; `unasked` if code runs without approval.

    `settings.profile` stays that of the server: its limits of cost count for all sessions.
    """

    session: Session
    cwd: Path
    settings: Settings = field(default_factory=Settings)
    profile: str = DEFAULT_PROFILE
    unasked: bool = False


@dataclass(frozen=True)
class ProfileOffered:
    """A profile that a client may name, and the model that answers with it."""

    name: str
    description: str
    model: str


@dataclass(frozen=True)
class SessionOffer:
    """The profiles by name. `model` answers where no profile is named.

    `asks` is whether code, or each of its effects, is approved; `approve` says when: before, effect or never.
    `models` are names used before, of profiles, and of providers with a key; `tier` is the sandbox.
    """

    model: str
    profiles: Sequence[ProfileOffered]
    asks: bool
    approve: str
    models: Sequence[str]
    tier: str


class Opener(Protocol):
    """Opens new and stored sessions."""

    def offer(self) -> SessionOffer:
        """Return the models and profiles to choose from. Reads files."""

    async def listed(self) -> Sequence[str]:
        """Return the models that the provider of the server's model, and local servers, list.

        Raises:
            TerpError: the keys cannot be read.
        """

    async def new(self, wishes: SessionRequest, person: Person) -> OpenedSession:
        """Open a new session.

        Raises:
            RequestRefused, TerpError: the request cannot be fulfilled.
        """

    async def stored(self, session: str, wishes: SessionRequest, person: Person) -> OpenedSession:
        """Resume the stored session with this id.

        Raises:
            RequestRefused, TerpError: there is none, it is open elsewhere, or the request is refused.
        """

    async def adapt(self, session: Session, before: Settings, after: Settings) -> None:
        """Apply changed settings to an open session; kernels stay.

        Raises:
            TerpError: a setting cannot be applied.
        """

    async def change(self, session: Session, before: Settings, wishes: SessionRequest) -> Settings:
        """Use another model or profile in an open session, and return its settings; kernels stay.

        Raises:
            TerpError: the request cannot be fulfilled.
        """


# No text shows the environment.
@dataclass(eq=False, repr=False)
class SettingsOpener:
    """Implements `Opener` with the settings that the server was `started` with.

    `of_profile` loads the settings with a profile. Code needs approval unless the server was started
    with `auto_run`. Settings and `api_key` are read at each call: an interpreter changes them.
    """

    started: Callable[[], Settings]
    of_profile: Callable[[str], Settings]
    workspaces: Workspaces
    environ: Mapping[str, str]
    token: ServerToken
    api_key: Callable[[], str] = str
    starting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_STARTING))

    def offer(self) -> SessionOffer:
        """The model of the server, the profiles that can be read, and models used before or with a key."""
        started, places = self.started(), self.workspaces.places
        known = (
            *Catalogue(places.sessions).models(),
            *Profiles(places.profiles).models(),
            *(found.model for found in keyed_models(self.environ)),
        )
        approve = "never" if started.auto_run else started.approve
        return SessionOffer(
            started.model,
            tuple(self._profiles(started)),
            approve != "never",
            approve,
            models=tuple(dict.fromkeys(filter(None, (started.model, *known)))),
            tier=confinement_of(started, self.workspaces.root, self.environ).what,
        )

    async def listed(self) -> Sequence[str]:
        """Return what the provider of the server's model lists, and servers of this machine."""
        started = self.started()
        options = options_of(started, self.api_key())
        return [one.model for one in await listed_models(options, started.model, self.environ)]

    def _profiles(self, started: Settings) -> Iterator[ProfileOffered]:
        for entry in Profiles(self.workspaces.places.profiles).listed():
            # One with a mistake cannot be chosen: `terp profiles` says what is wrong.
            with suppress(SettingsError):
                model = settings_for(SessionRequest(entry.name), started, self.of_profile).model
                yield ProfileOffered(entry.name, entry.description, model)

    async def new(self, wishes: SessionRequest, person: Person) -> OpenedSession:
        """Open a new session; it is stored from its first turn on."""
        settings = await asyncio.to_thread(settings_for, wishes, self.started(), self.of_profile)
        folder = new_folder(self.workspaces.places.sessions)
        cwd = await asyncio.to_thread(self.workspaces.chosen, wishes.cwd, folder.name)
        place = await asyncio.to_thread(new_place, folder, str(cwd), self.secrets(settings))
        return await self._opened(settings, place, cwd, person, wishes)

    async def stored(self, session: str, wishes: SessionRequest, person: Person) -> OpenedSession:
        """Resume a stored session, with its last model unless another one is requested."""
        folder = self.workspaces.places.sessions / session
        header = await asyncio.to_thread(read_header, folder)
        if header is None:
            raise RequestRefused(404, f"There is no session {session}.")
        cwd = await asyncio.to_thread(self.workspaces.again, header.cwd, session)
        place = await asyncio.to_thread(stored_place, folder, self.secrets(self.started()))
        assert place.keeper is not None, "it is stored"
        with place.closed_on_failure():
            if not (wishes.model or wishes.profile):
                model = place.keeper.stored.model if place.keeper.stored else header.model
                wishes = replace(wishes, model=model)
            settings = await asyncio.to_thread(settings_for, wishes, self.started(), self.of_profile)
        return await self._opened(settings, place, cwd, person, wishes)

    async def adapt(self, session: Session, before: Settings, after: Settings) -> None:
        """Apply changed settings from the next request on."""
        await change_settings(session, Change(before, after), self.environ, api_key=self.api_key())

    async def change(self, session: Session, before: Settings, wishes: SessionRequest) -> Settings:
        """Use another model or profile from the next request on."""
        after = await asyncio.to_thread(settings_for, wishes, before, self.of_profile)
        await self.adapt(session, before, after)
        await prefetch_adapters()
        return after

    async def _opened(
        self, settings: Settings, place: Place, cwd: Path, person: Person, wishes: SessionRequest
    ) -> OpenedSession:
        # An answer to a client must not end before its code, and no route stops a job.
        settings = replace(settings, background_after_s=0.0)
        unasked = settings.auto_run and not wishes.asked
        session = await build_session(
            settings,
            AutoRun(person) if unasked else person,
            place=place,
            # Nobody was asked about the files of a project in it.
            project=bare_project(cwd),
            environ=self.environ,
            api_key=self.api_key(),
            supplied=Supplied(prelude=_LIVE_CHARTS),
        )
        if isinstance(session.kernels, LocalKernels):
            session.kernels.starting = self.starting
        for line in session.resources.notices:
            session.dialog.notify(line)
        # A client that opens a session is about to prompt.
        await prefetch_adapters()
        return OpenedSession(session, cwd, settings, wishes.profile or settings.profile, unasked)

    def secrets(self, settings: Settings) -> Secrets:
        """Return what no text of a session with these settings may contain."""
        # A new token stands in no variable, and is to be found in no text either.
        environ = {**self.environ, TOKEN_VARIABLE: self.token.reveal()}
        return Secrets(environ, settings, self.api_key())
