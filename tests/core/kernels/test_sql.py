"""SQL in the Python kernel."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.events.outputs import Display, Error
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import ran

pytest.importorskip("duckdb")
pytest.importorskip("pandas")


@pytest.fixture
async def own(tmp_path: Path) -> AsyncGenerator[LocalKernels, None]:
    kernels = LocalKernels(str(tmp_path))
    yield kernels
    await kernels.aclose()


async def test_a_query_sees_the_data_frames_and_its_result_is_one(own: LocalKernels) -> None:
    await ran(own.get("python"), "import pandas; sales = pandas.DataFrame({'n': [1, 2, 3]})")
    run = await ran(own.get("sql"), "SELECT sum(n) AS total FROM sales")
    (shown,) = [item for item in run.items if isinstance(item, Display)]
    assert shown.data["text/plain"].split() == ["total", "0", "6.0"]


async def test_tables_stay_from_one_query_to_the_next(own: LocalKernels) -> None:
    await ran(own.get("sql"), "CREATE TABLE t AS SELECT 41 + 1 AS answer")
    run = await ran(own.get("sql"), "SELECT * FROM t")
    (shown,) = [item for item in run.items if isinstance(item, Display)]
    assert shown.data["text/plain"].split() == ["answer", "0", "42"]


async def test_an_error_is_duckdbs_own_without_the_frames_of_terp(own: LocalKernels) -> None:
    run = await ran(own.get("sql"), "SELECT * FROM nowhere")
    assert run.ended.status == "error"
    (error,) = [item for item in run.items if isinstance(item, Error)]
    assert error.name == "CatalogException"
    assert "connection" not in "".join(error.traceback)


async def test_of_a_long_result_the_beginning_is_fetched_and_that_is_said(own: LocalKernels) -> None:
    run = await ran(own.get("sql"), "SELECT * FROM range(20000)")
    assert "Only the first 10,000 rows were fetched" in run.stderr


def test_without_duckdb_in_the_chosen_python_sql_is_not_offered(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    assert "sql" not in LocalKernels(str(tmp_path), KernelOptions(python=str(python))).languages
