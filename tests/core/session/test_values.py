"""Values that go to a real kernel and come back, and bytes that lie."""

import io
import json
import struct
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from terp.errors import CannotTransfer, MissingVariable
from terp.kernels.jupyter.local import LocalKernels
from terp.person import AutoRun
from terp.session.session import Session
from terp.session.values import decoded, encoded
from terp.testing import ScriptedModel

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def session(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Session, None]:
    folder = tmp_path_factory.mktemp("cwd")
    opened = Session(ScriptedModel(), LocalKernels(str(folder)), AutoRun(), folder=folder / "session")
    await opened.kernel.run("import numpy, pandas")
    yield opened
    await opened.aclose()


FRAME = pd.DataFrame(
    {
        "n": [1, 2],
        "who": ["Zoë", None],
        "at": pd.to_datetime(["2024-01-01", "2025-02-02"]),
        "x": [0.1, 1e-300],
    }
)


@pytest.mark.parametrize(
    "value",
    [
        FRAME,
        FRAME.set_index("who"),
        pd.Series([1.5, 2.5], index=["a", "b"], name="x"),
        pd.Series([1, 2]),
        np.arange(6, dtype="int16").reshape(2, 3),
        np.array(["2024-01-01"], "M8[D]"),
        np.float32(0.1),
        {"a": [1, 2.5, None, True, "Zoë\ud800"]},
        [],
        10**40,
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_value_comes_back_as_it_went(session: Session, value: Any) -> None:
    await session.kernel.set("v", value)
    back = await session.kernel.get("v")
    assert type(back) is type(value)
    if isinstance(value, pd.DataFrame):
        pd.testing.assert_frame_equal(back, value)
    elif isinstance(value, pd.Series):
        pd.testing.assert_series_equal(back, value)
    else:
        assert np.array_equal(back, value) if isinstance(value, np.ndarray) else back == value


async def test_a_table_of_arrow_or_polars_comes_back(session: Session) -> None:
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    frame = polars.DataFrame({"a": ["x", None], "b": [[1], [2, 3]]})
    for value in pyarrow.table({"z": [1, None]}), frame, frame["a"]:
        await session.kernel.set("v", value)
        back = await session.kernel.get("v")
        assert type(back) is type(value)
        assert back.equals(value)


async def test_other_objects_go_into_the_kernel_as_pickles(session: Session) -> None:
    await session.kernel.set("v", {1, 2})
    assert (await session.kernel.run("type(v), len(v)")).text == "(set, 2)\n"


async def test_a_set_variable_is_no_change_of_the_next_run_and_the_model_reads_of_it(
    session: Session,
) -> None:
    await session.kernel.set("mine", 1)
    assert [change.name for change in (await session.kernel.run("other = 2")).changes] == ["other"]
    assert any("I have set the variable mine" in note for note in session._history.notes)


HOSTILE = """
import os
class Evil:
    def __reduce__(self):
        return os.system, ({command!r},)
class Liar:
    __class__ = pandas.DataFrame
    __module__ = "pandas"
    def to_csv(self, *args, **kwargs):
        return Evil()
class Sly(dict):
    def items(self):
        return [("a", Evil())]
evil, liar, sly, nested, objects = Evil(), Liar(), Sly(), {{"a": Evil()}}, numpy.array([Evil()])
frame = pandas.DataFrame({{"a": [Evil()]}})
raw, keys = b"raw", {{1: 2}}
"""


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("evil", "is of type Evil, which cannot leave the kernel"),
        ("liar", "is of type pandas.Liar, which cannot leave the kernel"),
        ("sly", "is of type Sly"),
        ("nested", "is a dict with a value of type Evil"),
        ("objects", "is a numpy.ndarray of Python objects"),
        ("frame", "is of type pandas.DataFrame, which cannot be converted|with a value of type Evil"),
        ("raw", "is of type bytes"),
        ("keys", "is a dict with a key of type int"),
    ],
)
async def test_no_object_of_another_type_leaves_the_kernel(
    session: Session, tmp_path: Path, name: str, named: str
) -> None:
    owned = tmp_path / "owned"
    await session.kernel.run(HOSTILE.format(command=f"touch {owned}"))
    with pytest.raises(CannotTransfer, match=named):
        await session.kernel.get(name)
    assert not owned.exists()


async def test_a_variable_that_is_not_there_is_a_key_error(session: Session) -> None:
    with pytest.raises(KeyError) as missing:
        await session.kernel.get("nowhere")
    assert isinstance(missing.value, MissingVariable)
    assert str(missing.value) == "There is no variable 'nowhere' in the kernel."


