"""The settings that a client may request for a session, and their limits."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.setting import Setting, table

# A path would name any file of this machine.
_PROFILE = re.compile(r"\w[\w-]{0,63}")
ORIGIN = "client"
OF_CLIENTS = tuple(name for name, row in table(Settings).items() if "wire" in row.sources)
"""The settings that a client may send: none of them lets code, keys or files out of the person's hands."""
_KEPT = ("max_budget_usd", "max_month_usd", "max_turn_usd", "session_quota_mb")


@dataclass(frozen=True)
class SessionRequest:
    """A client's request for a session: a profile by name, a model, a working directory, settings.

    With `asked` its person decides about all code, also where the server was started to run it unasked.
    """

    profile: str = ""
    model: str = ""
    cwd: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: bool = False


def settings_for(
    wishes: SessionRequest, started: Settings, of_profile: Callable[[str], Settings]
) -> Settings:
    """The settings of a session, of those that the server was `started` with.

    A profile decides about the model and the conversation, and about nothing else: it was written for
    somebody at a terminal. What code may do and where it runs stays as the server was started.

    Raises:
        SettingsError: with every wish that cannot be granted.
    """
    problems = _problems(wishes)
    if problems:
        raise SettingsError(problems)
    settings = started
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
    """The JSON Schema of the settings that a client may send, from the table of settings."""
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
    """Settings as a client sent them.

    Raises:
        ValueError: one is not for clients, or has a wrong value.
    """
    read = {name: _read(name, value) for name, value in sent.items()}
    if problems := _wrong(read):
        raise ValueError(" ".join(problems))
    return read


def _read(name: str, value: Any) -> Any:
    """The value; to JSON Schema 5.0 is a whole number."""
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
