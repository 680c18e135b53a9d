"""Checkpoints of Python's variables on disk: signed lists, and the objects in them by their digests.

The folder and the key of the signatures are terp's own: code in a sandbox can read the objects of its own
session, and write none. The kernel hands bytes out through a pipe. Its descriptions of them may be forged, so
they are checked here. Only a kernel reads a pickle.
"""

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from terp.analysis.effects.secret_names import is_secret_name
from terp.errors import SessionError
from terp.secrets.redactor import Redactor, written_forms
from terp.text.files import make_private, size_text, write_whole
from terp.text.wording import first_names

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
"""The names that the user may give."""
DATA = ("arrow", "npy", "json")
"""The forms whose loading runs no code; loading any other runs code of the kernel that made it."""
_FORMS = (*DATA, "pickle", "source", "module")
_SUFFIX, _NEW = ".json", ".new-"
_LONGEST_LINE, _LARGEST_PIECE, _ABANDONED = 1_000_000, 1 << 20, 0xFFFFFFFF
_SHOWN, _NAMED, _LARGE = 2, 8, 1_000_000
# Shapes of secrets are looked for in these first bytes of an object, known secrets in all of it.
_SEARCHED, _OVERLAP = 64_000_000, 4_096
_PRINTABLE = bytes(byte if 32 <= byte < 127 else 32 for byte in range(256))
_SECRET = "it holds a secret, or has the name of one"  # noqa: S105

Piece = Mapping[str, Any]
"""An object: `names` and `kinds` of its parts, `form`, `by`, `needs`, `digest`, `size`."""


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """The variables of a Python kernel at a moment, in seconds since the epoch.

    `tier` is the sandbox of that kernel and `cwd` its directory: objects other than `DATA` are code that ran
    there. `left` are the names that were left out, each with the reason.
    """

    name: str
    made: float
    tier: str
    cwd: str
    pieces: Sequence[Piece]
    left: Sequence[tuple[str, str]] = ()

    @property
    def names(self) -> Mapping[str, Piece]:
        """All names with their objects, the largest first, modules last."""
        pieces = sorted(self.pieces, key=lambda piece: (piece["form"] == "module", -piece["size"]))
        return {name: piece for piece in pieces for name in piece["names"] if name}

    def summary(self) -> str:
        """Return a short list of the names: `df 2.1 GB, model, 14 others · 3 not kept: conn, gen, lock`."""
        sizes = [(name, piece["size"]) for name, piece in self.names.items()]
        shown = [f"{name} {size_text(size)}" if size >= _LARGE else name for name, size in sizes[:_SHOWN]]
        more = len(sizes) - _SHOWN
        shown += [f"{more} others" if more > 1 else sizes[-1][0]] if more > 0 else []
        kept, left = ", ".join(shown) or "no variables", [name for name, _ in self.left]
        return f"{kept} · {len(left)} not kept: {first_names(left, _NAMED)}" if left else kept


