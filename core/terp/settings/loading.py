"""The settings of one call, combined from all sources.

The sources, strongest first: a flag, a `TERP_…` variable, the profile named for the call or, in the user's
`config.yaml`, for its folder (and those it extends), the project's trusted files and the user's profile that
they name, another profile that `config.yaml` names, that file itself, the shipped profile `default`, the
built-in value.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from terp.errors import SettingsError
from terp.settings import APPROVALS, DEFAULT_PROFILE, Settings
from terp.settings.places import Places
from terp.settings.profile_file import ProfileFile, read_profile
from terp.settings.profiles import Profiles, is_path
from terp.settings.project.files import Project
from terp.settings.setting import table
from terp.settings.sources import Given, GivenValues, combine, from_environment
from terp.text.dataclasses import dataclass, replace
from terp.text.paths import typed_path

PROFILE_VARIABLE = "TERP_PROFILE"
_PRICES = frozenset({"input_price", "output_price"})
_TIGHTEST_LAST: Mapping[str, Sequence[object]] = {
    "approve": APPROVALS[::-1],
    "auto_run": (True, False),
    "sandbox": ("off", "auto", "workspace", "strict"),
    "sandbox_required": (False, True),
    "network": (True, False),
}
"""Settings that a project can only tighten, also by a profile of the user's that it names."""
_NEVER_BY_PROJECT = frozenset(
    (
        *("allow", "env_pass", "api_base", "api_key_env", "search_url", "docker_image"),
        *("gateway_url", "gateway_token_env", "gateway_token_file", "gateway_keep"),
        *("kernel_provisioner", "kernel_provisioner_config"),
    )
)
"""Settings that do not count in a profile of the user's which only a project names."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
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
    asked, asked_at = profile or environ.get(PROFILE_VARIABLE, ""), ""
    if not asked and config:
        asked, asked_at = _of_folder(config[0], project.cwd if project else Path.cwd())
    usual, usual_at = config[0].profile_under("profile") if config and not asked else ("", "")
    project_files, of_project = files.of_project(project)
    files_of_call = [
        *files.chain(asked, asked_at),
        *project_files,
        *files.chain(usual, usual_at),
        *config,
        *files.chain("default", shipped=True),
    ]
    files.problems += [problem for file in files_of_call for problem in file.problems]
    if files.problems:
        raise SettingsError(list(dict.fromkeys(files.problems)))
    notices = [line for file in files_of_call for line in file.refused]
    sources = _tightened([flags, variables, *(file.given for file in files_of_call)], notices)
    settings = combine(_with_one_approval(_with_all_instructions(_with_its_prices(sources))))
    settings = replace(settings, profile=_named(asked or of_project or usual))
    if settings.allow or settings.ask or settings.deny:
        _check_rules(settings)
    return Loaded(settings, tuple(notices))


def _with_its_prices(sources: Sequence[GivenValues]) -> Sequence[GivenValues]:
    """Return the sources without prices from a weaker source than the model's: those are of another model."""
    named = next((at for at, one in enumerate(sources) if "model" in one), len(sources))
    weaker = sources[named + 1 :]
    without = ({name: one for name, one in source.items() if name not in _PRICES} for source in weaker)
    return [*sources[: named + 1], *without]


def _with_all_instructions(sources: Sequence[GivenValues]) -> Sequence[GivenValues]:
    """Return the sources with a project's instructions added to those of a stronger source of the user's."""
    given = [source["instructions"] for source in sources if "instructions" in source]
    of_project = next((one for one in given if one.by_project), None)
    if of_project is None or given[0].by_project:
        return sources
    text = f"{given[0].value}\n\n{of_project.value}".strip()
    both = Given(text, f"{given[0].origin}, {of_project.origin}", by_project=True)
    return [{"instructions": both}, *sources]


