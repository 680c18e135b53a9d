"""Going back to a moment: what was kept is put back, and what could not be is told by name."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from .file_copies import FileCopies
from .files import cwd
from .kept_items import CANNOT, CHANGED, TOO_LARGE
from .known import NAME, printable
from .moment import Moment
from .moments import TOO_MUCH, Look, Moments, Nothing, is_kept

# Processor time for the look afterwards, which finds the names that hold what could not be put back.
LOOK_S = 2.0
LONGEST_NAME, LONGEST_WHY = 60, 60
OTHER_PLACE = "in a way that could not be seen before"
TOO_OLD = "too long ago: what was kept since has been dropped"


class GoingBack:
    """One way back, to before turn `number`; `go` does it and says what came of it."""

    def __init__(self, moments: Moments, number: int, files: FileCopies) -> None:
        self.moments = moments
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
        """Put back names, surroundings and the files at `paths`."""
        undone = self.moments.since(self.number)
        if self.number <= self.moments.dropped:
            return {"refused": TOO_OLD, "files": self.files.put_back(undone, paths)}
        for moment in reversed(undone):
            self.objects(moment)
        if undone:
            self.bindings(undone)
            self.look(undone[0])
            self.surroundings(undone[0], undone)
        told = self.files.put_back(undone, paths)
        self.moments.kept = [moment for moment in self.moments.kept if moment not in undone]
        return {
            "done": True,
            "back": shown(self.back - self.lost.keys()),
            "gone": shown(self.gone),
            "lost": [[shown([name])[0], why[:LONGEST_WHY]] for name, why in sorted(self.lost.items())],
            "notes": self.notes,
            "files": told,
            "cwd": cwd(),
        }

    def objects(self, moment: Moment) -> None:
        """Put the states of objects back; what was kept earlier makes good what could not be kept later."""
        self.doubts.update(moment.doubts)
        for back, value, state in moment.states:
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

    def bindings(self, undone: list[Moment]) -> None:
        """Let names stand for what they stood for."""
        names, hidden, first = self.moments.names, self.moments.shell.user_ns_hidden, undone[0]
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
        for name in {name for moment in undone for name in moment.unforeseen} & self.kept:
            self.lost.setdefault(name, OTHER_PLACE)
            if name in names:
                self.doubts[id(names[name])] = (OTHER_PLACE, None, None)

    def look(self, first: Moment) -> None:
        """Find the names behind which there is something that was changed, or that is in doubt."""
        names, blank = self.moments.names, Moment(first.number, {})
        deadline = time.thread_time() + LOOK_S
        if not (self.doubts or self.changed):
            return
        for name in self.kept & names.keys():
            if self.moments.rules.of(names[name]) is None:
                continue
            look = Reach(self.moments, blank, max(0, deadline - time.thread_time()))
            reached = look.of(names[name])
            if reached.keys() & self.changed:
                self.back.add(name)
            for key in reached.keys() & self.doubts.keys():
                if not is_proven(reached[key], self.doubts[key]):
                    self.lost.setdefault(name, self.doubts[key][0])
            if look.broke_off and self.doubts:
                self.lost.setdefault(name, TOO_MUCH)

    def surroundings(self, first: Moment, undone: list[Moment]) -> None:
        """Put back the working directory and the environment; name what may have changed more."""
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
        threads = {name for moment in undone for name in moment.threads}
        threads |= self.moments.threads()
        if threads:
            self.notes.append(f"what threads have changed is not taken back: {', '.join(shown(threads))}")


def unmentioned(first: Moment, name: str, bound: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a name stands for that no code has mentioned, in a tuple; () if that cannot be."""
    return bound if bound and id(bound[0]) == first.ids.get(name, id(bound[0])) else ()


class Reach(Nothing, Look):
    """A look that keeps nothing: all that can be reached from one object."""

    broke_off = False

    def of(self, value: Any) -> dict[int, Any]:
        """The objects, by their ids."""
        self.queue = [value]
        self.follow()
        return self.visited

    def opaque(self, value: Any, why: str = "", tells: Any = None) -> None:
        """It is there."""
        self.visited.setdefault(id(value), value)

    def keep(self, back: Any, value: Any, state: Any, size: int) -> None:
        """It is there."""
        self.visited.setdefault(id(value), value)

    def break_off(self, value: Any) -> None:
        """Time is up."""
        self.broke_off = True
        self.queue.clear()

    def behind(self, parts: Any, tells: Any = None) -> None:
        """What is held by an opaque object is held."""
        self.queue += parts


def is_proven(value: Any, doubt: tuple[str, Any, Any]) -> bool:
    """Whether an object tells of itself that it is as it was."""
    _, tells, told = doubt
    try:
        return tells is not None and told is not None and tells(value) == told
    except Exception:  # noqa: BLE001 - it is another object, at the same place in memory
        return False


def shown(names: Any) -> list[str]:
    """Names as a person can read them."""
    return [printable(name, LONGEST_NAME) for name in sorted(names)]
