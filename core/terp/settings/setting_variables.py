"""The `TERP_…` variables, which set what the table of settings has."""

from collections.abc import Mapping

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.layers import Given
from terp.settings.setting import VARIABLE_PREFIX, Setting, table


def from_environment(environ: Mapping[str, str]) -> dict[str, Given]:
    """What the `TERP_…` variables set; an empty variable sets nothing.

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
    """A problem if `variable` is nearly a setting's; other programs may own names that are not."""
    from difflib import get_close_matches  # noqa: PLC0415  (for a mistake only)

    start = len(VARIABLE_PREFIX)
    names = [name[start:] for name in rows]
    near = get_close_matches(variable[start:], names, n=1, cutoff=0.8)
    return [f"{variable}: unknown setting. Did you mean {VARIABLE_PREFIX}{near[0]}?"] if near else []
