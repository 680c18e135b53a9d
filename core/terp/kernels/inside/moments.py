"""The person's namespace as it was when a turn began, as far as its code could have changed it since.

What a cell may change is what can be reached from the names that it mentions, also through functions of the
person that it calls: before it runs, that is kept, each object once in a turn. A look has an end: what is
too large, or cannot be read, is noted and not kept.
"""

from __future__ import annotations

import re
import sys
import threading
import time
import unicodedata
import weakref
from typing import Any

from .kept import Rules, top_of
from .known import NAME, Kinds, attributes
from .moment import ROOM, Held, Moment, is_text
from .namespace import WORD

# Processor time for a look before a cell, bytes of copies in all, and how many turns.
BUDGET_S, ROOM_IN_ALL, MOST_MOMENTS = 0.003, 256_000_000, 100
# What an object that is seen costs here, about.
SEEN_BYTES = 150
ASKED_EACH = 32
# So many are followed in any case: it may have taken time to load what knows tables.
FEW_OBJECTS = 500
# A container that takes more is measured with what is in it.
SAMPLED_BYTES = 1_000
# Threads of Jupyter's own.
JUPYTERS = (
    "ipykernel",
    "zmq",
    "jupyter_client",
    "jupyter_core",
    "tornado",
    "terp_home",
    "IPython",
    "asyncio",
    "traitlets",
)
TOO_MUCH = "too much to look through"

# Words of code after which any name may be another, and lines that are commands of IPython.
ALL = set(
    str.split("""
        exec eval globals locals vars compile __import__ get_ipython __main__ __name__ __globals__ gc inspect
        modules currentframe _getframe f_globals f_locals f_back ctypes user_ns
    """)
)
COMMAND = re.compile(r"(^|=)\s*[%!?]|\?\s*$", re.MULTILINE).search
# IPython's own names, which go on.
IPYTHONS = ("_", "__", "___", "In", "Out", "_ih", "_oh", "_dh", "_i", "_ii", "_iii", "_exit_code")
NUMBERED = re.compile(r"_i?\d+").fullmatch


def is_kept(name: Any, value: Any, hidden: Any) -> bool:
    """Whether a name is the person's: a variable, a function or a module, private or not."""
    if type(name) is not str or (name in hidden and hidden[name] is value):
        return False
    return name[:1] != "_" or not (name in IPYTHONS or NUMBERED(name) or name.endswith("__"))


def words_of(code: str) -> set[str]:
    """The words of code, also as Python reads those that are written in another way."""
    words = set(WORD.findall(code))
    return words if code.isascii() else words.union(WORD.findall(unicodedata.normalize("NFKC", code)))


def is_theirs(thread: threading.Thread) -> bool:
    """Whether code of the person has started a thread that is still there."""
    if thread is threading.main_thread() or isinstance(thread, threading._DummyThread):
        return False
    target = getattr(thread, "_target", None) or thread.run
    modules = (str(getattr(target, "__module__", "") or ""), type(thread).__module__)
    return not any(module.startswith(JUPYTERS) for module in modules)


