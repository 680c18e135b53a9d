from pathlib import Path

import pytest

from terp.checks.until.goal import current_goal
from terp.errors import SettingsError
from tests.cli.repl.commands.talking import Noted


async def test_a_check_is_set_told_and_ended(tmp_path: Path) -> None:
    talk = Noted(tmp_path)
    told = ["Each turn goes on until this passes, at most 4 times more: pytest -q"]
    assert await talk.does("/until") == [
        "There is no check: a turn ends with the answer. /until CHECK sets one."
    ]
    assert await talk.does("/until pytest -q") == told
    assert await talk.does("/until") == told
    assert await talk.does("/until off") == ["Turns end with the answer now."]
    assert talk.session.equipment.goal is None


async def test_a_check_that_is_typed_needs_no_other_question(tmp_path: Path) -> None:
    talk = Noted(tmp_path)
    await talk.does("/until py: 1 == 1")
    goal = current_goal(talk.session.equipment)
    assert goal is not None
    assert (goal.check.expression, goal.agreed, goal.by_person) == ("1 == 1", True, True)


async def test_what_is_no_check_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is no Python expression"):
        await Noted(tmp_path).does("/until py: 1 +")
