"""Checkpoints of the user's namespace, and the heap scan before each cell.

A cell can change the objects reachable from the names that it mentions, also through the user's functions
that it calls. Their states are saved before it runs, each object once in a turn. A scan is limited in time
and size: an object that is too large or cannot be read is noted and not saved.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
import unicodedata
import weakref
from typing import Any

from .files import cwd
from .known import NAME, Kinds, attributes
from .marks import WEAK
from .namespace import WORD
from .savers import Savers, top_of

# Bytes of copies in a turn.
ROOM = 64_000_000
# Linux dates files by CLOCK_REALTIME_COARSE, some milliseconds behind the other one; `time` does not name it.
FILES_CLOCK = 5 if sys.platform == "linux" else time.CLOCK_REALTIME
# With so many names it is not noted which object each stands for.
MANY_NAMES = 5_000


class SavedBinding:
    """The object of a name: a reference to it, or a weak one if it is opaque or too large."""

    def __init__(self, value: Any, why: str | None) -> None:
        self.id = id(value)
        self.value: Any = None
        self.weak: Any = None
        self.why = ""
        if why is None and not (is_text(value) and len(value) > ROOM):
            self.value = (value,)
            return
        self.why = why or "too large"
        if WEAK(type(value)):
            self.weak = weakref.ref(value)

    def now(self, bound: Any) -> tuple[Any, ...]:
        """Return the object in a tuple; () if it is gone. `bound` is the present object, also in a tuple."""
        if self.value:
            return tuple(self.value)
        if self.weak is not None:
            found = self.weak()
            return () if found is None else (found,)
        return bound if bound and id(bound[0]) == self.id else ()


class Checkpoint:
    """State at the beginning of a turn. `number` grows with every turn.

    `held` has the bindings of the `names` that code has mentioned since; code cannot rebind other names.
    `ids` maps all names to the ids of their objects, unless there are very many.
    """

    def __init__(self, number: int, names: Any) -> None:
        self.number = number
        self.began_ns = time.clock_gettime_ns(FILES_CLOCK)
        self.names = dict.fromkeys(names)
        self.ids = {name: id(value) for name, value in names.items()} if len(names) < MANY_NAMES else {}
        self.held: dict[str, SavedBinding] = {}
        # Objects found later behind a scanned name were created since.
        self.looked_at: dict[str, int] = {}
        self.seen: dict[int, Any] = {}
        self.states: list[tuple[Any, Any, Any]] = []
        self.doubts: dict[int, tuple[str, Any, Any]] = {}
        self.unforeseen: set[str] = set()
        self.size = 0
        self.cwd = cwd()
        self.environ = dict(os.environ)
        self.threads: set[str] = set()
        self.files: dict[str, Any] = {}


def is_text(value: Any) -> bool:
    """Return True if a value is a plain str or bytes."""
    return type(value) is str or type(value) is bytes


# Processor time for a look before a cell, bytes of copies in all, and how many turns.
BUDGET_S, ROOM_IN_ALL, MOST_CHECKPOINTS = 0.003, 256_000_000, 100
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

# Words with which code can rebind any name, and lines that are IPython commands.
ALL = set(
    str.split("""
        exec eval globals locals vars compile __import__ get_ipython __main__ __name__ __globals__ gc inspect
        modules currentframe _getframe f_globals f_locals f_back ctypes user_ns
    """)
)
COMMAND = re.compile(r"(^|=)\s*[%!?]|\?\s*$", re.MULTILINE).search
# IPython's own names, which are not restored.
IPYTHONS = ("_", "__", "___", "In", "Out", "_ih", "_oh", "_dh", "_i", "_ii", "_iii", "_exit_code")
NUMBERED = re.compile(r"_i?\d+").fullmatch


def is_kept(name: Any, value: Any, hidden: Any) -> bool:
    """Return True if a name is the user's: a variable, a function or a module, private or not."""
    if type(name) is not str or (name in hidden and hidden[name] is value):
        return False
    return name[:1] != "_" or not (name in IPYTHONS or NUMBERED(name) or name.endswith("__"))


def words_of(code: str) -> set[str]:
    """Return the words of code, also in the NFKC form in which Python reads identifiers."""
    words = set(WORD.findall(code))
    return words if code.isascii() else words.union(WORD.findall(unicodedata.normalize("NFKC", code)))


def is_users_thread(thread: threading.Thread) -> bool:
    """Return True if the user's code has started this thread."""
    if thread is threading.main_thread() or isinstance(thread, threading._DummyThread):
        return False
    target = getattr(thread, "_target", None) or thread.run
    modules = (str(getattr(target, "__module__", "") or ""), type(thread).__module__)
    return not any(module.startswith(JUPYTERS) for module in modules)


