"""Checkpoints of the user's namespace and files: saved before each cell, restored on request of the user."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

from .file_copies import FileCopies
from .files import cwd
from .heap_scan import ALL, COMMAND, TOO_MUCH, HeapScan, NullScan, Reach, SavedBinding, words_of
from .known import NAME, Kinds, attributes, printable
from .object_savers import CANNOT, CHANGED, TOO_LARGE
from .savers import Savers, top_of

# Bytes of copies in all checkpoints, and their number.
ROOM_IN_ALL, MOST_CHECKPOINTS = 256_000_000, 100
# Linux dates files by CLOCK_REALTIME_COARSE, some ms behind the other clock; `time` does not name it.
FILES_CLOCK = 5 if sys.platform == "linux" else time.CLOCK_REALTIME
# With more names the object of each is not noted.
MANY_NAMES = 5_000
# Packages whose threads are not the user's.
JUPYTERS = (
    *("ipykernel", "zmq", "jupyter_client", "jupyter_core", "tornado", "terp_home", "IPython", "asyncio"),
    "traitlets",
)
# IPython's own names, which are not restored.
IPYTHONS = ("_", "__", "___", "In", "Out", "_ih", "_oh", "_dh", "_i", "_ii", "_iii", "_exit_code")
NUMBERED = re.compile(r"_i?\d+").fullmatch


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


def is_restorable(name: Any, value: Any, hidden: Any) -> bool:
    """Return True if a restore covers a name: a variable, a function or a module of the user."""
    if type(name) is not str or (name in hidden and hidden[name] is value):
        return False
    return name[:1] != "_" or not (name in IPYTHONS or NUMBERED(name) or name.endswith("__"))


def is_users_thread(thread: threading.Thread) -> bool:
    """Return True if the user's code has started this thread."""
    if thread is threading.main_thread() or isinstance(thread, threading._DummyThread):
        return False
    target = getattr(thread, "_target", None) or thread.run
    modules = (str(getattr(target, "__module__", "") or ""), type(thread).__module__)
    return not any(module.startswith(JUPYTERS) for module in modules)


class Checkpoints:
    """The checkpoints that can be restored; those of turns up to number `dropped` no longer can.

    A checkpoint is one turn's; it also has copies of the `files` that the turn wrote to.
    """

    def __init__(self, shell: Any, kinds: Kinds) -> None:
        self.shell = shell
        self.kinds = kinds
        self.names = shell.user_ns
        self.savers = Savers(shell.user_ns)
        self.files = FileCopies()
        self.saved: list[Checkpoint] = []
        self.dropped = -1
        self.there = {thread.ident for thread in threading.enumerate()}
        # The last copy of each array, by the array's id.
        self.copies: dict[int, Any] = {}

    def begin(self, number: Any, code: str) -> None:
        """Save, before a cell of turn `number` (None: the last turn), the state that `code` can change."""
        self.names = self.savers.names = self.shell.user_ns
        last = self.saved[-1].number if self.saved else 0
        if not self.saved or (type(number) is int and number > last):
            number = number if type(number) is int else last
            self.saved.append(Checkpoint(number, self.names))
            self.saved[-1].threads = self.threads()
        scan = HeapScan(self, self.saved[-1])
        scan.mention(words_of(code))
        if COMMAND(code):
            scan.mention(ALL)
        scan.queue.append(sys.path)
        scan.finish()
        self.copies = {key: copy for key, copy in self.copies.items() if copy[0]() is not None}
        self.drop()

    def threads(self) -> set[str]:
        """Return the names of running threads that the user's code has started."""
        new = (thread for thread in threading.enumerate() if thread.ident not in self.there)
        return {thread.name for thread in new if is_users_thread(thread)}

    def before_writing(self, path: str) -> None:
        """Copy a file that the cell is about to write to."""
        if self.saved:
            self.files.keep(self.saved[-1], path)

    def end(self, changed: set[str], touched: Iterable[str] = ()) -> None:
        """Note the names that a finished cell changed although the scan did not reach them.

        `touched` are the files that it wrote to.
        """
        if not self.saved:
            return
        checkpoint = self.saved[-1]
        self.files.end(checkpoint, touched)
        for name in changed:
            if (
                name in checkpoint.names
                and name not in checkpoint.held
                and not self.is_foreseen(checkpoint, name)
            ):
                checkpoint.unforeseen.add(name)

    def is_foreseen(self, checkpoint: Checkpoint, name: str) -> bool:
        """Return True if the scan reached the changed object of a name, or its memory, by another name."""
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
        return [checkpoint for checkpoint in self.saved if checkpoint.number >= number]

    def written(self, number: int) -> list[list[str]]:
        """Return the files written since the beginning of a turn, each with its possible action."""
        return self.files.rows(self.since(number))

    def restore(self, number: int, *paths: str) -> dict[str, Any]:
        """Restore the state before turn `number`, and the files at `paths`; return a report."""
        return Restore(self, number).run(list(paths))

    def drop(self) -> None:
        """Drop the oldest checkpoints above the size limits."""
        size = sum(checkpoint.size for checkpoint in self.saved)
        while len(self.saved) > 1 and (size > ROOM_IN_ALL or len(self.saved) > MOST_CHECKPOINTS):
            oldest = self.saved.pop(0)
            size -= oldest.size
            self.dropped = oldest.number
            self.copies.clear()
            self.files.drop(oldest)


