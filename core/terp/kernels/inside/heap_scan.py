"""The scan of the heap before a cell, which saves the states of the objects that the cell can change.

A cell can change the objects reachable from the names that it mentions, also through the user's functions
that it calls. Their states are saved before it runs, each object once in a turn. A scan is limited in time
and size: an object that is too large or cannot be read is noted and not saved.
"""

from __future__ import annotations

import re
import time
import unicodedata
import weakref
from typing import TYPE_CHECKING, Any

from .known import NAME
from .namespace import WEAK, WORD

if TYPE_CHECKING:
    from .checkpoints import Checkpoint, Checkpoints

# Bytes of copies in a turn.
ROOM = 64_000_000
# CPU time for the scan before a cell.
BUDGET_S = 0.003
# Approximate size of a scanned object in a checkpoint.
SEEN_BYTES = 150
# The time is checked once for so many objects.
TIMED_EACH = 32
# So many objects are scanned in any case: loading the savers of tables may have taken all of the time.
FEW_OBJECTS = 500
# A larger container is measured with its content.
SAMPLED_BYTES = 1_000
TOO_MUCH = "too much to look through"

# Words with which code can rebind any name, and lines that are IPython commands.
ALL = set(
    str.split("""
        exec eval globals locals vars compile __import__ get_ipython __main__ __name__ __globals__ gc inspect
        modules currentframe _getframe f_globals f_locals f_back ctypes user_ns
    """)
)
COMMAND = re.compile(r"(^|=)\s*[%!?]|\?\s*$", re.MULTILINE).search


def words_of(code: str) -> set[str]:
    """Return the words of code, also in the NFKC form in which Python reads identifiers."""
    words = set(WORD.findall(code))
    return words if code.isascii() else words.union(WORD.findall(unicodedata.normalize("NFKC", code)))


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


def is_text(value: Any) -> bool:
    """Return True if a value is a plain str or bytes."""
    return type(value) is str or type(value) is bytes


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

    def keep(self, back: Any, value: Any, state: Any, size: int) -> None:
        """Save an object's state; `back(value, state)` restores it and returns SAME, CHANGED or CANNOT."""
        if size > SAMPLED_BYTES:
            # Approximately, with its content.
            size = self.checkpoints.kinds.size(value) or size
        self.kept.setdefault(id(value), []).append((back, value, state, size))
        self.visited.setdefault(id(value), value)
        self.size += size

    def opaque(self, value: Any, why: str = "", proof: Any = None) -> None:
        """Note an object that cannot be saved; an equal `proof(value)` later shows that it is unchanged."""
        self.visited.setdefault(id(value), value)
        self.opaques[id(value)] = (why or NAME(type(value)), proof, proof(value) if proof else None)

    def behind(self, parts: Any, proof: Any = None) -> None:
        """Follow the parts of an opaque object: they may change, and restoring them could break it.

        An equal result of `proof(None)` later shows that the object has changed none of them.
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
            if count > FEW_OBJECTS and count % TIMED_EACH == 0 and time.thread_time() > self.deadline:
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


class Reach(NullScan, HeapScan):
    """A scan that saves nothing: finds all objects reachable from one."""

    broke_off = False

    def of(self, value: Any) -> dict[int, Any]:
        """Return the reachable objects by id."""
        self.queue = [value]
        self.follow()
        return self.visited

    def opaque(self, value: Any, why: str = "", proof: Any = None) -> None:
        """Add an object."""
        self.visited.setdefault(id(value), value)

    def keep(self, back: Any, value: Any, state: Any, size: int) -> None:
        """Add an object."""
        self.visited.setdefault(id(value), value)

    def break_off(self, value: Any) -> None:
        """Stop at the time limit."""
        self.broke_off = True
        self.queue.clear()

    def behind(self, parts: Any, proof: Any = None) -> None:
        """Follow the parts of an opaque object too."""
        self.queue += parts
