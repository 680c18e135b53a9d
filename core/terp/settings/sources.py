"""Values of settings from several sources, in order of precedence; and the `TERP_…` variables."""

from collections.abc import Mapping, Sequence
from typing import Any

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.setting import VARIABLE_PREFIX, Setting, table
from terp.text.dataclasses import dataclass
from terp.text.wording import did_you_mean


@dataclass(frozen=True, slots=True)
class Given:
    """A value and its source; rules, and entries of a group, have one place each in `places`.

    `by_project` is True if it comes from a project, and not from the user.
    """

    value: Any
    origin: str
    places: tuple[str, ...] = ()
    by_project: bool = False

    def beside(self, weaker: "Given") -> "Given":
        """Return this value and the rules of another source together."""
        origins = dict.fromkeys((self.origin, weaker.origin))
        return Given((*self.value, *weaker.value), ", ".join(origins), (*self.all_places, *weaker.all_places))

    @property
    def all_places(self) -> tuple[str, ...]:
        """The place of each rule."""
        return self.places or (self.origin,) * len(self.value)


GivenValues = Mapping[str, Given]
_ADD_UP = frozenset({"allow", "ask", "deny"})


def combine(sources: Sequence[GivenValues]) -> Settings:
    """Return the settings of several sources, the strongest first; their rules add up."""
    given: dict[str, Given] = {}
    for values in sources:
        both = {name: given[name].beside(values[name]) for name in _ADD_UP & given.keys() & values.keys()}
        given = {**values, **given, **both}
    settled = {name: one.value for name, one in given.items()}
    return Settings(
        **settled,
        origins={name: one.origin for name, one in given.items()},
        by_project=frozenset(name for name, one in given.items() if one.by_project),
        rule_places={name: given[name].all_places for name in _ADD_UP & given.keys()},
    )


def from_environment(environ: Mapping[str, str]) -> dict[str, Given]:
    """Return the values that the `TERP_…` variables set; an empty variable sets none.

    Raises:
        SettingsError: a value is wrong, or a name is nearly that of a setting.
    """
    rows = {row.variable: row for row in table(Settings).values()}
    given: dict[str, Given] = {}
    problems: list[str] = []
    for variable, text in environ.items():
        row = rows.get(variable)
        if not variable.startswith(VARIABLE_PREFIX) or not text:
            continue
        if row is None:
            problems += _likely_typo(variable, rows)
            continue
        try:
            given[row.name] = Given(row.parse(text), variable)
        except ValueError:
            problems.append(f'{variable} is "{text}", must be {row.rule}.')
    if problems:
        raise SettingsError(problems)
    return given


def _likely_typo(variable: str, rows: Mapping[str, Setting]) -> list[str]:
    """Return a problem if `variable` looks like a misspelt setting; other names may be another program's."""
    start, shown = len(VARIABLE_PREFIX), f"{VARIABLE_PREFIX}{{}}"
    hint = did_you_mean(variable[start:], [name[start:] for name in rows], shown=shown, cutoff=0.8)
    return [f"{variable}: unknown setting. {hint}"] if hint else []