@pytest.mark.parametrize("name", ["", "a b", "class", "x; y"])
async def test_what_is_no_name_is_refused(session: Session, name: str) -> None:
    with pytest.raises(CannotTransfer, match="is not the name of a variable"):
        await session.kernel.set(name, 1)


async def test_a_kernel_that_lies_about_its_package_gets_nothing_unpickled(
    session: Session, tmp_path: Path
) -> None:
    owned = tmp_path / "owned"
    lie = f"""
import pickle
from terp_home import values
class Evil:
    def __reduce__(self):
        return eval, ("open({str(owned)!r}, 'w')",)
true = values.write
def write(value, out, arrow):
    out.write(pickle.dumps(Evil()))
    return "pickle", "json"
values.write = write
x = 1
"""
    await session.kernel.run(lie)
    try:
        with pytest.raises(CannotTransfer, match="it came as pickle of json"):
            await session.kernel.get("x")
    finally:
        await session.kernel.run("values.write = true")
    assert not owned.exists()


def npy(header: str, body: bytes = b"") -> bytes:
    line = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(line)) + line + body


@pytest.mark.parametrize(
    "content",
    [
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}", b"12345678"),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"\x80\x04K\x01."),
        npy("{'descr': __import__('os').system('false'), 'shape': (1,)}"),
        b"PK\x03\x04",
        b"",
    ],
)
def test_an_array_that_claims_more_than_it_holds_is_refused(content: bytes) -> None:
    with pytest.raises((CannotTransfer, ValueError)):
        decoded("npy", "numpy.ndarray", content)


@pytest.mark.parametrize(
    "columns",
    [
        {
            "labels": ["a"],
            "index": [0, 10**15, 1],
            "index_name": None,
            "columns": [{"type": "int64", "values": [1]}],
        },
        {
            "labels": ["a"],
            "index": [0, 1, 1],
            "index_name": None,
            "columns": [{"type": "S9", "values": ["x"]}],
        },
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: Any) -> None:
    with pytest.raises(ValueError, match=r"not of one length|of the type S9"):
        decoded("json", "pandas.DataFrame", json.dumps(columns).encode())


def test_a_stream_of_arrow_that_could_grow_is_refused() -> None:
    pyarrow = pytest.importorskip("pyarrow")

    def stream(table: Any, compression: str | None = None) -> bytes:
        out, options = io.BytesIO(), pyarrow.ipc.IpcWriteOptions(compression=compression)
        with pyarrow.ipc.new_stream(out, table.schema, options=options) as writer:
            writer.write_table(table)
        return out.getvalue()

    small = pyarrow.table({"a": pyarrow.array(["x"] * 9).dictionary_encode()})
    assert decoded("arrow", "pyarrow.Table", stream(small)).equals(small)
    with pytest.raises(CannotTransfer, match="compressed"):
        decoded("arrow", "pyarrow.Table", stream(small, "zstd"))
    with pytest.raises(CannotTransfer, match="more rows than it holds"):
        decoded("arrow", "pyarrow.Table", stream(pyarrow.table({"a": pyarrow.nulls(20_000_000)})))
    repeated = pyarrow.RunEndEncodedArray.from_arrays([2_000_000_000], [1])
    with pytest.raises(CannotTransfer, match="run_end_encoded"):
        decoded("arrow", "pyarrow.Table", stream(pyarrow.table({"a": repeated})))
    with pytest.raises(OSError, match=r"[Ee]xpected"):
        decoded("arrow", "pandas.DataFrame", stream(small)[:-40])


async def test_tables_without_pyarrow_travel_as_json(tmp_path: Path) -> None:
    session = Session(ScriptedModel(), LocalKernels(str(tmp_path)), AutoRun(), folder=tmp_path / "session")
    await session.kernel.run("import sys; sys.modules['pyarrow'] = None")
    try:
        for value in FRAME, FRAME.set_index("n"), FRAME["x"]:
            await session.kernel.set("v", value)
            assert str(await session.kernel.get("v")) == str(value)
        await session.kernel.run("v = v.to_frame().set_index('x', append=True)")
        with pytest.raises(CannotTransfer, match="has a MultiIndex, which needs pyarrow"):
            await session.kernel.get("v")
    finally:
        await session.aclose()


def test_what_cannot_be_pickled_is_named() -> None:
    with pytest.raises(CannotTransfer, match="A function cannot be sent to the kernel"):
        encoded(lambda: 1, arrow=False)
