"""Tables as Arrow, and where pyarrow is missing as columns for JSON. terp's own process uses it, too.

What is read may be malformed on purpose: `frame_of` checks it before memory is taken for it.
"""

from __future__ import annotations

import re
import sys
from typing import Any

# Types of columns whose values JSON holds exactly.
PLAIN = re.compile(r"bool|u?int\d+|float\d+|str|object|(datetime64|timedelta64)\[\w+\]")
NEEDS = "needs pyarrow in the kernel and beside terp"


def write_arrow(table: Any, kind: str, out: Any) -> None:
    """Write a table to a file in the stream format of Arrow; its kind is "pandas.Series" or the like."""
    import pyarrow  # noqa: PLC0415 - it may be missing

    if kind == "pandas.Series":
        table = table.to_frame("" if table.name is None else table.name)
    elif kind == "polars.Series":
        table = table.to_frame()
    if kind.startswith("pandas"):
        table = pyarrow.Table.from_pandas(table)
    elif kind.startswith("polars"):
        # The newest form has views of text, which cannot be checked for their size.
        table = table.to_arrow(compat_level=sys.modules["polars"].CompatLevel.oldest())
    with pyarrow.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)


def of_arrow(table: Any, kind: str) -> Any:
    """Return a table of Arrow as one of that kind."""
    if kind.startswith("polars"):
        import polars  # noqa: PLC0415 - only for its own tables

        frame: Any = polars.from_arrow(table)
        return frame.to_series() if kind == "polars.Series" else frame
    if kind.startswith("pandas"):
        table = table.to_pandas()
    return series_of(table) if kind == "pandas.Series" else table


def columns_of(value: Any) -> dict[str, Any]:
    """Return the columns of a DataFrame, or of a Series as a table of one column.

    Raises ValueError with the part that has no such form.
    """
    frame = value if hasattr(value, "columns") else value.to_frame("" if value.name is None else value.name)
    kinds = (type(frame.index).__name__, type(frame.columns).__name__)
    if "MultiIndex" in kinds:
        raise ValueError(f"has a MultiIndex, which {NEEDS}")
    rows = frame.index
    index: Any = (
        [rows.start, rows.stop, rows.step] if kinds[0] == "RangeIndex" else column_of(rows.to_series())
    )
    columns = [column_of(frame.iloc[:, number]) for number in range(frame.shape[1])]
    return {"labels": frame.columns.tolist(), "index": index, "index_name": rows.name, "columns": columns}


def column_of(column: Any) -> dict[str, Any]:
    """Return the type and the values of one column."""
    kind = str(column.dtype)
    if not PLAIN.fullmatch(kind):
        raise ValueError(f"has a column of {kind}, which {NEEDS}")
    values = column.to_numpy()
    if kind[0] in "dt":
        values = values.view("int64")
    # A missing text is nan in Python's lists, as in pandas.
    return {"type": kind, "values": values.tolist()}


def frame_of(columns: Any, kind: str) -> Any:
    """Return the DataFrame or Series, by its kind, of these columns.

    Raises ValueError if they do not fit together.
    """
    import pandas  # noqa: PLC0415 - only for its own tables

    index = columns["index"]
    rows = pandas.RangeIndex(*index) if isinstance(index, list) else pandas.Index(array_of(index))
    read = dict(enumerate(map(array_of, columns["columns"])))
    if any(len(one) != len(rows) for one in read.values()):
        raise ValueError("its columns are not of one length")
    frame = pandas.DataFrame(read, index=rows.rename(columns["index_name"]))
    frame.columns = pandas.Index(columns["labels"])
    return series_of(frame) if kind == "pandas.Series" else frame


def array_of(column: Any) -> Any:
    """Return the values of one column."""
    import numpy  # noqa: PLC0415 - see `frame_of`
    import pandas  # noqa: PLC0415 - see `frame_of`

    kind = str(column["type"])
    if not PLAIN.fullmatch(kind):
        raise ValueError(f"a column is of the type {kind}")
    if kind[0] in "dt":
        return numpy.array(column["values"], "int64").view(kind)
    return pandas.Series(column["values"], dtype=kind).array


def series_of(frame: Any) -> Any:
    """Return the only column of a table; a Series without a name was sent as ""."""
    series = frame.iloc[:, 0]
    return series.rename(None) if series.name == "" else series
