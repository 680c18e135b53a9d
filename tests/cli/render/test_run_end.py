"""The end of a run on the screen: one row where there is room for all of it."""

import pytest

from terp.events import CodeFinished
from terp.events.outputs import VariableChange
from terp_cli.render.words import finished

ENDED = CodeFinished("c1", "ok", 0.021, changes=(VariableChange("x", "new", "int"),))


@pytest.mark.parametrize(
    ("width", "rows"), [(80, ["✓ ran · 21 ms · +x int"]), (20, ["✓ ran · 21 ms", "  +x int"])]
)
def test_changed_variables_stand_behind_the_end_where_there_is_room(width: int, rows: list[str]) -> None:
    assert [row.plain for row in finished(ENDED, width=width)] == rows