class Moments:
    """The turns that can be gone back to; those until number `dropped` cannot any more."""

    def __init__(self, shell: Any, kinds: Kinds) -> None:
        self.shell = shell
        self.kinds = kinds
        self.names = shell.user_ns
        self.rules = Rules(shell.user_ns)
        self.kept: list[Moment] = []
        self.dropped = -1
        self.there = {thread.ident for thread in threading.enumerate()}
        # The last copies of arrays, by the ids of these.
        self.copies: dict[int, Any] = {}

    def begin(self, number: Any, code: str) -> list[Moment]:
        """A cell of a turn begins; one of nobody's turn is part of the last. The moments forgotten for it."""
        self.names = self.rules.names = self.shell.user_ns
        last = self.kept[-1].number if self.kept else 0
        if not self.kept or (type(number) is int and number > last):
            number = number if type(number) is int else last
            self.kept.append(Moment(number, self.names))
            self.kept[-1].threads = self.threads()
        look = Look(self, self.kept[-1])
        look.mention(words_of(code))
        if COMMAND(code):
            look.mention(ALL)
        look.take(sys.path)
        look.finish()
        self.copies = {key: copy for key, copy in self.copies.items() if copy[0]() is not None}
        return self.drop()

    def threads(self) -> set[str]:
        """The names of the threads that code of the person has started and that are still there."""
        new = (thread for thread in threading.enumerate() if thread.ident not in self.there)
        return {thread.name for thread in new if is_theirs(thread)}

    def end(self, changed: set[str]) -> None:
        """A cell is over: what it has changed unforeseen is noted."""
        moment = self.kept[-1]
        for name in changed:
            if name in moment.names and name not in moment.held and not self.is_foreseen(moment, name):
                moment.unforeseen.add(name)

    def is_foreseen(self, moment: Moment, name: str) -> bool:
        """Whether what has changed behind a name was found from another: it, or the memory that it shows."""
        value = self.names.get(name)
        if id(value) != moment.ids.get(name, id(value)):
            return False
        left = [value, attributes(value)]
        while left:
            one = left.pop()
            if id(one) in moment.seen or id(one) in moment.doubts:
                return True
            rule = self.rules.of(one) if is_of_tables(one) else None
            left += [part for part in rule(one, Nothing()) if is_of_tables(part)] if rule else []
        return False

    def since(self, number: int) -> list[Moment]:
        """The moments of a turn and of those after it, oldest first."""
        return [moment for moment in self.kept if moment.number >= number]

    def drop(self) -> list[Moment]:
        """Forget the oldest, as there is too much; those that were forgotten."""
        gone: list[Moment] = []
        size = sum(moment.size for moment in self.kept)
        while len(self.kept) > 1 and (size > ROOM_IN_ALL or len(self.kept) > MOST_MOMENTS):
            oldest = self.kept.pop(0)
            size -= oldest.size
            self.dropped = oldest.number
            self.copies.clear()
            gone.append(oldest)
        return gone


def is_of_tables(value: Any) -> bool:
    """Whether a value is an array or a table, or a part of one."""
    return top_of(type(value)) in ("numpy", "pandas")


class Nothing:
    """Keeps nothing of what a rule finds."""

    def keep(self, back: Any, value: Any, state: Any, size: int) -> None:
        """Nothing is kept."""

    def opaque(self, value: Any, why: str = "", tells: Any = None) -> None:
        """Nothing is noted."""

    def behind(self, parts: Any, tells: Any = None) -> None:
        """Nothing is followed."""

    def mention(self, words: set[str]) -> None:
        """What a function would use when it is called is not what it holds."""

    def has_room(self, size: int) -> bool:
        """Nothing is copied, so that there is."""
        return True

    def copied(self, array: Any, is_same: Any) -> tuple[Any, int]:
        """Nothing is copied."""
        return None, 0


