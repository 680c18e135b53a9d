"""SQL in the Python kernel, by DuckDB: it finds data frames by the names of the user's variables."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import duckdb
from IPython import get_ipython

_MOST_ROWS = 10_000

_connection = duckdb.connect()


def run(queries: str) -> Any:
    """Return the result of the last query: a data frame if pandas is installed; None without a result."""
    names = {"_terp_connection": _connection, "_terp_queries": queries}
    # DuckDB looks for tables among the names of the frame that calls it.
    call = "_terp_connection.sql(_terp_queries)"
    try:
        relation = eval(call, get_ipython().user_ns, names)  # noqa: S307 - two names of ours
        return None if relation is None else _fetched(relation)
    except duckdb.Error as error:
        raise error.with_traceback(None) from None


def _fetched(relation: Any) -> Any:
    if find_spec("pandas") is None:
        return relation
    frame = relation.limit(_MOST_ROWS + 1).df()
    if len(frame) <= _MOST_ROWS:
        return frame
    sys.stderr.write(
        f"Only the first {_MOST_ROWS:,} rows were fetched. Aggregate, or write all of them with "
        "COPY (…) TO 'file.parquet'.\n"
    )
    return frame.iloc[:_MOST_ROWS]
