"""Names of servers, tools and parameters as Python can write them."""

import keyword
import re
from collections.abc import Iterable

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_]+")


def python_names(names: Iterable[str]) -> dict[str, str]:
    """A Python name for each, by its own name: `read-file` is `read_file`, and no two are the same.

    A name that can be written as it is stays so, whatever others would become.
    """
    own = list(dict.fromkeys(names))
    taken = {name for name in own if _is_name(name)}
    made: dict[str, str] = {}
    for name in own:
        made[name] = name if name in taken else _free(_name_like(name), taken)
        taken.add(made[name])
    return made


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")


def _name_like(name: str) -> str:
    plain = _NOT_IN_A_NAME.sub("_", name).strip("_") or "unnamed"
    if plain[0].isdigit():
        return f"n{plain}"
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def _free(wanted: str, taken: set[str]) -> str:
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