class Look:
    """One look, before a cell: follows objects from names, and asks the rules what to keep."""

    def __init__(self, moments: Moments, moment: Moment, budget_s: float = BUDGET_S) -> None:
        self.moments = moments
        self.moment = moment
        self.deadline = time.thread_time() + budget_s
        self.words: set[str] = set()
        self.bound: dict[str, Any] = {}
        self.visited: dict[int, Any] = {}
        self.parents: dict[int, list[int]] = {}
        self.kept: dict[int, list[tuple[Any, Any, Any, int]]] = {}
        self.opaques: dict[int, tuple[str, Any, Any]] = {}
        self.queue: list[Any] = []
        self.hidden: dict[int, Any] = {}
        self.waiting: list[Any] = []
        self.proof: tuple[Any, Any] = (None, None)
        self.is_behind = False
        self.size = 0

    def mention(self, words: set[str]) -> None:
        """Code mentions these words: some are names."""
        names = self.moments.names
        new = words - self.words
        self.words |= new
        if new & ALL:
            new = {name for name in names if type(name) is str and not name.endswith("__")}
            self.words |= new
        for word in new:
            if word in names and self.moment.looked_at.get(word) != id(names[word]):
                self.moment.looked_at[word] = id(names[word])
                self.bound[word] = names[word]
                self.queue.append(names[word])

    def take(self, value: Any) -> None:
        """Look at an object without a name, too."""
        self.queue.append(value)

    def keep(self, back: Any, value: Any, state: Any, size: int) -> None:
        """The state of an object is kept; `back(value, state)` puts it back and tells what that did."""
        if size > SAMPLED_BYTES:
            # With what is in it, about.
            size = self.moments.kinds.size(value) or size
        self.kept.setdefault(id(value), []).append((back, value, state, size))
        self.visited.setdefault(id(value), value)
        self.size += size

    def opaque(self, value: Any, why: str = "", tells: Any = None) -> None:
        """An object cannot be kept. What it `tells` of itself may prove later that it is as it was."""
        self.visited.setdefault(id(value), value)
        self.opaques[id(value)] = (why or NAME(type(value)), tells, tells(value) if tells else None)

    def behind(self, parts: Any, tells: Any = None) -> None:
        """An opaque object holds these. They may be changed, and putting them back could break it.

        What it `tells` of itself may prove that it has changed none of them.
        """
        told = tells(None) if tells else None
        self.waiting += [(part, (tells, told)) for part in parts]

    def has_room(self, size: int) -> bool:
        """Whether so many bytes can be copied."""
        return self.moment.size + self.size + size <= ROOM

    def copied(self, array: Any, is_same: Any) -> tuple[Any, int]:
        """A copy of an array and the bytes that it takes: none if the last copy `is_same` still."""
        weak, copy = self.moments.copies.get(id(array), (None, None))
        if weak is not None and weak() is array and is_same(array, copy):
            return copy, 0
        copy = array.copy()
        self.moments.copies[id(array)] = (weakref.ref(array), copy)
        return copy, array.nbytes

    def finish(self) -> None:
        """Follow all there is to follow; what was found goes into the moment."""
        self.follow()
        tainted = self.tainted()
        moment = self.moment
        for key, value in self.visited.items():
            if key in tainted or key in self.hidden:
                if key in self.kept or key in self.opaques:
                    proof = (NAME(type(value)), *self.hidden.get(key, (None, None)))
                    moment.doubts.setdefault(key, tainted.get(key, proof))
            elif key not in moment.doubts and key not in moment.seen:
                moment.seen[key] = value
                moment.states += [kept[:3] for kept in self.kept.get(key, ())]
                moment.size += SEEN_BYTES + sum(kept[3] for kept in self.kept.get(key, ()))
        for name, value in self.bound.items():
            if name in moment.names and name not in moment.held:
                why = tainted[id(value)][0] if id(value) in tainted else None
                moment.held[name] = Held(value, why)
                moment.size += len(value) if is_text(value) else 0

    def follow(self) -> None:
        """Ask the rules about each object that can be reached, until time is up."""
        count = 0
        while self.queue or self.waiting:
            self.is_behind = not self.queue
            value, self.proof = self.waiting.pop() if self.is_behind else (self.queue.pop(), (None, None))
            if value is self.moments.names:
                self.mention(ALL)
                continue
            rule = self.rule_for(value)
            if rule is None:
                continue
            count += 1
            if count > FEW_OBJECTS and count % ASKED_EACH == 0 and time.thread_time() > self.deadline:
                self.break_off(value)
                return
            leaves, children = self.moments.rules.leaves, self.held_by(rule, value)
            # Of most that is long, nothing need be looked at.
            if leaves.issuperset(map(id, map(type, children))):
                continue
            for child in children:
                if id(type(child)) not in leaves:
                    self.parents.setdefault(id(child), []).append(id(value))
                    self.next(child)

    def next(self, child: Any) -> None:
        """Look at what an object holds, too."""
        if self.is_behind:
            self.waiting.append((child, self.proof))
        else:
            self.queue.append(child)

    def rule_for(self, value: Any) -> Any:
        """How to look at an object; None for one that never changes, or was looked at."""
        key = id(value)
        if id(type(value)) in self.moments.rules.leaves or key in self.moment.seen:
            return None
        if key in self.visited and (self.is_behind or key not in self.hidden):
            return None
        rule = self.moments.rules.of(value)
        if rule is not None:
            self.visited[key] = value
            if self.is_behind:
                self.hidden[key] = self.proof
            else:
                self.hidden.pop(key, None)
        return rule

    def held_by(self, rule: Any, value: Any) -> Any:
        """What the rule finds in an object."""
        try:
            return rule(value, self)
        except Exception:  # noqa: BLE001 - changed meanwhile by a thread, or in a state nobody foresaw
            self.opaque(value)
            return ()

    def break_off(self, value: Any) -> None:
        """Time is up: what was not looked at is not known."""
        for left in (value, *self.queue, *(part for part, _ in self.waiting)):
            known = id(left) in self.moment.seen or (id(left) in self.visited and left is not value)
            if not known and self.moments.rules.of(left) is not None:
                self.opaque(left, TOO_MUCH)
        self.queue.clear()
        self.waiting.clear()

    def tainted(self) -> dict[int, tuple[str, Any, Any]]:
        """What holds something opaque, with what it is: it cannot be held without holding that."""
        found = dict(self.opaques)
        left = list(found)
        while left:
            key = left.pop()
            for parent in self.parents.get(key, ()):
                if parent not in found:
                    found[parent] = (f"holds {found[key][0]}", None, None)
                    left.append(parent)
        return found