class CheckpointStore:
    """The checkpoints of one session in a folder; `key` is the file of the key that signs them."""

    def __init__(self, folder: Path, key: Path) -> None:
        self.folder, self.objects = folder, folder / "objects"
        self._key = key

    def all(self) -> list[str]:
        """Return the names of the checkpoints, the newest first."""
        found = [path for path in self.folder.glob(f"*{_SUFFIX}") if NAME.fullmatch(path.stem)]
        return [path.stem for path in sorted(found, key=lambda path: -path.stat().st_mtime_ns)]

    def read(self, name: str) -> StoredCheckpoint:
        """Return a checkpoint.

        Raises:
            SessionError: there is none, or terp has not signed it.
        """
        if name not in self.all():
            raise SessionError(f"There is no checkpoint '{name}'.", "/checkpoint list shows them.")
        signature, _, body = self._path(name).read_bytes().partition(b"\n")
        if not hmac.compare_digest(signature, self._signature(body)):
            raise SessionError(
                f"The checkpoint '{name}' was changed by something other than terp, so it is not loaded.",
                f"/checkpoint drop {name} removes it.",
            )
        return StoredCheckpoint(**json.loads(body))

    def write(self, checkpoint: StoredCheckpoint) -> None:
        """Store a checkpoint in place of the one with its name; its objects must be stored already.

        Raises:
            OSError: it cannot be written; the former one stays.
        """
        body = json.dumps(asdict(checkpoint)).encode()
        with _written(self.folder) as (file, target):
            file.write(self._signature(body) + b"\n" + body)
            target.append(self._path(checkpoint.name))
        self.clean()

    def drop(self, name: str) -> None:
        """Remove a checkpoint.

        Raises:
            SessionError: there is none.
        """
        if name not in self.all():
            raise SessionError(f"There is no checkpoint '{name}'.", "/checkpoint list shows them.")
        self._path(name).unlink()
        self.clean()

    def clean(self) -> None:
        """Remove objects that no checkpoint refers to, and files that a killed process left unfinished."""
        # A checkpoint that was changed may be restored from a backup: its objects stay.
        with suppress(SessionError):
            used = {piece["digest"] for name in self.all() for piece in self.read(name).pieces}
            for path in (*self.objects.glob("*"), *self.folder.glob(f"{_NEW}*")):
                if path.name not in used:
                    path.unlink(missing_ok=True)

    def size_of(self, digest: str) -> int:
        """Return the size of an object in bytes; -1 if there is none."""
        path = self.objects / digest
        return path.stat().st_size if re.fullmatch(r"[0-9a-f]{64}", digest) and path.is_file() else -1

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"

    def _signature(self, body: bytes) -> bytes:
        if not self._key.exists():
            new = make_private(self._key.parent) / f"{self._key.name}{_NEW}{secrets.token_hex(8)}"
            write_whole(new, secrets.token_bytes(32))
            # Another process may have made one, and signed with it.
            with suppress(FileExistsError):
                self._key.hardlink_to(new)
            new.unlink()
        return hmac.new(self._key.read_bytes(), body, "sha256").hexdigest().encode()


@contextmanager
def _written(folder: Path) -> Iterator[tuple[IO[bytes], list[Path]]]:
    """Yield a new file, and a list for its final path; if that stays empty, the file is removed."""
    path, target = folder / f"{_NEW}{secrets.token_hex(8)}", list[Path]()
    try:
        with os.fdopen(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb"
        ) as file:
            yield file, target
            file.flush()
            os.fsync(file.fileno())
        for there in target:
            path.replace(there)
    finally:
        path.unlink(missing_ok=True)


