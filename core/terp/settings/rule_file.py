"""Rules added to the user's settings file, whose other lines and comments stay as they are."""

import json
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from terp.errors import TerpError
from terp.settings.profile_file import UnreadableSettings, short_path
from terp.settings.yaml_entries import entries
from terp.text.files import write_whole

_SIMPLE = re.compile(r"[a-z]+: [\w./][\w./ -]*")


class RuleKeeper:
    """Adds rules below `allow:` of a settings file, for all sessions from now on."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def preview(self, rules: Sequence[str]) -> tuple[str, list[str]]:
        """Return the file and the line at which rules would be added, and the lines of YAML with them.

        Raises:
            TerpError: as `keep`.
        """
        return f"{short_path(self._path)}:{self._changed(rules)[1]}", _as_yaml(rules)

    def keep(self, rules: Sequence[str]) -> str:
        """Add rules; return the file and the line of the first.

        Raises:
            TerpError: the file cannot be read or written, or has `allow` in a form that cannot be extended.
        """
        text, line = self._changed(rules)
        # A link, as to a folder of settings that is kept elsewhere, stays one.
        path = self._path.resolve()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
            write_whole(path, text.encode(), mode)
        except OSError as error:
            raise TerpError(f"{short_path(self._path)} cannot be written: {error.strerror}.") from error
        return f"{short_path(self._path)}:{line}"

    def _changed(self, rules: Sequence[str]) -> tuple[str, int]:
        """Return the text of the file with the rules, and the number of the first line of them."""
        try:
            before = self._path.read_text(encoding="utf-8") if self._path.exists() else ""
            after, line = with_rules(before, rules)
        except (OSError, UnicodeDecodeError, UnreadableSettings) as error:
            why = error.why if isinstance(error, UnreadableSettings) else str(error)
            raise TerpError(
                f"The rule cannot be added to {short_path(self._path)}: {why}",
                "Add it there by hand, below `allow:`.",
            ) from error
        return after, line


def with_rules(text: str, rules: Sequence[str]) -> tuple[str, int]:
    """Return a settings file with more rules below `allow`, and the number of the first new line.

    Raises:
        UnreadableSettings: the file is not readable, or has another `allow` than a list.
    """
    lines = text.splitlines(keepends=True)
    found = entries(text) if any(line.partition("#")[0].strip() for line in lines) else ()
    node = next((value for _, name, value in found if name == "allow"), None)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    at, added = _insertion(node, lines, rules)
    after = "".join([*lines[:at], *(f"{line}\n" for line in added), *lines[at:]])
    if _allowed(after) != [*_allowed(text), *_allowed("\n".join(_as_yaml(rules)))]:
        raise UnreadableSettings(at + 1, "its `allow` is not a list with one rule on each line.")
    return after, at + 1 + (node is None)


def _insertion(node: Any, lines: Sequence[str], rules: Sequence[str]) -> tuple[int, list[str]]:
    """Return the index of the line before which rules are added, and the lines."""
    if node is None:
        return len(lines), _as_yaml(rules)
    added = [f"- {_written(rule)}" for rule in rules]
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        last_rule = node.value[-1]
        # A mapping ends where the next token begins, behind comments; its value ends where it is written.
        last = (last_rule.value[-1][1] if isinstance(last_rule, yaml.MappingNode) else last_rule).end_mark
        indent = " " * node.start_mark.column
        return last.line + (last.column > 0), [indent + line for line in added]
    return node.start_mark.line + 1, [f"  {line}" for line in added]


def _allowed(text: str) -> list[Any]:
    try:
        allowed = (yaml.safe_load(text) or {}).get("allow")
    except yaml.YAMLError:
        return []
    return list(allowed) if isinstance(allowed, list) else []


def _as_yaml(rules: Sequence[str]) -> list[str]:
    """Return the lines of YAML that hold rules, in a file without any."""
    return ["allow:", *(f"  - {_written(rule)}" for rule in rules)]


def _written(text: str) -> str:
    """Return a rule as a value of YAML."""
    return text if _SIMPLE.fullmatch(text) else json.dumps(text)
