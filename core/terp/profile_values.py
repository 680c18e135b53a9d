"""One value in a YAML file of settings, from its node: what it means, or how to quote what is wrong."""

from typing import Any

from terp.setting import Setting

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
    if node.id != "scalar" or node.tag not in _TAGS.get(row.kind, ()):
        raise ValueError(node.value)
    return row.parse(node.value)


def _name(node: Any) -> str:
    if node.id != "scalar" or node.tag not in _TAGS["text"] or not node.value.strip():
        raise ValueError(node.value)
    return str(node.value)


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