class SecretSearch:
    """Searches the bytes of one object for secrets."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known = [form.encode() for secret in redactor.secrets for form in set(written_forms(secret))]
        self._read, self._before = 0, b""

    def found_in(self, piece: bytes) -> bool:
        """Return True if a secret is in the next piece, or begins in the one before."""
        # numpy stores each letter of a text in four bytes, three of them mostly zero.
        text = self._before + piece.replace(b"\0", b"")
        self._before, self._read = text[-_OVERLAP:], self._read + len(piece)
        has_known = any(known in text for known in self._known)
        if has_known or self._read > _SEARCHED:
            return has_known
        plain = text.translate(_PRINTABLE).decode("ascii")
        return self._redactor.redacted(plain) != plain


class Receiver:
    """Receives the objects of a checkpoint through a pipe; at most `room` bytes of new ones are written."""

    def __init__(self, store: CheckpointStore, pipe: Path, redactor: Redactor, room: int) -> None:
        """Make the pipe, in the folder of the kernel."""
        self._store, self._pipe, self._redactor, self._room = store, pipe, redactor, room
        make_private(store.objects)
        os.mkfifo(pipe, 0o600)
        self._stopped = False
        self.pieces: list[dict[str, Any]] = []
        self.left: dict[str, str] = {}

    def stop(self) -> None:
        """End `run` in another thread, at the next bytes of the kernel, or before it has begun."""
        self._stopped = True
        with suppress(OSError):
            # Opening and closing the pipe for writing ends the file for its reader.
            descriptor = os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            self._pipe.unlink()
            os.close(descriptor)
        self._pipe.unlink(missing_ok=True)

    def run(self) -> bool:
        """Receive all objects; return False if the kernel did not finish.

        Raises:
            OSError: an object cannot be written.
            ValueError: the kernel writes anything but objects.
        """
        try:
            # Code of the kernel may have put a link in its place.
            pipe = os.open(self._pipe, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(pipe, "rb") as self._file:
                if sys.platform == "linux":
                    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _LARGEST_PIECE)
                while not (row := self._line()).get("end"):
                    self._take(row)
        except (EOFError, FileNotFoundError):
            return False
        return True

    def _take(self, row: dict[str, Any]) -> None:
        names = _checked_names(row)
        if isinstance(why := row.get("why"), str):
            self._leave(names, why)
            return
        piece = {key: row[key] for key in ("names", "kinds", "form", "by")}
        is_secret = row["form"] in (*DATA, "pickle") and any(map(is_secret_name, names))
        if "digest" in row:
            digest = str(row["digest"])
        else:
            search = None if row.get("numbers") is True else SecretSearch(self._redactor)
            digest, is_secret = self._object(search, is_secret=is_secret)
            row = self._line() if digest else row
        needs = [str(one) for one in row.get("needs") or ()]
        there = {name for one in self.pieces for name in one["names"]} if needs else set()
        if is_secret:
            self._leave(names, _SECRET)
        elif missing := [name for name in needs if name not in there]:
            self._leave(names, f"it needs {missing[0]}")
        elif (size := self._store.size_of(digest)) >= 0:
            self.pieces.append({**piece, "digest": digest, "size": size, "needs": needs})
        elif digest:
            self._leave(names, "its file was removed")

    def _object(self, search: SecretSearch | None, *, is_secret: bool) -> tuple[str, bool]:
        """Write an object; return its digest ("": the kernel gave up), and if it is a secret."""
        digest, room = hashlib.sha256(), self._room
        with _written(self._store.objects) as (file, target):
            while length := int.from_bytes(self._bytes(4)):
                if length == _ABANDONED:
                    self._room = room
                    return "", False
                if length > min(_LARGEST_PIECE, self._room):
                    raise ValueError(f"{length:,} bytes at once")
                piece = self._bytes(length)
                self._room -= length
                is_secret = is_secret or (search is not None and search.found_in(piece))
                if not is_secret:
                    file.write(piece)
                    digest.update(piece)
            if not is_secret:
                target.append(self._store.objects / digest.hexdigest())
        return digest.hexdigest(), is_secret

    def _leave(self, names: Sequence[str], why: str) -> None:
        self.left |= dict.fromkeys(names, why[:200])

    def _line(self) -> dict[str, Any]:
        line = self._file.readline(_LONGEST_LINE)
        if self._stopped or not line.endswith(b"\n"):
            raise EOFError
        row = json.loads(line)
        if not isinstance(row, dict):
            raise ValueError("a line that is no row")
        return row

    def _bytes(self, count: int) -> bytes:
        found = self._file.read(count)
        if self._stopped or len(found) < count:
            raise EOFError
        return found


def _checked_names(row: Mapping[str, Any]) -> list[str]:
    """Return the names in a row of the kernel.

    Raises:
        ValueError: it is malformed.
    """
    names, kinds = row.get("names"), row.get("kinds")
    if not (isinstance(names, list) and isinstance(kinds, list) and len(names) == len(kinds)):
        raise ValueError("a row without names")
    texts = [*names, *kinds, row.get("by"), row.get("form")]
    if not all(isinstance(one, str) and len(one) <= 300 and one.isprintable() for one in texts):
        raise ValueError("a row with other names")
    found = [name for name in names if name]
    are_names = all(name.isidentifier() and not re.match("_.*__$", name) for name in found)
    if not (found and are_names and row["form"] in _FORMS):
        raise ValueError("a row that is no object")
    return found
