"""The types of settings for `terp.open`; `python -m terp_cli.generate.typed` writes them."""

from collections.abc import Iterator
from pathlib import Path

import terp
from terp.settings import Settings
from terp.settings.setting import Setting, table

OWN = ("model", "approve", "tools")
"""Settings that are parameters of their own: each may also be an object."""
_HEAD = '''"""The settings of `terp.open` with their types. Made by `python -m terp_cli.generate.typed`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict


class OpenSettings(TypedDict, total=False):
    """Every setting as a keyword; docs/settings.md describes each, with its unit and its built-in value."""
'''
_TYPES = {
    "text": "str | PathLike[str]",
    "switch": "bool",
    "whole": "int",
    "number": "float",
    "names": "Sequence[str]",
    "rules": "Sequence[str]",
    "mapping": "Mapping[str, Any]",
}


def place() -> Path:
    """Return the path of the file in a checkout."""
    return Path(terp.__file__).parent / "opening" / "typed.py"


def typed() -> str:
    """Return the content of the file."""
    return "\n".join([_HEAD, *_fields()])


def _fields() -> Iterator[str]:
    for name, row in table(Settings).items():
        if name not in OWN:
            yield f"    {name}: {_type(row)}"
    yield ""


def _type(row: Setting) -> str:
    values = dict.fromkeys([*row.choices, *([row.default] if row.choices else [])])
    kind = f"Literal[{', '.join(map(_quoted, values))}]" if values else _TYPES[row.kind]
    return f"{kind} | None" if row.default is None else kind


def _quoted(value: str) -> str:
    return f'"{value}"'


if __name__ == "__main__":
    place().write_text(typed(), encoding="utf-8")