class Checkpoints:
    """The turns that can be restored; turns up to number `dropped` cannot be any more."""

    def __init__(self, shell: Any, kinds: Kinds) -> None:
        self.shell = shell
        self.kinds = kinds
        self.names = shell.user_ns
        self.savers = Savers(shell.user_ns)
        self.kept: list[Checkpoint] = []
        self.dropped = -1
        self.there = {thread.ident for thread in threading.enumerate()}
        # The last copies of arrays, by the ids of these.
        self.copies: dict[int, Any] = {}

    def begin(self, number: Any, code: str) -> list[Checkpoint]:
        """Scan before a cell of turn `number` (None: the last turn); return the dropped checkpoints."""
        self.names = self.savers.names = self.shell.user_ns
        last = self.kept[-1].number if self.kept else 0
        if not self.kept or (type(number) is int and number > last):
            number = number if type(number) is int else last
            self.kept.append(Checkpoint(number, self.names))
            self.kept[-1].threads = self.threads()
        scan = HeapScan(self, self.kept[-1])
        scan.mention(words_of(code))
        if COMMAND(code):
            scan.mention(ALL)
        scan.take(sys.path)
        scan.finish()
        self.copies = {key: copy for key, copy in self.copies.items() if copy[0]() is not None}
        return self.drop()

    def threads(self) -> set[str]:
        """Return the names of running threads that the user's code has started."""
        new = (thread for thread in threading.enumerate() if thread.ident not in self.there)
        return {thread.name for thread in new if is_users_thread(thread)}

    def end(self, changed: set[str]) -> None:
        """Note the names that a finished cell changed although the scan did not reach them."""
        checkpoint = self.kept[-1]
        for name in changed:
            if (
                name in checkpoint.names
                and name not in checkpoint.held
                and not self.is_foreseen(checkpoint, name)
            ):
                checkpoint.unforeseen.add(name)

    def is_foreseen(self, checkpoint: Checkpoint, name: str) -> bool:
        """Return True if the changed object of a name was scanned through another name, or its memory was."""
        value = self.names.get(name)
        if id(value) != checkpoint.ids.get(name, id(value)):
            return False
        left = [value, attributes(value)]
        while left:
            one = left.pop()
            if id(one) in checkpoint.seen or id(one) in checkpoint.doubts:
                return True
            saver = self.savers.of(one) if is_of_tables(one) else None
            left += [part for part in saver(one, NullScan()) if is_of_tables(part)] if saver else []
        return False

    def since(self, number: int) -> list[Checkpoint]:
        """Return the checkpoints of a turn and of later ones, oldest first."""
        return [checkpoint for checkpoint in self.kept if checkpoint.number >= number]

    def drop(self) -> list[Checkpoint]:
        """Drop the oldest checkpoints above the size limits; return them."""
        gone: list[Checkpoint] = []
        size = sum(checkpoint.size for checkpoint in self.kept)
        while len(self.kept) > 1 and (size > ROOM_IN_ALL or len(self.kept) > MOST_CHECKPOINTS):
            oldest = self.kept.pop(0)
            size -= oldest.size
            self.dropped = oldest.number
            self.copies.clear()
            gone.append(oldest)
        return gone


def is_of_tables(value: Any) -> bool:
    """Return True if a value is an array or a table, or a part of one."""
    return top_of(type(value)) in ("numpy", "pandas")


class NullScan:
    """A scan that saves nothing of what a saver finds."""

    def keep(self, back: Any, value: Any, state: Any, size: int) -> None:
        """Save nothing."""

    def opaque(self, value: Any, why: str = "", proof: Any = None) -> None:
        """Note nothing."""

    def behind(self, parts: Any, proof: Any = None) -> None:
        """Follow nothing."""

    def mention(self, words: set[str]) -> None:
        """Ignore names that a function would use."""

    def has_room(self, size: int) -> bool:
        """Return True: nothing is copied."""
        return True

    def copied(self, array: Any, is_same: Any) -> tuple[Any, int]:
        """Copy nothing."""
        return None, 0


