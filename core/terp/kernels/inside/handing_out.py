"""Values of the namespace as bytes for a checkpoint that outlives the kernel.

This only hands out bytes: terp writes, hashes and signs the files. Modules are kept by name, functions and
classes as source, arrays and tables as npy and Arrow, texts and numbers as JSON, all others as pickles.
Values that share objects are in one pickle, so that they still share them when it is read.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import io
import json
import pickle
import re
import signal
import struct
import sys
import time
import types
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import _lru_cache_wrapper, partial
from typing import Any, NewType, TypeVar

from .checkpoints import Checkpoint, Checkpoints, is_restorable
from .heap_scan import Reach
from .known import StoredValue, is_module, printable, type_name
from .referring import defined, is_numpy, is_one
from .stored import MAIN, StoredNames
from .tables import of_arrow, write_arrow
from .values import SCALARS, TABLES, full_name, has_safe_arrow, write

PIECE_BYTES, ABANDONED = 1 << 20, 0xFFFFFFFF
# CPU time for finding the objects that values share.
SHARED_S = 0.3
# Rows of a table for which Arrow is tried.
TRIED = 100
LIBRARIES = ("pickle", "cloudpickle", "dill")
# A pickle of one of these only names it, so it would refer to itself.
NAMED = (_lru_cache_wrapper, NewType, TypeVar)
# Objects of these are shared by unrelated values.
CONSTANTS = (tuple, frozenset, slice, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


class Left(Exception):
    """A value is left out; the message is the reason."""


class Full(Left):
    """There is no room, or no time, for a value, in whatever form."""


class Sink(io.RawIOBase):
    """Takes the bytes of an object: passes them on with `send`, or hashes them if there is none."""

    def __init__(self, room: int, until: float, send: Callable[[Any], None] | None = None) -> None:
        super().__init__()
        self.digest = hashlib.sha256()
        self.send = send or self.digest.update
        self.room, self.until = room, until

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Take some bytes."""
        view = memoryview(data).cast("B")
        self.room -= len(view)
        if self.room < 0 or time.monotonic() > self.until:
            raise Full("there is no room for it" if self.room < 0 else "it took too long")
        self.send(view)
        return len(view)


class OutgoingObject:
    """An object to store: the values in it by their names, and how its bytes are written."""

    def __init__(self, form: str, named: dict[str, Any], by: str, put: Any, numbers: bool = False) -> None:
        self.named, self.put = named, put
        kinds = ["module" if form == "module" else type_name(value) for value in named.values()]
        self.row: dict[str, Any] = {"names": list(named), "kinds": kinds, "form": form, "by": by}
        self.row["numbers"] = numbers