def is_of_tables(value: Any) -> bool:
    """Return True if a value is an array or a table, or a part of one."""
    return top_of(type(value)) in ("numpy", "pandas")


# CPU time for finding the names that reach an object which could not be restored.
LOST_S = 2.0
LONGEST_NAME, LONGEST_WHY = 60, 60
OTHER_PLACE = "in a way that could not be seen before"
TOO_OLD = "too long ago: its checkpoint has been dropped"


class Restore:
    """One restore of the state before turn `number`: `run` does it and returns a report."""

    def __init__(self, checkpoints: Checkpoints, number: int) -> None:
        self.checkpoints = checkpoints
        self.number = number
        self.doubts: dict[int, tuple[str, Any, Any]] = {}
        self.changed: set[int] = set()
        self.back: set[str] = set()
        self.gone: list[str] = []
        self.names: set[str] = set()
        self.lost: dict[str, str] = {}
        self.notes: list[str] = []

    def run(self, paths: list[str]) -> dict[str, Any]:
        """Restore variables, working directory, environment and the files at `paths`."""
        undone, files = self.checkpoints.since(self.number), self.checkpoints.files
        if self.number <= self.checkpoints.dropped:
            return {"refused": TOO_OLD, "files": files.put_back(undone, paths)}
        for checkpoint in reversed(undone):
            self.objects(checkpoint)
        if undone:
            self.bindings(undone)
            self.find_lost(undone[0])
            self.surroundings(undone[0], undone)
        rows = files.put_back(undone, paths)
        self.checkpoints.saved = [one for one in self.checkpoints.saved if one not in undone]
        return {
            "done": True,
            "back": shown(self.back - self.lost.keys()),
            "gone": shown(self.gone),
            "lost": [[shown([name])[0], why[:LONGEST_WHY]] for name, why in sorted(self.lost.items())],
            "notes": self.notes,
            "files": rows,
            "cwd": cwd(),
        }

    def objects(self, checkpoint: Checkpoint) -> None:
        """Restore the states of objects; an earlier saved state resolves the doubt of a later one."""
        self.doubts.update(checkpoint.doubts)
        for back, value, state in checkpoint.states:
            try:
                done = back(value, state)
            except Exception:  # noqa: BLE001 - a class or a library refuses it
                done = CANNOT
            if done == CANNOT:
                self.doubts[id(value)] = (NAME(type(value)), None, None)
                continue
            self.doubts.pop(id(value), None)
            if done == CHANGED:
                self.changed.add(id(value))

    def bindings(self, undone: list[Checkpoint]) -> None:
        """Bind names to their former objects."""
        names, hidden, first = self.checkpoints.names, self.checkpoints.shell.user_ns_hidden, undone[0]
        for name in [name for name, value in names.items() if is_restorable(name, value, hidden)]:
            if name not in first.names:
                del names[name]
                self.gone.append(name)
        self.names = {name for name in first.names if is_restorable(name, names.get(name), hidden)}
        for name in self.names:
            bound = (names[name],) if name in names else ()
            held = first.held.get(name)
            found = held.now(bound) if held else unmentioned(first, name, bound)
            if not found:
                self.lost[name] = (
                    f"its earlier value is gone: {held.why}" if held and held.why else OTHER_PLACE
                )
            elif not bound or bound[0] is not found[0]:
                names[name] = found[0]
                self.back.add(name)
        for name in {name for checkpoint in undone for name in checkpoint.unforeseen} & self.names:
            self.lost.setdefault(name, OTHER_PLACE)
            if name in names:
                self.doubts[id(names[name])] = (OTHER_PLACE, None, None)

    def find_lost(self, first: Checkpoint) -> None:
        """Find the names that reach a changed or doubtful object."""
        names, blank = self.checkpoints.names, Checkpoint(first.number, {})
        deadline = time.thread_time() + LOST_S
        if not (self.doubts or self.changed):
            return
        for name in self.names & names.keys():
            if self.checkpoints.savers.of(names[name]) is None:
                continue
            scan = Reach(self.checkpoints, blank, max(0, deadline - time.thread_time()))
            reached = scan.of(names[name])
            if reached.keys() & self.changed:
                self.back.add(name)
            for key in reached.keys() & self.doubts.keys():
                if not is_proven(reached[key], self.doubts[key]):
                    self.lost.setdefault(name, self.doubts[key][0])
            if scan.broke_off and self.doubts:
                self.lost.setdefault(name, TOO_MUCH)

    def surroundings(self, first: Checkpoint, undone: list[Checkpoint]) -> None:
        """Restore working directory and environment; note other possible changes."""
        unseen = [name for name, why in self.lost.items() if why.endswith((TOO_MUCH, TOO_LARGE))]
        if unseen:
            names = ", ".join(shown(unseen))
            self.notes.append(
                f"what shares parts with {names} may have changed, too: it was not looked through"
            )
        if first.cwd != cwd():
            try:
                os.chdir(first.cwd)
                self.notes.append(f"the working directory is {first.cwd} again")
            except OSError:
                self.notes.append(f"the working directory could not be made {first.cwd} again")
        changed = [name for name in os.environ if os.environ[name] != first.environ.get(name)]
        changed += first.environ.keys() - os.environ.keys()
        for name in changed:
            if name in first.environ:
                os.environ[name] = first.environ[name]
            else:
                del os.environ[name]
        if changed:
            self.notes.append(f"the environment is restored: {', '.join(shown(changed))}")
        if id(sys.path) in self.changed:
            self.notes.append("sys.path is restored")
        threads = {name for checkpoint in undone for name in checkpoint.threads}
        threads |= self.checkpoints.threads()
        if threads:
            self.notes.append(f"changes by threads are not undone: {', '.join(shown(threads))}")


def unmentioned(first: Checkpoint, name: str, bound: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the object of a name that no code mentioned, in a tuple; () if it is another object now."""
    return bound if bound and id(bound[0]) == first.ids.get(name, id(bound[0])) else ()


def is_proven(value: Any, doubt: tuple[str, Any, Any]) -> bool:
    """Return True if an object's proof shows that it is unchanged."""
    _, proof, state = doubt
    try:
        return proof is not None and state is not None and proof(value) == state
    except Exception:  # noqa: BLE001 - it is another object, at the same place in memory
        return False


def shown(names: Any) -> list[str]:
    """Return names as printable text, sorted."""
    return [printable(name, LONGEST_NAME) for name in sorted(names)]