class HeapScan:
    """The scan before a cell: follows references from names, and saves states with the savers."""

    def __init__(self, checkpoints: Checkpoints, checkpoint: Checkpoint, budget_s: float = BUDGET_S) -> None:
        self.checkpoints = checkpoints
        self.checkpoint = checkpoint
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
        """Add the names among words that code mentions."""
        names = self.checkpoints.names
        new = words - self.words
        self.words |= new
        if new & ALL:
            new = {name for name in names if type(name) is str and not name.endswith("__")}
            self.words |= new
        for word in new:
            if word in names and self.checkpoint.looked_at.get(word) != id(names[word]):
                self.checkpoint.looked_at[word] = id(names[word])
                self.bound[word] = names[word]
                self.queue.append(names[word])

    def take(self, value: Any) -> None:
        """Add an object without a name."""
        self.queue.append(value)

    def keep(self, back: Any, value: Any, state: Any, size: int) -> None:
        """Save an object's state; `back(value, state)` restores it and returns SAME, CHANGED or CANNOT."""
        if size > SAMPLED_BYTES:
            # Approximately, with its content.
            size = self.checkpoints.kinds.size(value) or size
        self.kept.setdefault(id(value), []).append((back, value, state, size))
        self.visited.setdefault(id(value), value)
        self.size += size

    def opaque(self, value: Any, why: str = "", proof: Any = None) -> None:
        """Note an object that cannot be saved; it is unchanged if `proof(value)` is equal later."""
        self.visited.setdefault(id(value), value)
        self.opaques[id(value)] = (why or NAME(type(value)), proof, proof(value) if proof else None)

    def behind(self, parts: Any, proof: Any = None) -> None:
        """Follow the parts of an opaque object: they may change, and restoring them could break it.

        An equal result of `proof(None)` later shows that it has changed none of them.
        """
        state = proof(None) if proof else None
        self.waiting += [(part, (proof, state)) for part in parts]

    def has_room(self, size: int) -> bool:
        """Return True if so many bytes can be copied."""
        return self.checkpoint.size + self.size + size <= ROOM

    def copied(self, array: Any, is_same: Any) -> tuple[Any, int]:
        """Return a copy of an array and its size; the last copy and 0 if `is_same` shows it is current."""
        weak, copy = self.checkpoints.copies.get(id(array), (None, None))
        if weak is not None and weak() is array and is_same(array, copy):
            return copy, 0
        copy = array.copy()
        self.checkpoints.copies[id(array)] = (weakref.ref(array), copy)
        return copy, array.nbytes

    def finish(self) -> None:
        """Follow all references and store the results in the checkpoint."""
        self.follow()
        tainted = self.tainted()
        checkpoint = self.checkpoint
        for key, value in self.visited.items():
            if key in tainted or key in self.hidden:
                if key in self.kept or key in self.opaques:
                    proof = (NAME(type(value)), *self.hidden.get(key, (None, None)))
                    checkpoint.doubts.setdefault(key, tainted.get(key, proof))
            elif key not in checkpoint.doubts and key not in checkpoint.seen:
                checkpoint.seen[key] = value
                checkpoint.states += [kept[:3] for kept in self.kept.get(key, ())]
                checkpoint.size += SEEN_BYTES + sum(kept[3] for kept in self.kept.get(key, ()))
        for name, value in self.bound.items():
            if name in checkpoint.names and name not in checkpoint.held:
                why = tainted[id(value)][0] if id(value) in tainted else None
                checkpoint.held[name] = SavedBinding(value, why)
                checkpoint.size += len(value) if is_text(value) else 0

    def follow(self) -> None:
        """Apply the savers to each reachable object, until the time limit."""
        count = 0
        while self.queue or self.waiting:
            self.is_behind = not self.queue
            value, self.proof = self.waiting.pop() if self.is_behind else (self.queue.pop(), (None, None))
            if value is self.checkpoints.names:
                self.mention(ALL)
                continue
            saver = self.saver_for(value)
            if saver is None:
                continue
            count += 1
            if count > FEW_OBJECTS and count % ASKED_EACH == 0 and time.thread_time() > self.deadline:
                self.break_off(value)
                return
            leaves, children = self.checkpoints.savers.leaves, self.held_by(saver, value)
            # Most long containers hold only immutable objects.
            if leaves.issuperset(map(id, map(type, children))):
                continue
            for child in children:
                if id(type(child)) not in leaves:
                    self.parents.setdefault(id(child), []).append(id(value))
                    self.next(child)

    def next(self, child: Any) -> None:
        """Add a referenced object."""
        if self.is_behind:
            self.waiting.append((child, self.proof))
        else:
            self.queue.append(child)

    def saver_for(self, value: Any) -> Any:
        """Return the saver of an object; None if it is immutable or was scanned."""
        key = id(value)
        if id(type(value)) in self.checkpoints.savers.leaves or key in self.checkpoint.seen:
            return None
        if key in self.visited and (self.is_behind or key not in self.hidden):
            return None
        saver = self.checkpoints.savers.of(value)
        if saver is not None:
            self.visited[key] = value
            if self.is_behind:
                self.hidden[key] = self.proof
            else:
                self.hidden.pop(key, None)
        return saver

    def held_by(self, saver: Any, value: Any) -> Any:
        """Return the objects that a saver finds in an object."""
        try:
            return saver(value, self)
        except Exception:  # noqa: BLE001 - changed meanwhile by a thread, or in an unexpected state
            self.opaque(value)
            return ()

    def break_off(self, value: Any) -> None:
        """Note all objects in the queue as not scanned, at the time limit."""
        for left in (value, *self.queue, *(part for part, _ in self.waiting)):
            known = id(left) in self.checkpoint.seen or (id(left) in self.visited and left is not value)
            if not known and self.checkpoints.savers.of(left) is not None:
                self.opaque(left, TOO_MUCH)
        self.queue.clear()
        self.waiting.clear()

    def tainted(self) -> dict[int, tuple[str, Any, Any]]:
        """Return the objects that reference an opaque one and would keep it alive, with the reason."""
        found = dict(self.opaques)
        left = list(found)
        while left:
            key = left.pop()
            for parent in self.parents.get(key, ()):
                if parent not in found:
                    found[parent] = (f"holds {found[key][0]}", None, None)
                    left.append(parent)
        return found
