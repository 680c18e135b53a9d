"""The changes of a run to files, as they differ before and after it, from the effects that were performed."""

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from terp.kernels.sandbox.entering.acting import SystemEffect

_MOST_FILES = 10_000
# Code may have them open still, and write to them in its next run.
_MOST_OPEN = 200


class FileAccount:
    """Collects the files that effects are about, with their states before the first one.

    A state is (size, time of the last change in ns, mode); None if there was no file, () if nothing else is
    known.
    """

    def __init__(self) -> None:
        self._before: dict[bytes, tuple[int, ...] | None] = {}
        # New paths of files that were there before, with their old ones.
        self._sources: dict[bytes, bytes] = {}
        self._open: dict[bytes, tuple[int, ...]] = {}

    def note(self, effect: "SystemEffect") -> None:
        """Note an effect on a file that was performed."""
        is_move = effect.verb == "delete" and effect.to
        if effect.folder and not is_move:
            return
        self._first(effect.what, None if effect.verb == "create" else effect.before)
        if is_move:
            self._move(effect.what, effect.to)
            below = effect.what + b"/"
            inside = [one for one in self._before if one.startswith(below)] if effect.folder else []
            for one in inside:
                self._move(one, effect.to + one[len(effect.what) :])

    def _first(self, path: bytes, state: tuple[int, ...] | None) -> None:
        if path not in self._before and len(self._before) < _MOST_FILES:
            self._before[path] = state

    def _move(self, path: bytes, to: bytes) -> None:
        source = self._sources.pop(path, path)
        self._first(to, None)
        if self._before.get(source) is not None:
            self._sources[to] = source
        else:
            self._sources.pop(to, None)

    def rows(self) -> "list[tuple[bytes, str, int, bytes]]":
        """Return path, action, size and old path of each file that is not as it was; empty the account."""
        for path, known in self._open.items():
            self._before.setdefault(path, known)
        found = []
        now = {path: _state(path) for path in self._before}
        sources = {
            to: source
            for to, source in self._sources.items()
            if now.get(to) is not None and now.get(source) is None and self._before[to] is None
        }
        gone = set(sources.values())
        for path, before in self._before.items():
            state = now[path]
            if path in sources:
                found.append((path, "moved", _size(state), sources[path]))
            elif state and state != before:
                found.append((path, "created" if before is None else "modified", state[0], b""))
            elif state is None and before is not None and path not in gone:
                found.append((path, "deleted", 0, b""))
        files = [(path, state) for path, state in now.items() if state]
        self._open, self._before, self._sources = dict(files[-_MOST_OPEN:]), {}, {}
        return found


def _size(state: tuple[int, ...] | None) -> int:
    return state[0] if state else 0


def _state(path: bytes) -> tuple[int, ...] | None:
    """Return the state of a file; () of a folder or a device, None if there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return state_of(found) if stat.S_ISREG(found.st_mode) else ()


def state_of(found: os.stat_result) -> tuple[int, ...]:
    """Return the state of a file that is there."""
    return found.st_size, found.st_mtime_ns, found.st_mode
