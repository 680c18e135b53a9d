"""Values between the user's program and variables of the Python kernel.

Into the kernel they travel as Arrow, npy, JSON or a pickle. Out of it only as Arrow, npy or JSON: to unpickle
what code in the kernel has made would run its code here. What arrives is checked before memory is taken.
"""

import base64
import io
import json
import keyword
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terp import kernels
from terp.errors import CannotTransfer, KernelBusy, MissingVariable

if TYPE_CHECKING:
    from terp.kernels.jupyter.running import RunningKernel

LARGEST, LARGEST_JSON = 2_000_000_000, 100_000_000
"""Limits in bytes for one value, and for one that is JSON."""
# Of a piece in base64: a websocket of tornado takes 10 MB.
_PIECE, _PIECE_S, _CONVERTED_S = 4_000_000, 60.0, 300.0
_REMEDY = "Save it to a file with code and download that, or turn it into a table, an array, a dict or text."
# Earlier versions run code that a stream brings (CVE-2023-47248).
_PYARROW = 15
# Cells of a table for each byte of its stream: a bit is the smallest cell. Small tables are never refused.
_CELLS_PER_BYTE, _FEW_CELLS = 16, 10_000_000
_TABLES = ("pandas.DataFrame", "pandas.Series", "polars.DataFrame", "polars.Series", "pyarrow.Table")

_REPEATING = ("run_end_encoded", "union", "string_view", "binary_view", "list_view", "large_list_view")


def check_name(name: str) -> None:
    """Raise unless `name` can be a variable.

    Raises:
        CannotTransfer: it is no name of Python.
    """
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise CannotTransfer(f"{name!r} is not the name of a variable.")


async def received(running: "RunningKernel", name: str) -> Any:
    """Return the value of a variable of the kernel.

    Raises:
        MissingVariable: there is none of this name.
        CannotTransfer: it is of a type that cannot leave the kernel, too large, or what arrives is malformed.
        KernelBusy: the kernel does not answer.
    """
    arrow = "arrow" if _has_arrow() else ""
    about = await asked(running, "value_out", _CONVERTED_S, "begin", name, arrow)
    if about.get("missing"):
        raise MissingVariable(f"There is no variable '{name}' in the kernel.")
    if "error" in about:
        raise CannotTransfer(f"The variable '{name}' {_shown(about['error'])}.", _REMEDY)
    form, kind, size = str(about.get("form")), str(about.get("kind")), about.get("size")
    most = LARGEST_JSON if form == "json" else LARGEST
    if not isinstance(size, int) or not 0 <= size <= most:
        raise CannotTransfer(f"The variable '{name}' is larger than {most:,} bytes.", _REMEDY)
    content = bytearray()
    while len(content) < size:
        answer = await asked(running, "value_out", _PIECE_S, "piece", str(len(content)), str(_PIECE))
        piece = base64.b64decode(str(answer.get("piece")))
        if not 0 < len(piece) <= _PIECE:
            break
        content += piece
    try:
        if len(content) != size:
            raise CannotTransfer(f"{len(content):,} of {size:,} bytes have arrived")
        return decoded(form, kind, bytes(content))
    except (Exception, RecursionError) as error:  # any error of a library about malformed bytes
        why = error.message if isinstance(error, CannotTransfer) else f"{type(error).__name__}: {error}"
        raise CannotTransfer(f"The value of '{name}' cannot be read here: {_shown(why)}.") from error


async def sent(running: "RunningKernel", name: str, value: Any) -> None:
    """Bind a value of this program to a variable of the kernel.

    Raises:
        CannotTransfer: it cannot be pickled, is too large, or cannot be read in the kernel.
        KernelBusy: the kernel does not answer.
    """
    begun = await asked(running, "value_in", _PIECE_S, "begin")
    form, kind, content = encoded(value, arrow=begun.get("arrow") is True and _has_arrow())
    if len(content) > LARGEST:
        raise CannotTransfer(f"The value for '{name}' is too large: at most {LARGEST:,} bytes are sent.")
    for start in range(0, len(content), _PIECE):
        piece = base64.b64encode(content[start : start + _PIECE]).decode()
        await asked(running, "value_in", _PIECE_S, "add", piece)
    answer = await asked(running, "value_in", _CONVERTED_S, "end", name, form, kind)
    if "error" in answer:
        raise CannotTransfer(f"The kernel cannot read the value for '{name}': {_shown(answer['error'])}.")


async def asked(running: "RunningKernel", what: str, timeout_s: float, *about: Any) -> Mapping[str, Any]:
    """Return the answer of terp's package in the kernel.

    Raises:
        KernelBusy: there is none.
    """
    answer = (await running.ask_bootstrap(what, timeout_s, about=about) or {}).get(what)
    if not isinstance(answer, Mapping):
        raise KernelBusy("The kernel does not answer.", "Stop its code, or restart it.")
    return answer


def _shown(text: object) -> str:
    """Return words from the kernel as one short line."""
    return re.sub(r"[^ -~\u00a1-\ud7ff]+", " ", str(text))[:300].rstrip(".")


def _has_arrow() -> bool:
    try:
        return int(str(import_module("pyarrow").__version__).partition(".")[0]) >= _PYARROW
    except (ImportError, ValueError):
        return False


