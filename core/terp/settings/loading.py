"""The settings of one call, combined from all sources.

The sources, strongest first: a flag, a `TERP_…` variable, the profile named for the call (and those it
extends), the project's trusted files, a profile that the user's `config.yaml` names, that file itself,
the shipped profile `default`, the built-in value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from terp.errors import SettingsError
from terp.settings import APPROVALS, DEFAULT_PROFILE, Settings
from terp.settings.places import Places
from terp.settings.profile_file import ProfileFile, read_profile
from terp.settings.profiles import Profiles, is_path
from terp.settings.project.files import Project
from terp.settings.sources import Given, GivenValues, combine, from_environment
from terp.text.paths import typed_path

PROFILE_VARIABLE = "TERP_PROFILE"
_PRICES = frozenset({"input_price", "output_price"})
T = TypeVar("T")


@dataclass(frozen=True)
class Loaded:
    """The settings of one call, and lines about settings that a project may not set."""

    settings: Settings
    notices: tuple[str, ...] = ()


def load_settings(
    flags: GivenValues,
    *,
    profile: str,
    environ: Mapping[str, str],
    places: Places,
    shipped: Path | None = None,
    project: Project | None = None,
) -> Loaded:
    """Return the settings of one call; `profile` is the one that the call named, or "".

    Raises:
        SettingsError: with every problem of the variables and files at once.
    """
    files = _Files(Profiles(places.profiles, shipped))
    variables: GivenValues = files.attempt(lambda: from_environment(environ), {})
    config = _config(places)
    asked, asked_at = _asked(profile, environ, config)
    chosen = files.chain(asked, asked_at)
    project_files = files.of_project(project)
    # A profile that only the configuration names is as weak as that.
    named = [chosen, project_files] if not asked_at else [project_files, chosen]
    files_of_call = [
        *(file for group in named for file in group),
        *config,
        *files.chain("default", shipped=True),
    ]
    files.problems += [problem for file in files_of_call for problem in file.problems]
    if files.problems:
        raise SettingsError(list(dict.fromkeys(files.problems)))
    notices = [line for file in files_of_call for line in file.refused]
    sources = _tightened([flags, variables, *(file.given for file in files_of_call)], notices)
    settings = combine(_with_one_approval(_with_its_prices(sources)))
    settings = replace(settings, profile=_named(asked))
    if settings.allow or settings.ask or settings.deny:
        _check_rules(settings)
    return Loaded(settings, tuple(notices))


def _with_its_prices(sources: Sequence[GivenValues]) -> Sequence[GivenValues]:
    """Return the sources without prices from a weaker source than the model's: those are of another model."""
    named = next((at for at, one in enumerate(sources) if "model" in one), len(sources))
    weaker = sources[named + 1 :]
    without = ({name: one for name, one in source.items() if name not in _PRICES} for source in weaker)
    return [*sources[: named + 1], *without]


def _tightened(sources: Sequence[GivenValues], notices: list[str]) -> Sequence[GivenValues]:
    """Return the sources without `approve` of a project where it is looser than that of weaker sources."""
    kept: list[GivenValues] = []
    weaker = APPROVALS[0]
    for source in reversed(sources):
        given = source.get("approve")
        if given and given.by_project and APPROVALS.index(given.value) > APPROVALS.index(weaker):
            notices.append(
                f"{given.origin}: 'approve: {given.value}' is not taken from a project: it would loosen "
                f"'approve: {weaker}', and a project can only tighten it."
            )
            source = {name: one for name, one in source.items() if name != "approve"}  # noqa: PLW2901
        elif given:
            weaker = given.value
        elif "auto_run" in source and source["auto_run"].value:
            weaker = "never"
        if "auto_run" in source and not source["auto_run"].value and weaker == "never":
            weaker = "before"
        kept.append(source)
    return kept[::-1]


def _with_one_approval(sources: Sequence[GivenValues]) -> Sequence[GivenValues]:
    """Return the sources with an `auto_run` that agrees with `approve`: the strongest that names one decides.

    In one source the stricter of the two counts. `auto_run: false` makes "before" of a weaker "never".
    """
    asks: Given | None = None
    for source in sources:
        auto_run = source.get("auto_run")
        if auto_run and not auto_run.value:
            asks = asks or auto_run
        if "approve" in source:
            given = source["approve"]
            if asks and given.value == "never":
                return [{"auto_run": asks, "approve": replace(asks, value="before")}, *sources]
            return [{"auto_run": replace(given, value=given.value == "never")}, *sources]
        if auto_run and auto_run.value:
            return sources
    return sources


def _check_rules(settings: Settings) -> None:
    from terp.settings.rules import problems_of  # noqa: PLC0415  (few calls have rules)

    if problems := problems_of(settings):
        raise SettingsError(problems)


class _Files:
    """Reader of the files of one call; it collects their problems instead of stopping at the first."""

    def __init__(self, profiles: Profiles) -> None:
        self.problems: list[str] = []
        self._profiles = profiles
        self._shipped = Profiles(profiles.shipped, profiles.shipped)

    def attempt(self, reading: Callable[[], T], otherwise: T) -> T:
        """Return the result of `reading`, or `otherwise` after an error."""
        try:
            return reading()
        except SettingsError as error:
            self.problems += error.problems
            return otherwise

    def chain(self, name: str, asked_at: str = "", *, shipped: bool = False) -> list[ProfileFile]:
        """Return a profile and those that it extends; nothing without a name."""
        profiles = self._shipped if shipped else self._profiles
        return self.attempt(lambda: profiles.chain(name, asked_at), [])

    def of_project(self, project: Project | None) -> list[ProfileFile]:
        """Return the files of a project, each with the shipped profiles that it extends."""
        found: list[ProfileFile] = []
        for one in project.settings if project else ():
            file = read_profile(one.path, content=one.content, source="project")
            if is_path(file.base):
                file.problems.append(f"{file.base_at}: a project's profile extends only shipped profiles.")
                found.append(file)
                continue
            # A profile of the person's own may set what a project may not.
            base = self.chain(file.base, file.base_at, shipped=True)
            found += [file, *(read_profile(other.path, source="project") for other in base)]
        return found


def profile_in_effect(profile: str, environ: Mapping[str, str], places: Places) -> str:
    """Return the name or path of the profile that `load_settings` uses; "default" if none is chosen."""
    return _asked(profile, environ, _config(places))[0] or DEFAULT_PROFILE


def _named(profile: str) -> str:
    """Return a profile's name independent of the working directory (a full path); "" becomes "default"."""
    return str(typed_path(profile).absolute()) if is_path(profile) else profile or DEFAULT_PROFILE


def _asked(profile: str, environ: Mapping[str, str], config: Sequence[ProfileFile]) -> tuple[str, str]:
    """Return the requested profile, and the line of the configuration if that requests it."""
    asked = profile or environ.get(PROFILE_VARIABLE, "")
    return (config[0].base, config[0].base_at) if config and not asked else (asked, "")


def _config(places: Places) -> list[ProfileFile]:
    path = places.config_file
    return [read_profile(path, base_key="profile")] if path.is_file() else []
