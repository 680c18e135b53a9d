"""The decision about each effect: allowed, refused, or a question for the user; and the account of them."""

import re

from terp.kernels.sandbox.entering.acting import SystemEffect
from terp.kernels.sandbox.entering.file_account import FileAccount
from terp.kernels.sandbox.entering.sending import receivers_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_MADE = 200_000
_MOST_ACCOUNTED = 10_000
_FILES = ("create", "modify", "delete")
# What is written to these is nowhere afterwards, or on the terminal.
_DEVICES = tuple(
    f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts/ptmx")
)
# Terminals of other programs lie there too.
_TERMINALS = (b"/dev/pts",)
_MULTIPLEXER = b"/dev/pts/ptmx"
# Without namespaces other programs keep files here too; with them it is the code's own.
_SHARED = (b"/dev/shm",)
_LOOPBACK = (b"127.0.0.1", b"[::1]", b"[::ffff:127.0.0.1]")


class Permissions:
    """Decides about effects by the grants of terp, and counts them.

    `own` are the folders of the kernel itself, where nothing is asked or counted. `writable` are those that
    the sandbox lets code change: for other places there is no question, as the sandbox refuses. `protected`
    paths in them stay as they are. Files that code made are its own to change and delete, and so are servers
    that it started.
    """

    def __init__(self, own: "list[str]", writable: "list[str]", protected: "list[str]") -> None:
        self._own = _folders([*_DEVICES, *own])
        self._writable = _folders(writable)
        self._own_inside = any(_is_below(one, self._writable) for one in self._own)
        self._protected = _folders(protected)
        self._free = False
        self._grants: list[tuple[tuple[str, ...], re.Pattern[str], bool | None, bool]] = []
        # How often the grant that counts has allowed an effect.
        self.counted: tuple[str, int] = ("", 0)
        self._made: set[bytes] = set()
        # What was moved into folders that code made is not the code's.
        self._moved_in: set[bytes] = set()
        self._sockets: set[int] = set()
        self._counts: dict[tuple[str, str, str], int] = {}
        self._files = FileAccount()
        self.more = 0

    def change(self, wanted: "dict[str, Any]") -> None:
        """Take new grants: `free` allows all; `grants` are (verbs, regular expression, allowed, counted)."""
        self._free = bool(wanted["free"])
        self._grants = [
            (tuple(verbs), re.compile(what), allowed, bool(*counted))
            for verbs, what, allowed, *counted in wanted["grants"]
        ]

    def verdict(self, effect: SystemEffect) -> "bool | None":
        """Return True if the effect is allowed, False if refused; None if the user must be asked."""
        if effect.verb == "run":
            return self._may_start(effect)
        found = self._verdict(effect)
        if found and effect.to and effect.verb == "delete":
            # What is moved is new where it comes to.
            return self._verdict(SystemEffect("create", effect.to))
        return found

    def _verdict(self, effect: SystemEffect) -> "bool | None":
        if effect.verb in _FILES:
            known = self._known_place(effect)
            if known is not None:
                return known
        elif self._is_own_socket(effect):
            return True
        text = shown(effect.what)
        for verbs, what, allowed, counted in self._grants:
            if effect.verb in verbs and what.fullmatch(text):
                if counted:
                    before, times = self.counted
                    key = f"{verbs[0]} {what.pattern}"
                    self.counted = key, times + 1 if before == key else 1
                return allowed
        if self._free or self._is_made(effect):
            return True
        return None

    def _may_start(self, effect: SystemEffect) -> "bool | None":
        """Return the verdict on a program: allowed unless a grant is about its name or its path."""
        names = shown(effect.what), shown(effect.to)
        strict = [(what, yes) for verbs, what, yes, _ in self._grants if "run" in verbs and yes is not True]
        for what, allowed in strict:
            if any(map(what.fullmatch, names)):
                return allowed
        # A program without a path may be any.
        return True if effect.to or not strict else None

    def _known_place(self, effect: SystemEffect) -> "bool | None":
        """Return the verdict where grants do not count: in the kernel's folders, and outside the code's."""
        what = effect.what
        if _is_below(what, self._protected):
            return False
        if _is_below(what, _TERMINALS) and what != _MULTIPLEXER:
            return effect.verb == "create" or self._has_made(what)
        if self._is_own(what):
            shared = _is_below(what, _SHARED) and not (effect.verb == "create" or self._has_made(what))
            return None if shared else True
        if not _is_below(what, self._writable):
            return not effect.unguarded
        return None

    def happened(self, effect: SystemEffect) -> None:
        """Note an effect that was performed."""
        what = effect.what
        if effect.verb == "listen":
            self._sockets.add(effect.socket)
        elif effect.verb in _FILES:
            self._note(effect)
            is_covered = self.covers(what)
            if is_covered or (effect.to and self.covers(effect.to)):
                self._files.note(effect)
            if not is_covered:
                return
        elif self._is_own_socket(effect):
            return
        self.count(effect.verb, shown(what), shown(effect.target))

    def _note(self, effect: SystemEffect) -> None:
        """Note whose files are where now."""
        what, to = effect.what, effect.to
        if effect.verb == "create":
            self._moved_in.discard(what)
            self._add(what)
        if effect.verb == "delete" or to:
            # After an exchange it counts for neither name: an own file of code can be asked about.
            made = effect.verb == "delete" and self._has_made(what)
            inside = _below(what, self._moved_in)
            if effect.verb == "delete":
                self._forget(what, folder=effect.folder)
            if to:
                self._forget(to, folder=effect.folder)
                self._moved_in.update(to + one[len(what) :] for one in inside)
                if made:
                    self._add(to)
                else:
                    self._moved_in.add(to)

    def forget_made(self) -> None:
        """Forget which of the user's files code has made: it changes none of them without a question."""
        self._made = {path for path in self._made if not self.covers(path)}

    def _forget(self, path: bytes, *, folder: bool) -> None:
        self._moved_in.difference_update(_below(path, self._moved_in))
        self._made.discard(path)
        if folder:
            self._made.difference_update(_below(path, self._made))

    def count(self, verb: str, what: str, to: str = "") -> None:
        """Add one effect to the account."""
        key = (verb, what, to)
        if key in self._counts or len(self._counts) < _MOST_ACCOUNTED:
            self._counts[key] = self._counts.get(key, 0) + 1
        else:
            self.more += 1

    def account(self) -> "dict[str, Any]":
        """Return the effects since the last account, in order, as (verb, what, to, count), and empty it.

        `files` are the changes that they made, as (path, action, size, old path).
        """
        rows = [[*key, count] for key, count in self._counts.items()]
        files = [
            [shown(path), action, size, shown(source)]
            for path, action, size, source in self._files.rows()
            if self.covers(path)
        ]
        answer = {"effects": rows, "more": self.more, "files": files}
        self._counts, self.more, self.counted = {}, 0, ("", 0)
        return answer

    def covers(self, path: bytes) -> bool:
        """Return True for a file of the user, in a folder that code may change."""
        return _is_below(path, self._writable) and not (self._own_inside and self._is_own(path))

    def _is_own(self, path: bytes) -> bool:
        # The working directory may lie in the folder of temporary files.
        return _depth(path, self._own) >= max(1, _depth(path, self._writable))

    def _is_own_socket(self, effect: SystemEffect) -> bool:
        return effect.what.startswith(b"unix:/") and self._is_own(effect.what[5:])

    def _is_made(self, effect: SystemEffect) -> bool:
        if effect.verb == "listen":
            return _host(effect.what) in _LOOPBACK
        if effect.verb == "connect":
            if effect.what.startswith(b"unix:/"):
                return self._has_made(effect.what[5:])
            return _host(effect.what) in _LOOPBACK and self._serves(effect)
        return effect.verb in ("modify", "delete") and self._has_made(effect.what)

    def _serves(self, effect: SystemEffect) -> bool:
        """Return True if all sockets that wait at a port of this machine are the code's."""
        port = int(effect.what.rpartition(b":")[2])
        try:
            found = receivers_at(port, datagrams=effect.datagrams)
        except OSError:
            return False
        return bool(found) and found <= self._sockets

    def _has_made(self, path: bytes) -> bool:
        while path and path not in self._made:
            if path in self._moved_in:
                return False
            path = path.rpartition(b"/")[0]
        return bool(path)

    def _add(self, path: bytes) -> None:
        self._moved_in.discard(path)
        if len(self._made) < _MOST_MADE and not self._has_made(path):
            self._made.add(path)


def _host(address: bytes) -> bytes:
    return address.rpartition(b":")[0]


def _folders(paths: "list[str]") -> "tuple[bytes, ...]":
    # Without the slash of "/", which is added in comparisons.
    return tuple(one.encode("utf-8", "surrogateescape").rstrip(b"/") for one in paths)


def _depth(path: bytes, folders: "tuple[bytes, ...]") -> int:
    """Return the length of the longest of `folders` above the path; -1 for none."""
    return max((len(one) for one in folders if path == one or path.startswith(one + b"/")), default=-1)


def _is_below(path: bytes, folders: "tuple[bytes, ...]") -> bool:
    return any(path == one or path.startswith(one + b"/") for one in folders)


def _below(folder: bytes, paths: "set[bytes]") -> "list[bytes]":
    return [one for one in paths if one.startswith(folder + b"/") or one == folder] if paths else []


def shown(path: bytes) -> str:
    """Return a path as text; bytes that are no UTF-8 are kept as lone surrogates."""
    return path.decode("utf-8", "surrogateescape")
