"""A group of entries in a YAML file of settings: each mistake in it has a line of its own."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from terp.settings.profile_values import free_value, hint, quoted, value_of
from terp.settings.setting import Setting, table


@dataclass
class Group:
    """The entries by name, and what is wrong with others: the line, and a sentence."""

    value: dict[str, Any] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)


def read_group(row: Setting, node: Any, path: str) -> Group:
    """What a YAML mapping gives a setting of this kind; `path` is its name in the file."""
    group = Group()
    for key, one in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if key.id != "scalar" or not re.fullmatch(row.keys, name):
            group.problems.append((line, f"'{path}': {quoted(key)} cannot be a name here."))
        elif name in group.value:
            group.problems.append((line, f"'{path}.{name}' is set twice."))
        else:
            _take(group, row, name, one, path)
    return group


def _take(group: Group, row: Setting, name: str, node: Any, path: str) -> None:
    line = node.start_mark.line + 1
    if row.free:
        _take_free(group, name, node, path)
        return
    if row.each is None:
        _take_value(group, Setting(row.about), name, node, path)
        return
    if node.id != "mapping":
        group.problems.append((line, f"'{path}.{name}' is {quoted(node)}, must be a group of settings."))
        return
    fields = _fields(table(row.each), node, f"{path}.{name}")
    made = row.each(**fields.value)
    if made.problem and not fields.problems:
        fields.problems.append((line, f"'{path}.{name}' {made.problem}."))
    group.problems += fields.problems
    group.value[name] = made


def _fields(rows: Mapping[str, Setting], node: Any, path: str) -> Group:
    """The settings of one entry."""
    fields = Group()
    for key, one in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        row = rows.get(name)
        if row is None:
            problem = unknown(f"{path}.{name}", list(rows), f"There are: {', '.join(rows)}.")
            fields.problems.append((line, problem))
        elif name in fields.value:
            fields.problems.append((line, f"'{path}.{name}' is set twice."))
        elif row.kind == "mapping" and one.id == "mapping":
            inner = read_group(row, one, f"{path}.{name}")
            fields.value[name] = inner.value
            fields.problems += inner.problems
        else:
            _take_value(fields, row, name, one, path)
    return fields


def _take_free(group: Group, name: str, node: Any, path: str) -> None:
    try:
        group.value[name] = free_value(node)
    except ValueError:
        group.problems.append((node.start_mark.line + 1, f"'{path}.{name}' has a name twice."))


def _take_value(group: Group, row: Setting, name: str, node: Any, path: str) -> None:
    try:
        group.value[name] = value_of(row, node)
    except ValueError:
        why = f"'{path}.{name}' is {quoted(node)}, must be {row.rule}.{hint(row, node)}"
        group.problems.append((node.start_mark.line + 1, why))


def unknown(name: str, known: list[str], otherwise: str) -> str:
    """The sentence about a setting that there is not, which ends in the nearest one, or as given."""
    from difflib import get_close_matches  # noqa: PLC0415  (for a mistake only)

    near = get_close_matches(name.rpartition(".")[2].replace("-", "_").lower(), known, n=1)
    return f"unknown setting '{name}'. " + (f"Did you mean '{near[0]}'?" if near else otherwise)
