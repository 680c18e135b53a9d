"""Restore a checkpoint: saved states are put back; names that cannot be restored are reported."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from .checkpoints import TOO_MUCH, Checkpoint, Checkpoints, HeapScan, NullScan, is_kept
from .container_savers import CANNOT, CHANGED, TOO_LARGE
from .file_copies import FileCopies
from .files import cwd
from .known import NAME, printable

# Processor time for the look afterwards, which finds the names that hold what could not be put back.
LOOK_S = 2.0
LONGEST_NAME, LONGEST_WHY = 60, 60
OTHER_PLACE = "in a way that could not be seen before"
TOO_OLD = "too long ago: what was kept since has been dropped"


class Restore:
    """One restore of the state before turn `number`; `go` does it and returns a report."""

    def __init__(self, checkpoints: Checkpoints, number: int, files: FileCopies) -> None:
        self.checkpoints = checkpoints
        self.number = number
        self.files = files
        self.doubts: dict[int, tuple[str, Any, Any]] = {}
        self.changed: set[int] = set()
        self.back: set[str] = set()
        self.gone: list[str] = []
        self.kept: set[str] = set()
        self.lost: dict[str, str] = {}
        self.notes: list[str] = []

    def go(self, paths: list[str]) -> dict[str, Any]:
        """Restore variables, working directory, environment and the files at `paths`."""
        undone = self.checkpoints.since(self.number)
        if self.number <= self.checkpoints.dropped:
            return {"refused": TOO_OLD, "files": self.files.put_back(undone, paths)}
        for checkpoint in reversed(undone):
            self.objects(checkpoint)
        if undone:
            self.bindings(undone)
            self.find_lost(undone[0])
            self.surroundings(undone[0], undone)
        files = self.files.put_back(undone, paths)
        self.checkpoints.kept = [
            checkpoint for checkpoint in self.checkpoints.kept if checkpoint not in undone
        ]
        return {
            "done": True,
            "back": shown(self.back - self.lost.keys()),
            "gone": shown(self.gone),
            "lost": [[shown([name])[0], why[:LONGEST_WHY]] for name, why in sorted(self.lost.items())],
            "notes": self.notes,
            "files": files,
            "cwd": cwd(),
        }

    def objects(self, checkpoint: Checkpoint) -> None:
        """Restore the states of objects; an earlier saved state resolves the doubt of a later one."""
        self.doubts.update(checkpoint.doubts)
        for back, value, state in checkpoint.states:
            try:
                done = back(value, state)
            except Exception:  # noqa: BLE001 - a class or a library does not let it happen
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
        for name in [name for name, value in names.items() if is_kept(name, value, hidden)]:
            if name not in first.names:
                del names[name]
                self.gone.append(name)
        self.kept = {name for name in first.names if is_kept(name, names.get(name), hidden)}
        for name in self.kept:
            bound = (names[name],) if name in names else ()
            held = first.held.get(name)
            found = held.now(bound) if held else unmentioned(first, name, bound)
            if not found:
                self.lost[name] = f"what it was is gone: {held.why}" if held and held.why else OTHER_PLACE
            elif not bound or bound[0] is not found[0]:
                names[name] = found[0]
                self.back.add(name)
        for name in {name for checkpoint in undone for name in checkpoint.unforeseen} & self.kept:
            self.lost.setdefault(name, OTHER_PLACE)
            if name in names:
                self.doubts[id(names[name])] = (OTHER_PLACE, None, None)

    def find_lost(self, first: Checkpoint) -> None:
        """Find the names that reach a changed or doubtful object."""
        names, blank = self.checkpoints.names, Checkpoint(first.number, {})
        deadline = time.thread_time() + LOOK_S
        if not (self.doubts or self.changed):
            return
        for name in self.kept & names.keys():
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
            self.notes.append(f"the environment is as it was: {', '.join(shown(changed))}")
        if id(sys.path) in self.changed:
            self.notes.append("sys.path is as it was")
        threads = {name for checkpoint in undone for name in checkpoint.threads}
        threads |= self.checkpoints.threads()
        if threads:
            self.notes.append(f"what threads have changed is not taken back: {', '.join(shown(threads))}")


def unmentioned(first: Checkpoint, name: str, bound: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the object of a name that no code mentioned, in a tuple; () if it is another object now."""
    return bound if bound and id(bound[0]) == first.ids.get(name, id(bound[0])) else ()


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
        """Time is up."""
        self.broke_off = True
        self.queue.clear()

    def behind(self, parts: Any, proof: Any = None) -> None:
        """Follow the parts of an opaque object too."""
        self.queue += parts


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
