"""Values and groups in a YAML file of settings, read from their nodes; each mistake has a line."""

import re
from collections.abc import Mapping
from typing import Any

from terp.settings.setting import Setting, table
from terp.text.dataclasses import dataclass, field
from terp.text.wording import did_you_mean, shortened

_TAGS = {
    "switch": {"tag:yaml.org,2002:bool"},
    "whole": {"tag:yaml.org,2002:int"},
    "number": {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"},
    "text": {"tag:yaml.org,2002:str"},
}


def value_of(row: Setting, node: Any) -> Any:
    """Return the value of a setting in a node.

    Raises:
        ValueError: it has the wrong type, or exceeds a limit.
    """
    if row.kind == "names":
        if node.id != "sequence":
            raise ValueError(node.value)
        return tuple(_name(one) for one in node.value)
    if row.kind == "rules":
        if node.id != "sequence":
            raise ValueError(node.value)
        return tuple(_rule(one) for one in node.value)
    if node.id != "scalar" or node.tag not in _TAGS.get(row.kind, ()):
        raise ValueError(node.value)
    return row.parse(node.value)


def free_value(node: Any) -> Any:
    """Return the value of a node as JSON has it: text, a number, a switch, null, a list or a group.

    Raises:
        ValueError: a group in it contains a name twice.
    """
    from yaml.constructor import SafeConstructor  # noqa: PLC0415  (few files have any)

    if node.id == "sequence":
        return [free_value(one) for one in node.value]
    if node.id == "mapping":
        group = {str(key.value): free_value(one) for key, one in node.value}
        if len(group) < len(node.value):
            raise ValueError(node.value)
        return group
    # A date and a time are text to JSON; what is more, YAML 1.1 takes 1:30 for the number 90.
    if node.tag == "tag:yaml.org,2002:timestamp" or ":" in node.value:
        return str(node.value)
    return SafeConstructor().construct_object(node)


def _name(node: Any) -> str:
    if node.id != "scalar" or node.tag not in _TAGS["text"] or not node.value.strip():
        raise ValueError(node.value)
    return str(node.value)


def _rule(node: Any) -> str:
    """Return a rule as text; without quotes YAML parses `shell: git status` as a group of one entry."""
    if node.id != "mapping":
        return _name(node)
    if len(node.value) != 1:
        raise ValueError(node.value)
    form, rest = node.value[0]
    if form.id != "scalar" or rest.id != "scalar":
        raise ValueError(node.value)
    return f"{form.value}: {rest.value}"


def quoted(node: Any) -> str:
    """Return the value as the user wrote it."""
    if node.id != "scalar":
        return {"sequence": "a list", "mapping": "a group of settings"}[node.id]
    if node.tag == "tag:yaml.org,2002:null":
        return "empty"
    if node.tag not in _TAGS["text"]:
        return str(node.value)
    return f'"{shortened(node.value, 60)}"'


def hint(row: Setting, node: Any) -> str:
    """Return a correction, to follow the sentence about the mistake; "" if there is none."""
    if row.kind == "names" and node.id == "sequence" and all(one.id == "scalar" for one in node.value):
        return " Put what is no text in quotes."
    if row.kind == "text" and node.id == "scalar" and not row.choices and node.value:
        return f' Put it in quotes: "{node.value}".'
    return ""


@dataclass(slots=True)
class Group:
    """The valid entries by name, and the mistakes in others: line and sentence."""

    value: dict[str, Any] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)


def read_group(row: Setting, node: Any, path: str) -> Group:
    """Return the entries of a YAML mapping for a setting of this kind; `path` is its name in the file."""
    group = Group()
    for key, one in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if key.id != "scalar" or not re.fullmatch(row.keys, name):
            rule = f"must be {row.metavar}" if row.metavar else "cannot be a name here"
            group.problems.append((line, f"'{path}': {quoted(key)} {rule}."))
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
    """Return the settings of one entry."""
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
    """Return the sentence about an unknown setting; it ends in the nearest name, else in `otherwise`."""
    last = name.rpartition(".")[2].replace("-", "_").lower()
    return f"unknown setting '{name}'. {did_you_mean(last, known, otherwise)}"