def _tightened(sources: Sequence[GivenValues], notices: list[str]) -> Sequence[GivenValues]:
    """Return the sources without values of a project that are looser than those of weaker sources."""
    kept: list[GivenValues] = []
    built_in = table(Settings)
    weaker: dict[str, object] = {name: built_in[name].default for name in _TIGHTEST_LAST}
    for source in reversed(sources):
        loose = [name for name, one in source.items() if one.by_project and _loosens(name, one, weaker)]
        notices += [
            f"{source[name].origin}: '{name}: {_written(source[name].value)}' is not taken from a project: "
            f"it would loosen '{name}: {_written(weaker[name])}', and a project can only tighten it."
            for name in loose
        ]
        tight = {name: one for name, one in source.items() if name not in loose}
        weaker |= {name: tight[name].value for name in _TIGHTEST_LAST if name in tight}
        # One of the two stands for the other, as `_with_one_approval` has it.
        auto_run = tight.get("auto_run")
        if auto_run and auto_run.value and "approve" not in tight:
            weaker["approve"] = "never"
        elif auto_run and not auto_run.value and weaker["approve"] == "never":
            weaker["approve"] = "before"
        kept.append(tight)
    return kept[::-1]


def _written(value: object) -> str:
    """Return a value as in a file of settings."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _loosens(name: str, given: Given, weaker: Mapping[str, object]) -> bool:
    order = _TIGHTEST_LAST.get(name)
    if order is None:
        return False
    # A value without a rank is no comparable one, such as another machine's sandbox.
    ranks = [order.index(one) if one in order else -1 for one in (given.value, weaker[name])]
    return ranks[0] < ranks[1] or ranks[0] < 0


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

    def of_project(self, project: Project | None) -> tuple[list[ProfileFile], str]:
        """Return a project's files, each with the profiles that it names, and that of the user's."""
        found: list[ProfileFile] = []
        chosen = ""
        for one in project.settings if project else ():
            file = read_profile(one.path, content=one.content, kind="project")
            found.append(file)
            base, base_at = file.profile_under("extends")
            profile, profile_at = file.profile_under("profile")
            if is_path(base):
                file.problems.append(f"{base_at}: a project's profile extends only shipped profiles.")
                continue
            if is_path(profile):
                file.problems.append(f"{profile_at}: a project names a profile of yours by its name only.")
                continue
            # A profile of the user's may set what a project may not.
            shipped = self.chain(base, base_at, shipped=True)
            found += [read_profile(other.path, kind="project") for other in shipped]
            found += [_through_project(other, profile_at) for other in self.chain(profile, profile_at)]
            chosen = chosen or profile
        return found, chosen


def _through_project(file: ProfileFile, named_at: str) -> ProfileFile:
    """Return a profile of the user's as far as it counts where only a project names it, at `named_at`."""
    given = {name: one for name, one in file.given.items() if name not in _NEVER_BY_PROJECT}
    refused = [
        f"{one.origin}: '{name}' does not count, as only the project names this profile ({named_at}); "
        f"-p {file.path.stem} or `folders` in config.yaml makes it count."
        for name, one in file.given.items()
        if name in _NEVER_BY_PROJECT
    ]
    marked = {
        name: replace(one, by_project=True) if name in _TIGHTEST_LAST else one for name, one in given.items()
    }
    return replace(file, given=marked, refused=[*file.refused, *refused])


def _of_folder(config: ProfileFile, cwd: Path) -> tuple[str, str]:
    """Return the profile that the configuration names for the nearest folder around `cwd`, and its place."""
    given = config.named.get("folders")
    if given is None:
        return "", ""
    # Of mistaken entries, which end the call, there are only places.
    named = zip(given.value.items(), given.places, strict=False)
    around = {typed_path(folder).resolve(): (name, place) for (folder, name), place in named}
    here = cwd.resolve()
    return next((around[folder] for folder in (here, *here.parents) if folder in around), ("", ""))


def _named(profile: str) -> str:
    """Return a profile's name independent of the working directory (a full path); "" becomes "default"."""
    return str(typed_path(profile).absolute()) if is_path(profile) else profile or DEFAULT_PROFILE


def _config(places: Places) -> list[ProfileFile]:
    path = places.config_file
    return [read_profile(path, kind="config")] if path.is_file() else []
