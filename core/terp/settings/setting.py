"""One setting: its name, parser, limits and description.

A field of a dataclass declares one with `setting(…)`, which stores the facts in the field's
metadata; `table(…)` returns them as rows.
"""

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, cast

from terp.text.dataclasses import Field, dataclass, field, fields, replace

Kind = Literal["text", "switch", "whole", "number", "names", "rules", "mapping"]
Source = Literal["flag", "variable", "user", "project", "wire"]
"""The origin of a value: a call, its environment, files of the user or of a project, a client of a server."""
T = TypeVar("T")

BY_CALL: tuple[Source, ...] = ("flag", "variable")
BY_PERSON: tuple[Source, ...] = (*BY_CALL, "user")
BY_PROJECT: tuple[Source, ...] = (*BY_PERSON, "project")
BY_ANYBODY: tuple[Source, ...] = (*BY_PROJECT, "wire")

VARIABLE_PREFIX = "TERP_"
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table: the name, parser, limits and description of a setting.

    `unset` describes a default (0, empty, none) that is not an ordinary value. With `optional`, a flag may
    come without a value: the next word is its value only if it has this form. Names that `are_paths` are
    relative to the file of settings that they stand in. `sources` lists who may set it, by default only the
    user. Settings that could expose code, keys or conversations stay so.

    "rules" of all sources add up; a flag has one rule, a variable one on each line.

    A "mapping" holds entries by name: text, or instances of the dataclass `each`, whose fields are settings
    and whose `problem` names the mistake in one. `keys` is the form of the names. It has no flag, unless it
    is `free`: its entries are then any JSON values, and each flag adds one, as NAME=VALUE.
    """

    about: str
    group: str = ""
    kind: Kind = "text"
    flags: tuple[str, ...] = ()
    metavar: str = ""
    unit: str = ""
    unset: str = ""
    choices: tuple[str, ...] = ()
    limits: tuple[float, float] = (0, math.inf)
    sources: tuple[Source, ...] = BY_PERSON
    are_paths: bool = False
    optional: str = ""
    each: Any = None
    keys: str = ".+"
    free: bool = False
    name: str = ""
    default: Any = None

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return VARIABLE_PREFIX + self.name.upper()

    @property
    def in_files(self) -> bool:
        """Return True if a file may set it, not only a flag of one call."""
        return "user" in self.sources

    @property
    def has_flag(self) -> bool:
        """Return True if a flag sets it; a group of entries does not fit into one."""
        return self.kind != "mapping" or self.free

    @property
    def rule(self) -> str:
        """Return the rule for values, to follow "must be"."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        low, high = self.limits
        span = f"{low:g} or more" if high == math.inf else f"from {low:g} to {high:.12g}"
        return {
            "text": "text",
            "switch": "true or false",
            "whole": f"a whole number, {span}",
            "number": f"a number, {span}",
            "names": "a list of names",
            "rules": "a list of rules",
            "mapping": "a group of entries by name" + (", in a flag NAME=VALUE" if self.free else ""),
        }[self.kind]

    def parse(self, text: str) -> Any:
        """Return the value that `text` means.

        Raises:
            ValueError: the text is invalid; `rule` describes valid ones.
        """
        if self.kind == "text":
            return self._one_of_the_choices(text)
        if self.kind == "names":
            return tuple(name for part in text.split(",") if (name := part.strip()))
        if self.kind == "rules":
            return tuple(rule for line in text.splitlines() if (rule := line.strip()))
        if self.kind == "switch":
            return _truth(text)
        if self.kind == "mapping":
            one_entry = self.free and not text.lstrip().startswith("{")
            return self.checked(_free_entry(text) if one_entry else json.loads(text))
        return self._within_limits(int(text) if self.kind == "whole" else float(text))

    def checked(self, value: Any) -> Any:
        """Return `value`, set by a program, if it is valid; a path becomes text.

        Raises:
            ValueError: it is invalid (text is no bool); `rule` describes valid ones.
        """
        if type(value) is type(self.default) and value == self.default:
            return value
        if self.kind in ("names", "rules") and _are_names(value):
            return tuple(value)
        if self.kind == "text" and isinstance(value, str | os.PathLike):
            return self._one_of_the_choices(os.fspath(value))
        if self.kind == "switch" and isinstance(value, bool):
            return value
        if self.kind == "mapping" and isinstance(value, Mapping):
            return {self._key(name): self._entry(one) for name, one in value.items()}
        numbers = int if self.kind == "whole" else int | float
        # To Python, True is a whole number.
        if self.kind in ("whole", "number") and isinstance(value, numbers) and not isinstance(value, bool):
            return self._within_limits(value)
        raise ValueError(value)

    def _key(self, name: Any) -> str:
        if not isinstance(name, str) or not re.fullmatch(self.keys, name):
            raise ValueError(name)
        return name

    def _entry(self, value: Any) -> Any:
        if self.free:
            return value
        if self.each is None:
            return Setting(self.about).checked(value)
        if isinstance(value, self.each):
            return value
        rows = table(self.each)
        if not isinstance(value, Mapping) or not value.keys() <= rows.keys():
            raise ValueError(value)
        made = self.each(**{name: rows[name].checked(one) for name, one in value.items()})
        if made.problem:
            raise ValueError(made.problem)
        return made

    def _one_of_the_choices(self, text: str) -> str:
        if self.choices and text not in self.choices:
            raise ValueError(text)
        return text

    def _within_limits(self, number: float) -> float:
        low, high = self.limits
        # A comparison with nan is false, and an endless limit is written 0.
        if not (low <= number <= high) or math.isinf(number):
            raise ValueError(number)
        return number


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _free_entry(text: str) -> Mapping[str, Any]:
    """Return the entry NAME=VALUE. A value that is JSON is parsed, any other is text."""
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise ValueError(text)
    try:
        return {name.strip(): json.loads(value)}
    except ValueError:
        return {name.strip(): value.strip()}


def _truth(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(text)
    return word in _TRUE


def setting(default: T, about: str, **facts: Any) -> T:
    """Return a dataclass field for a setting; its kind follows from the default unless `facts` name one."""
    kinds = {bool: "switch", int: "whole", float: "number", tuple: "names", dict: "mapping"}
    facts.setdefault("kind", kinds.get(type(default), "text"))
    row = Setting(about, default=default, **facts)
    if isinstance(default, Mapping):
        return cast("T", field(default_factory=dict, hash=False, metadata={"setting": row}))
    return field(default=default, metadata={"setting": row})


def table(declared: type) -> dict[str, Setting]:
    """Return the settings that a dataclass declares, by name, in order."""
    own: Sequence[Field[Any]] = fields(declared)
    return {one.name: replace(one.metadata["setting"], name=one.name) for one in own if one.metadata}
