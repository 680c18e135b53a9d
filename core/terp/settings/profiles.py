"""Profiles: files of settings that have a name, each of which may extend another."""

from collections.abc import Iterator
from pathlib import Path

from terp.errors import SettingsError
from terp.settings.profile_file import ProfileFile, read_profile
from terp.text.dataclasses import dataclass
from terp.text.paths import typed_path
from terp.text.wording import did_you_mean

_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """One line of `terp profiles`."""

    name: str
    path: Path
    shipped: bool
    description: str
    problems: tuple[str, ...] = ()


class Profiles:
    """The profiles that can be named: the user's, then the shipped ones."""

    def __init__(self, own: Path, shipped: Path | None = None) -> None:
        self.own = own
        self.shipped = shipped or shipped_profiles()

    def listed(self) -> Iterator[ProfileEntry]:
        """Yield every profile by name; one of the user's hides a shipped one of the same name."""
        for name, path in self._all().items():
            file = read_profile(path)
            shipped = path.parent == self.shipped
            yield ProfileEntry(name, path, shipped, file.description, tuple(file.problems))

    def names(self) -> list[str]:
        """Return the names of all profiles, without reading the files."""
        return list(self._all())

    def models(self) -> list[str]:
        """Return the models that profiles set, in the order of the profiles' names."""
        given = (read_profile(path).given.get("model") for path in self._all().values())
        return list(dict.fromkeys(str(model.value) for model in given if model is not None and model.value))

    def chain(self, name: str, asked_at: str = "") -> list[ProfileFile]:
        """Return the profile `name` (or the file, if it is a path) and those it extends, the strongest first.

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
                located = [f"{asked_at}: {line}" if asked_at else line for line in error.problems]
                raise SettingsError([*(one for file in chain for one in file.problems), *located]) from error
            chain.append(read_profile(path))
            (name, asked_at), folder = chain[-1].profile_under("extends"), path.parent
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
        if is_path(name):
            return [(folder / typed_path(name)).absolute()]
        return [place / (name + suffix) for place in (self.own, self.shipped) for suffix in _SUFFIXES]

    def _missing(self, name: str, candidates: list[Path]) -> str:
        if len(candidates) == 1:
            return f"there is no profile file '{name}'."
        names = self.names()
        hint = did_you_mean(name, names, f"There are: {', '.join(names)}.")
        return f"there is no profile '{name}'. {hint}"


def is_path(name: str) -> bool:
    """Return True if a profile is named by its file."""
    return "/" in name or name.endswith(_SUFFIXES)


def shipped_profiles() -> Path:
    """Return the folder of shipped profiles: in the installed package, or at the root of a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "profiles"
    return inside if inside.is_dir() else package.parent.parent / "profiles"


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file()]
