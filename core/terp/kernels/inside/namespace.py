"""Changes of a cell in the user's namespace: new, changed and removed names.

It costs a few microseconds for each name, and has an end: with many names only those are compared that
the cell mentions, and the new ones.
"""

from __future__ import annotations

import re
import time
from itertools import islice
from typing import Any

from .home import Home
from .known import Kinds, is_module, printable, type_name
from .marks import FEW, MANY, Mark, Marks, differ

# Names that are compared, or reported, after each cell, and the time limit before and after it.
MOST, MOST_REPORTED, BUDGET_S = 500, 20, 0.0008
MOST_WITH_PRIVATE = 20_000
LONGEST_CODE, LONGEST_NAME = 20_000, 60
WORD = re.compile(r"[^\W\d]\w*")


def is_theirs(name: Any, value: Any, hidden: Any) -> bool:
    """Return True if a name is the user's: no module, not private, not of IPython or terp."""
    if type(name) is not str or name[:1] == "_" or is_module(value):
        return False
    return not (name in hidden and hidden[name] is value)


class Namespace:
    """Compares the namespace before and after a cell.

    The look after a cell is the look before the next one, so what a thread does in between belongs to
    the next one.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.kinds = Kinds()
        self.marks = Marks(self.kinds)
        self.before: Any = None
        self.is_part = False
        self.deep: dict[str, Mark] = {}
        self.length = self.cells = 0
        self.found: dict[str, Any] = {}
        self.changed: set[str] = set()

    @property
    def names(self) -> Any:
        """The namespace itself."""
        return self.home.shell.user_ns

    def has_many(self) -> bool:
        """Return True if there are too many names to compare each. IPython adds two with every cell."""
        length = len(self.names)
        return length - 2 * self.cells > MOST or length > MOST_WITH_PRIVATE

    def begin(self, code: Any) -> None:
        """A cell begins: look closer at the names that its code mentions."""
        self.cells += 1
        self.found = {}
        self.kinds.renew()
        names, hidden = self.names, self.home.shell.user_ns_hidden
        self.length = len(names)
        words = set(WORD.findall(code[:LONGEST_CODE])) if type(code) is str else set()
        mentioned = {word: names[word] for word in words if word in names}
        if self.has_many():
            self.before, self.is_part = self.look(dict(islice(mentioned.items(), MOST))), True
        elif self.before is None:
            self.before = self.look(dict(names))
        self.deep = {}
        deadline = time.perf_counter() + BUDGET_S
        for name, value in mentioned.items():
            if time.perf_counter() > deadline:
                break
            if is_theirs(name, value, hidden):
                self.deep[name] = self.marks.of(value, MANY)

    def look(self, names: dict[Any, Any]) -> dict[str, Mark]:
        """Return the marks of the user's names among `names`; only of identities after the time limit."""
        hidden, mark = self.home.shell.user_ns_hidden, self.marks.of
        deadline = time.perf_counter() + BUDGET_S
        marks: dict[str, Mark] = {}
        for name, value in names.items():
            if is_theirs(name, value, hidden):
                marks[name] = mark(value, FEW if time.perf_counter() < deadline else 0)
        return marks

    def compare(self) -> None:
        """A cell is over: `found` is what it has changed, as `changes`, and how many `more` there are."""
        names, before = self.names, self.before
        self.kinds.renew()
        is_part = self.is_part or self.has_many()
        if is_part:
            now = self.look({name: names[name] for name in before if name in names})
            new, more = self.newest(before, now)
        else:
            now = self.look(dict(names))
            new, more = [name for name in now if name not in before], 0
        changed = [name for name in now if name in before and self.has_changed(name, before[name], now[name])]
        removed = [name for name in before if name not in now]
        self.before, self.is_part, self.deep = None if is_part else now, False, {}
        found = [("new", name) for name in new] + [("changed", name) for name in changed]
        found += [("removed", name) for name in removed]
        self.changed = {*changed, *removed}
        rows = [self.row(action, name) for action, name in found[:MOST_REPORTED]]
        self.found = {"changes": rows, "more": more + len(found) - len(rows)}

    def has_changed(self, name: str, before: Mark, now: Mark) -> bool:
        """Return True if a name has another object, or one with another content."""
        if any(self.names[name] is stream for stream in self.home.streams):
            # Printing changes it, and output is shown anyway.
            return False
        if differ(before, now):
            return True
        deep = self.deep.get(name)
        return deep is not None and differ(deep, self.marks.of(self.names[name], MANY))

    def newest(self, before: dict[str, Mark], now: dict[str, Mark]) -> tuple[list[str], int]:
        """New names among many, the last ones of the namespace, and how many more came or went."""
        count = len(self.names) - self.length + len(before) - len(now)
        latest = list(islice(reversed(self.names.items()), max(0, min(count, MOST))))
        hidden = self.home.shell.user_ns_hidden
        new = [name for name, value in latest if name not in before and is_theirs(name, value, hidden)]
        return new[::-1], max(0, abs(count) - MOST) if count > 0 else -count

    def row(self, action: str, name: str) -> tuple[Any, ...]:
        """Return the report of a name: action, name, type, shape and size."""
        if action == "removed":
            return (action, printable(name, LONGEST_NAME), "", (), None)
        value = self.names[name]
        shape, size = self.kinds.shape(value), self.kinds.size(value)
        return (action, printable(name, LONGEST_NAME), type_name(value), shape, size)
