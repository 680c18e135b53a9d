"""The last line of the screen."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from terp.events import UsageReported
from terp.testing import ScriptedModel
from terp_cli.repl.repl import Toolbar
from tests.cli.running import Terp
from tests.cli.teletype import Teletype
from tests.core.sessions import open_session


@pytest.mark.parametrize(
    ("profile", "shown"),
    [
        ("default", "scripted/model · no sandbox · /help"),
        ("wo\x1brk", "scripted/model · wo^[rk · no sandbox · /help"),
    ],
)
def test_a_profile_other_than_the_default_one_is_named(tmp_path: Path, profile: str, shown: str) -> None:
    assert Toolbar().text(open_session(tmp_path, ScriptedModel()), profile) == shown


@pytest.mark.parametrize(
    ("used", "shown"),
    [
        ((), ""),
        ((UsageReported(1_200, 34, 0, 0.25),), " · 1,234 tokens · $0.25"),
        ((UsageReported(1_200, 34, 0, 0.001),), " · 1,234 tokens · <$0.01"),
        ((UsageReported(1_200, 34, 0, 0.25), UsageReported(1, 0, 0, None)), " · 1,235 tokens"),
    ],
)
def test_the_usage_of_the_session_is_shown_also_of_before_it_was_resumed(
    tmp_path: Path, used: Sequence[UsageReported], shown: str
) -> None:
    session = open_session(tmp_path, ScriptedModel())
    for usage in used:
        session.budget.note(usage)
    assert Toolbar().text(session) == f"scripted/model{shown} · no sandbox · /help"


def test_the_profile_of_the_configuration_is_named(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    (terp.home / "profiles").mkdir()
    (terp.home / "profiles" / "work.yaml").write_text("model: openai/m\napi_base: http://127.0.0.1:9/v1\n")
    (terp.home / "config.yaml").write_text("profile: work\n")
    with Teletype([sys.executable, "-m", "terp_cli"], terp.cwd, terp.environ) as teletype:
        # What the bar showed before that is not painted again.
        assert teletype.until("no sandbox").endswith("work · no sandbox")
