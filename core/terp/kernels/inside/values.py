"""Variables that leave the kernel as Arrow, npy or JSON, and values that enter as these or as a pickle.

A value leaves only if its class is itself one of Python's, numpy's, pandas', polars' or pyarrow's: what an
object says about its class is not asked.
"""

from __future__ import annotations

import base64
import io
import json
import sys
from typing import Any, Tuple  # noqa: UP035 - Python 3.8

from .known import NAME, NAMESPACE, printable
from .referring import defined, is_numpy, is_one, named
from .tables import NEEDS, columns_of, frame_of, of_arrow, write_arrow

SAFE_PYARROW = 15
SCALARS = (str, int, float, bool, type(None))
TABLES = ("pandas.DataFrame", "pandas.Series", "polars.DataFrame", "polars.Series", "pyarrow.Table")

Sent = Tuple[str, str]  # noqa: UP006
"""The form "arrow", "npy" or "json", and the kind of the value."""


class CannotSend(Exception):
    """A value has no form in which it can leave; the message is the reason."""


class Transfers:
    """The value that is being sent or received, in pieces."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.content = b""
        self.pieces: list[bytes] = []

    def out(self, what: str, about: str, arrow: str = "") -> dict[str, Any]:
        """Answer a request for a variable: "begin" returns its form and size, "piece" a part of its bytes."""
        if what == "piece":
            start = int(about)
            return {"piece": base64.b64encode(self.content[start : start + int(arrow)]).decode()}
        try:
            value = named(self.shell, about)
        except Exception:  # noqa: BLE001 - no such name
            return {"missing": True}
        try:
            out = io.BytesIO()
            form, kind = write(value, out, arrow=bool(arrow))
            self.content = out.getvalue()
        except CannotSend as refused:
            return {"error": printable(str(refused), 300)}
        except Exception as error:  # noqa: BLE001 - a library in a state, or of an unexpected version
            why = f"is of type {full_name(type(value))}, which cannot be converted: {error}"
            return {"error": printable(why, 300)}
        return {"form": form, "kind": kind, "size": len(self.content)}

    def into(self, what: str, about: str = "", form: str = "", kind: str = "") -> dict[str, Any]:
        """Take a value: "begin" answers if it can be Arrow, "add" takes a piece, "end" binds a name."""
        if what == "begin":
            self.pieces = []
            return {"arrow": has_pyarrow()}
        if what == "add":
            self.pieces.append(base64.b64decode(about))
        else:
            content, self.pieces = b"".join(self.pieces), []
            try:
                self.shell.user_ns[about] = decoded(form, kind, content)
            except Exception as error:  # noqa: BLE001 - a module that is missing here, or of another version
                return {"error": printable(f"{type(error).__name__}: {error}", 300)}
        return {}


def full_name(kind: Any) -> str:
    """Return the name of a class with its module."""
    module = NAMESPACE(kind).get("__module__")
    own = type(module) is not str or module in ("builtins", "__main__")
    return printable(NAME(kind) if own else f"{module}.{NAME(kind)}", 100)


def write(value: Any, out: Any, *, arrow: bool) -> Sent:
    """Write a value to a file; tables without `arrow` become JSON."""
    kind = type(value)
    for known in TABLES:
        if is_one(kind, defined(*known.split("."))):
            return write_table(value, known, out, arrow=arrow)
    if is_numpy(kind) or is_one(kind, defined("numpy", "ndarray")):
        numpy = sys.modules["numpy"]
        array = numpy.asarray(value)
        if array.dtype.hasobject:
            raise CannotSend("is a numpy.ndarray of Python objects, which cannot leave the kernel")
        numpy.lib.format.write_array(out, array, allow_pickle=False)
        return "npy", "numpy.ndarray" if kind is numpy.ndarray else "numpy.scalar"
    out.write(json.dumps(plain(value)).encode())
    return "json", "json"


def plain(value: Any, holds: str = "is") -> Any:
    """Return a value as JSON has it: tuples become lists, numbers of numpy those of Python."""
    kind = type(value)
    if is_numpy(kind):
        value = value.item()
        kind = type(value)
    if is_one(kind, SCALARS):
        return value
    if kind is list or kind is tuple:
        return [plain(one, f"is a {kind.__name__} with a value") for one in value]
    if kind is dict:
        for key in value:
            if type(key) is not str:
                raise CannotSend(f"is a dict with a key of type {full_name(type(key))}, not text")
        return {key: plain(one, "is a dict with a value") for key, one in value.items()}
    raise CannotSend(f"{holds} of type {full_name(kind)}, which cannot leave the kernel")


def write_table(value: Any, kind: str, out: Any, *, arrow: bool) -> Sent:
    """Write a table, as Arrow if terp and this kernel have it."""
    if arrow and has_pyarrow():
        write_arrow(value, kind, out)
        return "arrow", kind
    if not kind.startswith("pandas"):
        raise CannotSend(f"is a {kind}, which {NEEDS}")
    try:
        out.write(json.dumps(plain(columns_of(value))).encode())
    except ValueError as error:
        raise CannotSend(str(error)) from None
    return "json", kind


def has_pyarrow() -> bool:
    """Return True if pyarrow can be imported."""
    try:
        import pyarrow  # noqa: F401, PLC0415
    except ImportError:
        return False
    return True


def has_safe_arrow() -> bool:
    """Return True if pyarrow reads streams without running code that they bring (CVE-2023-47248)."""
    return has_pyarrow() and int(sys.modules["pyarrow"].__version__.partition(".")[0]) >= SAFE_PYARROW


def decoded(form: str, kind: str, content: bytes) -> Any:
    """Return the value that terp's own process has sent."""
    if form == "pickle":
        import pickle  # noqa: PLC0415

        return pickle.loads(content)  # noqa: S301 - it comes from the user's program
    if form == "npy":
        import numpy  # noqa: PLC0415

        array = numpy.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        return array if kind == "numpy.ndarray" else array[()]
    if form == "json":
        return frame_of(json.loads(content), kind)
    import pyarrow  # noqa: PLC0415

    return of_arrow(pyarrow.ipc.open_stream(content).read_all(), kind)
