"""One value in a YAML file of settings, from its node: what it means, or how to quote what is wrong."""

from typing import Any

from terp.settings.setting import Setting

_TAGS = {
    "switch": {"tag:yaml.org,2002:bool"},
    "whole": {"tag:yaml.org,2002:int"},
    "number": {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"},
    "text": {"tag:yaml.org,2002:str"},
}


def value_of(row: Setting, node: Any) -> Any:
    """The value that a node gives a setting.

    Raises:
        ValueError: it is of another kind, or out of its limits.
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
    """What a node says by itself, as JSON could: text, a number, a switch, nothing, a list or a group.

    Raises:
        ValueError: a group in it has a name twice.
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
    """A rule as text; without quotes YAML takes `shell: git status` for a group of one entry."""
    if node.id != "mapping":
        return _name(node)
    if len(node.value) != 1:
        raise ValueError(node.value)
    form, rest = node.value[0]
    if form.id != "scalar" or rest.id != "scalar":
        raise ValueError(node.value)
    return f"{form.value}: {rest.value}"


def quoted(node: Any) -> str:
    """What the person wrote, as they would recognise it."""
    if node.id != "scalar":
        return {"sequence": "a list", "mapping": "a group of settings"}[node.id]
    if node.tag == "tag:yaml.org,2002:null":
        return "empty"
    if node.tag not in _TAGS["text"]:
        return str(node.value)
    short = node.value if len(node.value) <= 60 else node.value[:57] + "…"
    return f'"{short}"'


def hint(row: Setting, node: Any) -> str:
    """What to write instead, where that can be told; to follow the sentence that says what is wrong."""
    if row.kind == "names" and node.id == "sequence" and all(one.id == "scalar" for one in node.value):
        return " Put what is no text in quotes."
    if row.kind == "text" and node.id == "scalar" and not row.choices and node.value:
        return f' Put it in quotes: "{node.value}".'
    return ""