class HandingOut:
    """Hands out the values of the namespace, once for each checkpoint."""

    def __init__(self, stored: StoredNames, checkpoints: Checkpoints) -> None:
        self.stored, self.checkpoints = stored, checkpoints
        # Checksums of objects with the digests and sizes that belong to them, by their names.
        self.marks: dict[str, Any] = {}

    def run(self, path: str, known: dict[str, str], room: int, seconds: float) -> dict[str, Any]:
        """Write all values into the pipe at `path`: a line for each object, then its bytes in pieces.

        Objects with a `known` digest have no bytes. At most `room` bytes are written, in at most `seconds`
        (0: no limit).
        """
        self.known, self.room = known, room
        self.until = time.monotonic() + (seconds or 1e9)
        # terp stops reading if it cannot write, and interrupts this if the user does.
        with suppress(BrokenPipeError, KeyboardInterrupt), open(path, "wb", buffering=1 << 16) as self.pipe:  # noqa: PTH123
            for row in self.waiting():
                self.room -= row["size"]
                self.line(row)
            for piece in self.pieces():
                self.send_object(piece)
            self.line({"end": True})
        return {"done": True}

    def line(self, row: dict[str, Any]) -> None:
        """Write a line of JSON."""
        self.pipe.write(json.dumps(row).encode() + b"\n")

    def send(self, view: Any) -> None:
        """Write bytes of an object, in pieces with their lengths."""
        for start in range(0, len(view), PIECE_BYTES):
            part = view[start : start + PIECE_BYTES]
            self.pipe.write(struct.pack(">I", len(part)))
            self.pipe.write(part)

    def names(self) -> dict[str, Any]:
        """Return the user's names with their values."""
        hidden = self.stored.home.shell.user_ns_hidden
        return {n: v for n, v in list(self.stored.names.items()) if is_restorable(n, v, hidden)}

    def waiting(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of objects that were restored and never loaded: their files stay as they are.

        An object that refers to a loaded one is loaded first: the loaded one may have changed.
        """
        every = self.stored.all
        for one in list(self.stored.waiting.values()):
            if any(self.stored.names.get(name) is not every[name] for name in one.piece["needs"]):
                self.stored.load(one)
        stored = {name: one for name, one in self.names().items() if type(one) is StoredValue}
        pieces = {id(one.piece): one.piece for one in stored.values()}.values()
        for piece in sorted(pieces, key=lambda piece: len(piece["needs"])):
            bound = {one.part: name for name, one in stored.items() if one.piece is piece}
            yield {**piece, "names": [bound.get(part, "") for part in range(len(piece["names"]))]}

    def pieces(self) -> Iterator[OutgoingObject]:
        """Yield the objects, the small ones first, and at the end those that may refer to others."""
        rest, plain = {}, []
        self.by_name: dict[int, str] = {}
        for name, value in self.names().items():
            piece = self.unpickled(name, value) if id(value) not in self.by_name else None
            if piece:
                plain.append(piece)
                if piece.row["form"] != "json":
                    self.by_name[id(value)] = name
            elif type(value) is not StoredValue:
                # Also a second name of an object: a pickle that refers to the first.
                rest[name] = value
        size = self.checkpoints.kinds.size
        plain.sort(key=lambda piece: size(next(iter(piece.named.values()))) or 0)
        groups = [part for group in self.sharing(rest) for part in self.parts(group)]
        yield from plain
        yield from (OutgoingObject("pickle", group, "pickle", None) for group in groups)

    def unpickled(self, name: str, value: Any) -> OutgoingObject | None:
        """Return the object for a value that needs no pickle; None for any other."""
        kind, named = type(value), {name: value}
        if is_module(value):
            module = printable(getattr(value, "__name__", ""), 200)
            is_known = sys.modules.get(module) is value
            return text_object("module", named, module, module if is_known else "")
        is_named = is_one(kind, NAMED) and value.__name__ == name
        if kind is types.FunctionType or issubclass(kind, type) or is_named:
            return text_object("source", named, value.__name__, self.source_of(value))
        table = next((one for one in TABLES if is_one(kind, defined(*one.split(".")))), "")
        if table and is_exact(value, table):
            dtypes = getattr(value, "dtypes", [None])
            numbers = all(map(is_numeric, [dtypes] if hasattr(dtypes, "kind") else dtypes))
            return OutgoingObject("arrow", named, table, partial(write_arrow, value, table), numbers)
        is_array = is_one(kind, defined("numpy", "ndarray"))
        if is_numpy(kind) or (is_array and not value.dtype.hasobject):
            by, put = "numpy.ndarray" if is_array else "numpy.scalar", partial(write, value, arrow=False)
            return OutgoingObject("npy", named, by, put, is_numeric(value.dtype))
        return text_object("json", named, "json", json.dumps(value) if is_one(kind, SCALARS) else "")

    def source_of(self, value: Any) -> str:
        """Return the source with which a cell has defined a function or class; "" if there is none."""
        own = value.__name__
        where = (value.__module__, getattr(value, "__qualname__", own))
        if where != (MAIN, own) or getattr(value, "__closure__", None):
            return ""
        loaded, source = self.stored.sources.get(own, (None, ""))
        if loaded is value:
            return source
        cells = self.stored.home.shell.history_manager.input_hist_parsed
        if type(value) is types.FunctionType:
            with suppress(OSError, TypeError):
                return definition(inspect.getsource(value), own)
            return ""
        return next((found for cell in reversed(cells) if (found := definition(cell, own))), "")

    def sharing(self, values: dict[str, Any]) -> list[dict[str, Any]]:
        """Return values in groups, each of which shares objects that can change."""
        until = time.thread_time() + SHARED_S
        groups: list[dict[str, Any]] = []
        reached: list[set[int]] = []
        for name, value in values.items():
            scan = Sharing(self.checkpoints, Checkpoint(0, {}), max(0.0, until - time.thread_time()))
            scan.apart = self.by_name
            group = {name: value}
            keys = {k for k, v in scan.of(value).items() if not is_one(type(v), CONSTANTS)}
            for at in [at for at in reversed(range(len(groups))) if reached[at] & keys]:
                group, keys = {**groups.pop(at), **group}, reached.pop(at) | keys
            groups.append(group)
            reached.append(keys)
        return groups

    def parts(self, group: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the group if all of it can be pickled; else each value that cannot, and the rest."""
        fit = {}
        for name, value in group.items() if len(group) > 1 else ():
            with suppress(Exception):
                self.pickle("pickle", {name: value}, set(), Sink(self.room, self.until, lambda _: None))
                fit[name] = value
        if len(fit) in (0, len(group)):
            return [group] if fit or len(group) == 1 else [{name: value} for name, value in group.items()]
        return [*({name: value} for name, value in group.items() if name not in fit), *self.sharing(fit)]

    def send_object(self, piece: OutgoingObject) -> None:
        """Write one object, or the reason why it is left out."""
        why = ""
        for library in LIBRARIES if piece.row["form"] == "pickle" else ("",):
            needs: set[str] = set()
            if library:
                piece.row["by"], piece.put = library, partial(self.pickle, library, piece.named, needs)
            try:
                self.write(piece, needs)
                return
            except BrokenPipeError:
                raise
            except ImportError:
                continue
            except Exception as error:  # noqa: BLE001 - of a class, or a library
                why = why or reason(error, piece)
                if isinstance(error, Full):
                    break
        self.line({**piece.row, "why": printable(why, 200)})

    def write(self, piece: OutgoingObject, needs: set[str]) -> None:
        """Write an object, or only its digest if it is known. Raises if it cannot be written as a whole."""
        names = ",".join(piece.row["names"])
        if known := self.known.get(names, ""):
            mark, (former, digest, size) = self.mark(piece), self.marks.get(names, (None, "", 0))
            if mark is None or (former, digest) != (mark, known) or size > self.room:
                sink = Sink(self.room, self.until)
                piece.put(sink)
                digest, size = sink.digest.hexdigest(), self.room - sink.room
            if digest == known:
                self.marks[names] = (mark, known, size)
                self.room -= size
                self.line({**piece.row, "digest": known, "needs": sorted(needs)})
                return
        sink = Sink(self.room, self.until, self.send)
        self.line(piece.row)
        try:
            piece.put(sink)
        except BaseException:
            self.pipe.write(struct.pack(">I", ABANDONED))
            raise
        self.room = sink.room
        self.pipe.write(struct.pack(">I", 0))
        self.line({"needs": sorted(needs)})

    def mark(self, piece: OutgoingObject) -> Any:
        """Return checksums of all bytes of an object, with no copy of its arrays; None if that saves no time.

        CRC-32 takes a third of the time of SHA-256, and nobody would gain from a collision.
        """
        arrays: list[Any] = []

        def take(buffer: Any) -> None:
            arrays.append((zlib.crc32(buffer.raw()), buffer.raw().nbytes))

        sink, row = Sink(self.room, self.until), piece.row
        # An object that this pickle cannot hold is compared by its digest.
        with suppress(Exception):
            if row["form"] == "pickle":
                piece.put(sink, take)
                return sink.digest.digest(), arrays
            if row["by"].startswith(("numpy.ndarray", "pandas", "pyarrow")):
                pickle.Pickler(sink, 5, buffer_callback=take).dump(piece.named)
                return sink.digest.digest(), arrays
        return None

    def pickle(self, by: str, named: dict[str, Any], needs: set[str], out: Any, take: Any = None) -> None:
        """Pickle values; those that are objects of their own are referred to by their names.

        The memory of arrays is given to `take`, if there is one.
        """

        def persistent_id(_: Any, value: Any) -> Any:
            name = self.by_name.get(id(value))
            if name is not None:
                needs.add(name)
            elif is_one(type(value), (types.FunctionType, *NAMED)) or issubclass(type(value), type):
                if value.__module__ == MAIN and (by == "pickle" or is_one(type(value), NAMED)):
                    raise Left(f"the source of {printable(value.__name__, 60)} is not known")
            elif by == "dill" and isinstance(value, io.IOBase):
                raise Left("it holds an open file")
            return name

        pickler = type("Pickler", (importlib.import_module(by).Pickler,), {"persistent_id": persistent_id})
        with self.time_limit():
            pickler(out, protocol=5 if take else 4, buffer_callback=take).dump(list(named.values()))

    @contextmanager
    def time_limit(self) -> Iterator[None]:
        """Raise `Full` in code of the values when the time is over, but not within the bytes of a piece."""

        def over(_: int, frame: Any) -> None:
            if frame.f_code is not HandingOut.send.__code__:
                raise Full("it took too long")

        before = signal.signal(signal.SIGALRM, over)
        # Again each second: code may catch the first.
        timer = signal.setitimer(signal.ITIMER_REAL, max(self.until - time.monotonic(), 0.001), 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, before or signal.SIG_DFL)


class Sharing(Reach):
    """Finds the objects that belong to a value, not to its class or to an object `apart`."""

    apart: dict[int, str]

    def saver_for(self, value: Any) -> Any:
        """Return the saver of an object that is followed."""
        if id(value) in self.apart or issubclass(type(value), type) or is_module(value):
            return None
        return super().saver_for(value)


def text_object(form: str, named: dict[str, Any], by: str, text: str) -> OutgoingObject | None:
    """Return the object for a value that is stored as text; None without one."""
    return OutgoingObject(form, named, by, lambda out: out.write(text.encode())) if text else None


def reason(error: Exception, piece: OutgoingObject) -> str:
    """Return why a value cannot be stored: its type, and what it holds."""
    kind = full_name(type(next(iter(piece.named.values()))))
    if isinstance(error, Left):
        return str(error)
    return kind if kind.rpartition(".")[2] in str(error) else f"{kind}: {type(error).__name__}: {error}"


def definition(code: str, name: str) -> str:
    """Return the part of a cell that defines a name at its top: `def`, `class`, or `T = TypeVar("T")`."""
    with suppress(SyntaxError, ValueError):
        for one in reversed(ast.parse(code).body):
            text = ast.get_source_segment(code, one) or "" if isinstance(one, ast.Assign) else ""
            if re.match(rf"{name}\s*=\s*[\w.]+\(\s*(['\"]){name}\1", text):
                return text
            if getattr(one, "name", "") == name:
                decorators = getattr(one, "decorator_list", ())
                start = min([one.lineno, *(decorator.lineno for decorator in decorators)])
                return "\n".join(code.splitlines()[start - 1 : one.end_lineno]) + "\n"
    return ""


def is_numeric(dtype: Any) -> bool:
    """Return True if values of a dtype of numpy can hold no text."""
    return getattr(dtype, "kind", "O") in "biufcmM" and dtype.itemsize > 1


def is_exact(table: Any, kind: str) -> bool:
    """Return True if Arrow holds a table exactly, as far as its dtypes and first rows show."""
    if not (has_safe_arrow() and kind.startswith("pandas")):
        return has_safe_arrow()
    pandas, pyarrow, out = sys.modules["pandas"], importlib.import_module("pyarrow"), io.BytesIO()
    is_series = kind == "pandas.Series"
    if table.attrs or any(str(one) == "object" for one in ([table.dtype] if is_series else table.dtypes)):
        return False
    assert_equal = getattr(pandas.testing, f"assert_{'series' if is_series else 'frame'}_equal")
    try:
        write_arrow(table.head(TRIED), kind, out)
        back = of_arrow(pyarrow.ipc.open_stream(out.getvalue()).read_all(), kind)
        assert_equal(table.head(TRIED), back, check_exact=True, check_freq=True)
    except Exception:  # noqa: BLE001 - of a library, about any type of column
        return False
    return True
