"""What the model reads of an error lets it write better code at once."""

from pathlib import Path

import pytest

from terp.events import TurnFinished
from terp.kernels.jupyter.local import LocalKernels
from terp.testing import ScriptedModel, call, collect
from tests.core.sessions import of, open_session, results

pytestmark = pytest.mark.anyio
READS = "import pandas as pd\nd = pd.read_csv('iris.csv')\nd['Species']"


async def test_a_wrong_column_is_answered_with_the_right_ones(tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_text("sepal_length,species\n5.1,setosa\n7.0,versicolor\n6.3,virginica\n")
    model = ScriptedModel(call(READS), call("d['species'].nunique()"), "3")
    session = open_session(tmp_path, model, LocalKernels(str(tmp_path)))
    events = await collect(session, "How many species?")
    await session.aclose()
    first, second = results(session)
    assert "----> 3 d['Species']" in first
    assert "KeyError: 'Species'" in first
    assert "[values where it failed: d = DataFrame 3×2]" in first
    assert "[The columns are: sepal_length, species. Did you mean 'species'?]" in first
    assert len(first) < 2_000
    assert second.startswith("3")
    assert of(TurnFinished, events) == [TurnFinished("done", "3")]


async def test_values_are_not_sent_where_that_is_set(tmp_path: Path) -> None:
    model = ScriptedModel(call("x = 7\nx / 0"), "no")
    session = open_session(tmp_path, model, LocalKernels(str(tmp_path)))
    session.resources.error_values = False
    await collect(session, "go")
    await session.aclose()
    (told,) = results(session)
    assert "ZeroDivisionError: division by zero" in told
    assert "[values where it failed" not in told


async def test_the_same_error_of_other_code_is_told_and_ends_the_turn(tmp_path: Path) -> None:
    model = ScriptedModel(call("x = 1\nint('a')"), call("y = 2\nint('a')"), call("z = 3\n\nint('a')"), "no")
    session = open_session(tmp_path, model, LocalKernels(str(tmp_path)))
    events = await collect(session, "go")
    await session.aclose()
    told = ["[same error as before; try something else]" in text for text in results(session)]
    assert told == [False, True, True]
    assert [(one.reason, one.error) for one in of(TurnFinished, events)] == [
        ("repeated_failure", "The same error came 3 times in a row, so the turn stopped.")
    ]


async def test_a_success_between_lets_the_turn_go_on(tmp_path: Path) -> None:
    again = [call("int('a')"), call("1")]
    session = open_session(tmp_path, ScriptedModel(*again * 4, "no"), LocalKernels(str(tmp_path)))
    events = await collect(session, "go")
    await session.aclose()
    assert of(TurnFinished, events) == [TurnFinished("done", "no")]
    assert "same error as before" in results(session)[2]


async def test_a_name_that_a_restart_took_is_told(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    session = open_session(tmp_path, ScriptedModel(call("d = 1"), "ok", call("d"), "ok"), kernels)
    await collect(session, "go")
    await kernels.get("python").restart()
    await collect(session, "go on")
    await session.aclose()
    assert "[d is gone: the kernel has restarted since it was set. Set it again.]" in results(session)[-1]
