"""Values of a checkpoint that are bound to names, and load when a cell first mentions them.

terp writes and signs the files of a checkpoint; this reads them. `handing_out` sends values to terp.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import linecache
import re
import sys
import types
from typing import Any

from .heap_scan import words_of
from .home import Home
from .known import NAMESPACE, StoredValue, printable
from .namespace import Namespace
from .object_savers import names_in
from .values import SAFE_PYARROW, decoded, has_safe_arrow

MAIN = "__main__"
# A call with which code reaches names that it does not mention.
DYNAMIC = re.compile(r"(?<![.\w])(?:exec|eval|globals|locals|vars)\s*\(").search


class StoredNames:
    """Binds names to the values of a checkpoint."""

    def __init__(self, home: Home, namespace: Namespace) -> None:
        self.home, self.namespace = home, namespace
        self.names: dict[str, Any] = home.shell.user_ns
        self.folder = ""
        # Values that no code has mentioned yet, and all, by their names in the checkpoint.
        self.waiting: dict[str, StoredValue] = {}
        self.all: dict[str, StoredValue] = {}
        # Loaded values to which stored ones refer, by the id of their object; ids of objects being read.
        self.loaded: dict[int, list[Any]] = {}
        self.loading: set[int] = set()
        # Functions and classes with their sources, for the next checkpoint.
        self.sources: dict[str, tuple[Any, str]] = {}

    def bind(self, folder: str, pieces: list[Any]) -> dict[str, Any]:
        """Bind names to the stored objects in a folder; they are read when code first mentions them."""
        self.folder = folder
        try:
            for piece in pieces:
                with open(self.path(piece), "rb"):  # noqa: PTH123
                    pass
        except OSError:
            return {"unreadable": True}
        self.all, self.waiting, self.loaded = {}, {}, {}
        for piece in pieces:
            for part, name in enumerate(piece["names"]):
                self.all[name] = self.waiting[name] = StoredValue(piece, part, self.load)
        self.waiting.pop("", None)
        self.names.update(self.waiting)
        self.namespace.before = None
        return {"bound": len(self.waiting)}

    def path(self, piece: Any) -> str:
        """Return the file of a stored object."""
        return f"{self.folder}/{piece['digest']}"

    def load_mentioned(self, code: str) -> None:
        """Load the values that code mentions, also in functions and classes of the user's that it uses."""
        if not self.waiting:
            return
        before, words = len(self.waiting), words_of(code)
        try:
            self.load_behind(words | (self.waiting.keys() if DYNAMIC(code) else set()))
        finally:
            self.waiting = {name: one for name, one in self.waiting.items() if self.names.get(name) is one}
            if len(self.waiting) != before:
                # Loading is no change of this cell.
                self.namespace.before = None
                self.namespace.cells -= 1
                self.namespace.begin(code)

    def load_behind(self, words: set[str]) -> None:
        """Load the values of these names, and of names that they use."""
        seen = set()
        while words:
            word = words.pop()
            seen.add(word)
            value = self.names.get(word)
            if type(value) is StoredValue:
                value = self.load_or_remove(word, value)
            words |= self.words_behind(value) - seen

    def load_or_remove(self, name: str, stored: StoredValue) -> Any:
        """Return a value; report one that cannot be loaded, and remove its name."""
        try:
            return self.load(stored)
        except Exception as error:  # noqa: BLE001 - of a library, a class, or the user's source
            why = printable(f"{type(error).__name__}: {error}", 300)
            sys.stderr.write(f"{name} could not be loaded from the checkpoint: {why}\n")
            del self.names[name]
            return None

    def words_behind(self, value: Any) -> set[str]:
        """Return the names that a function or a class of the user's, or an object of one, can use."""
        kind = value if issubclass(type(value), type) else type(value)
        inner = [value]
        if NAMESPACE(kind).get("__module__") == MAIN:
            inner = [getattr(one, "__func__", one) for one in NAMESPACE(kind).values()]
        functions = [one for one in inner if type(one) is types.FunctionType]
        return {word for one in functions if one.__globals__ is self.names for word in names_in(one.__code__)}

    def load(self, stored: StoredValue) -> Any:
        """Return a stored value; bind all values of its object to the names that still wait for them."""
        key = id(stored.piece)
        if key in self.loaded:
            return self.loaded[key][stored.part]
        if key in self.loading:
            raise ValueError("it refers to itself")
        self.loading.add(key)
        try:
            values = self.loaded[key] = self.read(stored.piece)
        finally:
            self.loading.discard(key)
        for name, one in self.waiting.items():
            if one.piece is stored.piece and self.names.get(name) is one:
                self.names[name] = values[one.part]
        # Only what others refer to is held here.
        left = [one.piece for name, one in self.waiting.items() if self.names.get(name) is one]
        needed = {id(self.all[name].piece) for piece in left for name in piece["needs"]}
        self.loaded = {one: found for one, found in self.loaded.items() if one in needed}
        return values[stored.part]

    def read(self, piece: Any) -> list[Any]:
        """Return the values of a stored object; its bytes must be those that terp has signed."""
        with open(self.path(piece), "rb") as file:  # noqa: PTH123
            content = file.read()
        if hashlib.sha256(content).hexdigest() != piece["digest"]:
            raise ValueError("its file was changed or is damaged")
        form, by = piece["form"], piece["by"]
        if form == "module":
            return [importlib.import_module(content.decode())]
        if form == "source":
            return [self.defined(by, content.decode())]
        if form == "arrow" and not has_safe_arrow():
            raise ValueError(f"it needs pyarrow {SAFE_PYARROW} or later")
        if form == "json":
            return [json.loads(content)]
        if form != "pickle":
            return [decoded(form, by, content)]
        library = importlib.import_module("dill" if by == "dill" else "pickle")

        def persistent_load(_: Any, name: Any) -> Any:
            return self.load(self.all[name])

        unpickler = type("Unpickler", (library.Unpickler,), {"persistent_load": persistent_load})
        return list(unpickler(io.BytesIO(content)).load())

    def defined(self, name: str, source: str) -> Any:
        """Run the source of a function or class, and return what it defines."""
        for word in words_of(source) & self.waiting.keys():
            one = self.waiting[word]
            if self.names.get(word) is one and id(one.piece) not in self.loading:
                self.load(one)
        file = f"<{name} of the checkpoint>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        before = self.names.get(name, self)
        exec(compile(source, file, "exec"), self.names)  # noqa: S102 - the user's own source
        value = self.names.pop(name)
        if before is not self:
            self.names[name] = before
        self.sources[name] = (value, source)
        return value
