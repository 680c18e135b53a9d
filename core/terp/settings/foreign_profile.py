"""A profile of Open Interpreter converted to settings of terp, with a line about each entry that has none."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.profile_file import UnreadableSettings, content_of, decoded_text, short_path
from terp.settings.profile_values import value_of
from terp.settings.setting import Setting, table
from terp.text.dataclasses import dataclass

_NAMES: Mapping[str, str] = {
    "model": "model",
    "temperature": "temperature",
    "api_base": "api_base",
    "api_version": "api_version",
    "max_tokens": "max_tokens",
    "context_window": "context_window",
    "supports_functions": "supports_tools",
    "supports_vision": "supports_vision",
    "max_budget": "max_budget_usd",
    "custom_instructions": "instructions",
    "system_message": "system_message",
    "auto_run": "auto_run",
    "max_output": "max_output_chars",
}
"""The names of settings there, at the top or below `llm`, with terp's own."""
_WHY_NOT: Mapping[str, str] = {
    "api_key": "a key does not belong in a profile; terp keys set PROVIDER stores it",
    "safe_mode": "code always needs approval unless auto_run is on",
    "offline": "terp itself uses the network only for the model",
    "local": "extends: local is the profile for a model on this machine",
    "verbose": "-v says more",
    "debug": "--debug says more",
    "os": "the screen and the mouse are not controlled",
    "speak_messages": "answers are not spoken",
    "loop": "a task is not repeated by itself",
    "computer": "code has no special interface to the computer here",
    "disable_telemetry": "there is no telemetry",
    "anonymized_telemetry": "there is no telemetry",
    "anonymous_telemetry": "there is no telemetry",
    "version": "it is the version of that format",
}


@dataclass(frozen=True, slots=True)
class ForeignProfile:
    """A converted profile. `text` is its YAML; `left_out` has "LINE: NAME: why" for each other entry."""

    text: str
    left_out: tuple[str, ...] = ()


def read_foreign_profile(path: Path) -> ForeignProfile:
    """Return the settings of the profile at `path`. It is read, never run.

    Raises:
        SettingsError: it is a program, or no profile.
    """
    if path.suffix == ".py":
        fact = "is a program, and would have to run. Write its settings as lines of YAML, and import those."
        raise SettingsError([f"{short_path(path)}: {fact}"])
    place = short_path(path)
    try:
        return _translated(decoded_text(content_of(path)))
    except UnreadableSettings as refused:
        line = f"{place}:{refused.line}" if refused.line else place
        raise SettingsError([f"{line}: {refused.why}"]) from refused


def _translated(text: str) -> ForeignProfile:
    given: dict[str, Any] = {}
    left_out: list[str] = []
    rows = table(Settings)
    for line, name, node in _flat(text):
        key = name.rpartition(".")[2]
        row = rows.get(_NAMES.get(key, ""))
        if row is None:
            left_out.append(f"{line}: {name}: {_why_not(name)}.")
        elif (value := _value(row, node)) is None:
            left_out.append(f"{line}: {name}: {row.name} must be {row.rule}.")
        elif row.name in given:
            left_out.append(f"{line}: {name}: {row.name} is set above.")
        else:
            given[row.name] = value
    return ForeignProfile(_dumped(given), tuple(left_out))


def _flat(text: str) -> Iterator[tuple[int, str, Any]]:
    """Yield line, name and node of every entry; names in the group `llm` are `llm.name`."""
    from terp.settings.yaml_entries import entries  # noqa: PLC0415  (imports yaml)

    for line, name, node in entries(text):
        if name != "llm" or node.id != "mapping":
            yield line, name, node
            continue
        for key, value in node.value:
            yield key.start_mark.line + 1, f"llm.{key.value}", value


def _why_not(name: str) -> str:
    first, last = name.partition(".")[0], name.rpartition(".")[2]
    return _WHY_NOT.get(last) or _WHY_NOT.get(first) or "terp has no such setting"


def _value(row: Setting, node: Any) -> Any:
    """Return the value of a scalar node, also of text that looks like a date or a number; else None."""
    try:
        if row.kind == "text" and node.id == "scalar" and not node.tag.endswith(":null"):
            return row.parse(node.value.strip())
        return value_of(row, node)
    except ValueError:
        return None


def _dumped(given: Mapping[str, Any]) -> str:
    import yaml  # noqa: PLC0415  (see `_flat`)

    class Blocks(yaml.SafeDumper):
        """Writes text of several lines as such."""

    def written(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Blocks.add_representer(str, written)
    each = ({name: value} for name, value in given.items())
    dumped = (yaml.dump(one, Dumper=Blocks, allow_unicode=True, width=100) for one in each)
    return "".join(dumped)
