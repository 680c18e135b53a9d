"""Profiles: named files of settings, and how they combine with everything else that sets something.

Strongest first: a flag, a `TERP_…` variable, the profile named for the call (and what it extends), the
person's `config.yaml`, the shipped profile `default`, the built-in value.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from terp.errors import SettingsError
from terp.paths import typed_path
from terp.places import Places
from terp.profile_file import ProfileFile, read_profile
from terp.setting_variables import from_environment
from terp.settings import Layer, Settings, combine

PROFILE_VARIABLE = "TERP_PROFILE"
_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True)
class ProfileEntry:
    """One line of `terp profiles`."""

    name: str
    path: Path
    shipped: bool
    description: str
    problems: tuple[str, ...] = ()


class Profiles:
    """The profiles that can be named: the person's own, then the shipped ones."""

    def __init__(self, own: Path, shipped: Path | None = None) -> None:
        self.own = own
        self.shipped = shipped or shipped_profiles()

    def listed(self) -> Iterator[ProfileEntry]:
        """Every profile by name; one of the person's hides a shipped one of the same name."""
        for name, path in self._all().items():
            file = read_profile(path)
            shipped = path.parent == self.shipped
            yield ProfileEntry(name, path, shipped, file.description, tuple(file.problems))

    def names(self) -> list[str]:
        """The names of all profiles, which are not read for this."""
        return list(self._all())

    def models(self) -> list[str]:
        """The models that profiles set, in the order of the profiles' names."""
        given = (read_profile(path).given.get("model") for path in self._all().values())
        return list(dict.fromkeys(str(model.value) for model in given if model is not None and model.value))

    def chain(self, name: str, asked_at: str = "") -> list[ProfileFile]:
        """The profile `name` (or the file, if it is a path) and those it extends, the strongest first.

        `asked_at` is the line of a file that names it.

        Raises:
            SettingsError: one of them does not exist, or they extend one another in a circle; with the
                problems of those that were read.
        """
        chain: list[ProfileFile] = []
        folder = Path()
        while name:
            try:
                path = self._find(name, folder, [file.path for file in chain])
            except SettingsError as error:
                told = [f"{asked_at}: {line}" if asked_at else line for line in error.problems]
                raise SettingsError([*(one for file in chain for one in file.problems), *told]) from error
            chain.append(read_profile(path))
            name, folder, asked_at = chain[-1].base, path.parent, chain[-1].base_at
        return chain

    def _all(self) -> dict[str, Path]:
        found = {path.stem: path for folder in (self.shipped, self.own) for path in _files(folder)}
        return dict(sorted(found.items()))

    def _find(self, name: str, folder: Path, before: list[Path]) -> Path:
        candidates = self._candidates(name, folder)
        present = [path for path in candidates if path.is_file()]
        for path in present:
            # A profile may extend a shipped one of its own name, so files of the chain are passed over.
            if path not in before:
                return path
        if present:
            circle = " → ".join(path.stem for path in [*before, present[0]])
            raise SettingsError([f"profiles extend one another in a circle: {circle}."])
        raise SettingsError([self._missing(name, candidates)])

    def _candidates(self, name: str, folder: Path) -> list[Path]:
        if "/" in name or name.endswith(_SUFFIXES):
            return [(folder / typed_path(name)).absolute()]
        return [place / (name + suffix) for place in (self.own, self.shipped) for suffix in _SUFFIXES]

    def _missing(self, name: str, candidates: list[Path]) -> str:
        from difflib import get_close_matches  # noqa: PLC0415  (for a mistake only)

        if len(candidates) == 1:
            return f"there is no profile file '{name}'."
        names = self.names()
        near = get_close_matches(name, names, n=1)
        hint = f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(names)}."
        return f"there is no profile '{name}'. {hint}"


def load_settings(
    flags: Layer, *, profile: str, environ: Mapping[str, str], places: Places, shipped: Path | None = None
) -> Settings:
    """The settings of one call; `profile` is what the call named, or "".

    Raises:
        SettingsError: with every problem of the variables and files at once.
    """
    profiles = Profiles(places.profiles, shipped)
    problems: list[str] = []
    variables: Layer = {}
    try:
        variables = from_environment(environ)
    except SettingsError as error:
        problems += error.problems
    files = _config(places)
    asked, asked_at = _asked(profile, environ, files)
    try:
        chosen = profiles.chain(asked, asked_at) if asked else []
        files = [*chosen, *files, *Profiles(profiles.shipped, profiles.shipped).chain("default")]
    except SettingsError as error:
        problems += error.problems
    problems += [problem for file in files for problem in file.problems]
    if problems:
        raise SettingsError(list(dict.fromkeys(problems)))
    return combine([flags, variables, *(file.given for file in files)])


def profile_in_effect(profile: str, environ: Mapping[str, str], places: Places) -> str:
    """The name, or the path, of the profile that `load_settings` takes; "default" without any other."""
    return _asked(profile, environ, _config(places))[0] or "default"


def _asked(profile: str, environ: Mapping[str, str], config: Sequence[ProfileFile]) -> tuple[str, str]:
    """The profile that is asked for, and the line of the configuration if that does."""
    asked = profile or environ.get(PROFILE_VARIABLE, "")
    return (config[0].base, config[0].base_at) if config and not asked else (asked, "")


def _config(places: Places) -> list[ProfileFile]:
    path = places.config_file
    return [read_profile(path, base_key="profile")] if path.is_file() else []


def shipped_profiles() -> Path:
    """The folder of shipped profiles: in the installed package, or at the root of a checkout."""
    package = Path(__file__).parent
    inside = package / "profiles"
    return inside if inside.is_dir() else package.parent.parent / "profiles"


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file()]