def encoded(value: Any, *, arrow: bool) -> tuple[str, str, bytes]:
    """Return the form of a value for the kernel, its kind and its bytes; tables need `arrow` to be Arrow.

    Raises:
        CannotTransfer: it cannot be pickled.
    """
    import pickle  # noqa: PLC0415  (few sessions are given values)

    numpy = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject:
        out = io.BytesIO()
        numpy.lib.format.write_array(out, value, allow_pickle=False)
        return "npy", "numpy.ndarray", out.getvalue()
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    try:
        if arrow and kind in _TABLES:
            out = io.BytesIO()
            _tables("write_arrow")(value, kind, out)
            return "arrow", kind, out.getvalue()
        if kind in _TABLES and kind.startswith("pandas."):
            # A pickle is read only by the same versions of libraries.
            with suppress(ValueError, TypeError):
                return "json", kind, json.dumps(_tables("columns_of")(value)).encode()
        return "pickle", kind, pickle.dumps(value)
    except Exception as error:  # any error of the value's own class
        raise CannotTransfer(f"A {type(value).__name__} cannot be sent to the kernel: {error}") from error


def _tables(name: str) -> Any:
    """Return a function of terp's module for tables in the kernel, which works in any Python."""
    import runpy  # noqa: PLC0415  (see above)

    # Importing it by its name would import its package, with ipykernel.
    return runpy.run_path(str(Path(kernels.__file__).with_name("inside") / "tables.py"))[name]


def decoded(form: str, kind: str, content: bytes) -> Any:
    """Return the value in bytes that the kernel sent, which may be malformed on purpose.

    Raises:
        CannotTransfer: the form is none of Arrow, npy and JSON, or the bytes claim more than they hold.
        Exception: a library found them malformed.
    """
    if form == "npy":
        array = _array(content)
        return array[()] if kind == "numpy.scalar" else array
    if form == "json" and kind == "json":
        return json.loads(content)
    if form == "json" and kind.startswith("pandas."):
        return _tables("frame_of")(json.loads(content), kind)
    if form == "arrow" and kind in _TABLES:
        return _table(content, kind)
    raise CannotTransfer(f"it came as {form} of {kind}, and only Arrow, npy and JSON are read")


def _array(content: bytes) -> Any:
    numpy = import_module("numpy")
    file, npy = io.BytesIO(content), numpy.lib.format
    version = npy.read_magic(file)
    shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(file)
    size = dtype.itemsize
    for length in shape:
        size *= length
    if dtype.hasobject or size != len(content) - file.tell():
        raise CannotTransfer("its header does not fit its bytes")
    file.seek(0)
    return npy.read_array(file, allow_pickle=False)


def _table(content: bytes, kind: str) -> Any:
    pyarrow = import_module("pyarrow")
    _check_messages(content, pyarrow)
    with pyarrow.ipc.open_stream(content) as stream:
        for field in stream.schema:
            _check_type(field.type, pyarrow.types, nested=False)
        table = stream.read_all()
    if table.num_rows * max(1, table.num_columns) > max(_FEW_CELLS, _CELLS_PER_BYTE * len(content)):
        raise CannotTransfer("its table claims more rows than it holds")
    # Offsets that lead out of the buffers would crash this process.
    table.validate(full=True)
    return _tables("of_arrow")(table, kind)


def _check_type(kind: Any, types: Any, *, nested: bool) -> None:
    """Refuse types of which a few bytes stand for many values."""
    repeats = any(getattr(types, f"is_{name}", lambda _: False)(kind) for name in _REPEATING)
    if repeats or (nested and (types.is_null(kind) or types.is_dictionary(kind))):
        raise CannotTransfer(f"a column is of the type {kind}")
    dictionary = types.is_dictionary(kind)
    for one in [kind.value_type] if dictionary else [kind.field(n).type for n in range(kind.num_fields)]:
        _check_type(one, types, nested=True)


def _check_messages(content: bytes, pyarrow: Any) -> None:
    """Refuse a stream with compressed parts: these can become any number of bytes."""
    messages = pyarrow.ipc.MessageReader.open_stream(content)
    for message in messages:
        if message.type not in ("schema", "record batch", "dictionary"):
            raise CannotTransfer(f"its stream has a {message.type}")
        if _is_compressed(message.metadata.to_pybytes(), message.type):
            raise CannotTransfer("its stream is compressed")


def _is_compressed(metadata: bytes, kind: str) -> bool:
    """Return True if a message names a compression: the field 3 of a record batch (Arrow's Message.fbs)."""

    def number(at: int, size: int) -> int:
        return int.from_bytes(metadata[at : at + size], "little", signed=size == 4)

    def field(table: int, index: int) -> int:
        """Return the place of a field in a table of a flatbuffer; 0 if it is not set."""
        rows = table - number(table, 4)
        offset = number(rows + 4 + 2 * index, 2) if number(rows, 2) > 4 + 2 * index else 0
        return table + offset if offset else 0

    def inner(at: int) -> int:
        return at + number(at, 4)

    if kind == "schema":
        return False
    batch = inner(field(number(0, 4), 2))
    return bool(field(inner(field(batch, 1)) if kind == "dictionary" else batch, 3))
