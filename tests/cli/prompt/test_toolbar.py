"""The last line of the screen."""

import sys
from pathlib import Path

import pytest

from terp.session.cost.tally import Tally
from terp_cli.prompt.toolbar import Toolbar
from tests.cli.running import Terp
from tests.cli.teletype import Teletype


@pytest.mark.parametrize(
    ("profile", "shown"),
    [("default", "m · no sandbox · /help"), ("wo\x1brk", "m · wo^[rk · no sandbox · /help")],
)
def test_a_profile_other_than_the_default_one_is_named(profile: str, shown: str) -> None:
    assert Toolbar(lambda: "m", lambda: "none", lambda: False, lambda: profile).text() == shown


@pytest.mark.parametrize(
    ("used", "shown"),
    [
        (Tally(), ""),
        (Tally(2, 1_200, 34, 0, 0.25), " · 1 234 tokens · $0.25"),
        (Tally(2, 1_200, 34, 0, 0.001), " · 1 234 tokens · <$0.01"),
        (Tally(2, 1_200, 34, 0, 0.25, unpriced=1), " · 1 234 tokens"),
    ],
)
def test_what_the_session_used_is_told_also_what_it_used_before_it_was_resumed(
    used: Tally, shown: str
) -> None:
    toolbar = Toolbar(lambda: "m", lambda: "none", lambda: False, used=lambda: used)
    assert toolbar.text() == f"m{shown} · no sandbox · /help"


def test_the_profile_of_the_configuration_is_named(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    (terp.home / "profiles").mkdir()
    (terp.home / "profiles" / "work.yaml").write_text("model: openai/m\napi_base: http://127.0.0.1:9/v1\n")
    (terp.home / "config.yaml").write_text("profile: work\n")
    with Teletype([sys.executable, "-m", "terp_cli"], terp.cwd, terp.environ) as teletype:
        # What the bar showed before that is not painted again.
        assert teletype.until("no sandbox").endswith("work · no sandbox")
