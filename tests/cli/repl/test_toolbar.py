"""The last line of the screen."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from terp.events.messages import User
from terp.models.facts.model_facts import Window
from terp.session.session import Session
from terp.testing import ScriptedModel
from terp_cli.prompt.interface import ToolbarPart, fitted
from terp_cli.repl.repl import Toolbar
from tests.cli.running import Terp
from tests.cli.teletype import Teletype
from tests.core.sessions import open_session


def line(session: Session, profile: str = "default") -> str:
    return " · ".join(part.text for part in Toolbar().parts(session, profile))


@pytest.mark.parametrize(
    ("profile", "shown"),
    [
        ("default", "scripted/model · no sandbox · /help"),
        ("wo\x1brk", "scripted/model · wo^[rk · no sandbox · /help"),
    ],
)
def test_a_profile_other_than_the_default_one_is_named(tmp_path: Path, profile: str, shown: str) -> None:
    assert line(open_session(tmp_path, ScriptedModel()), profile) == shown


def window(tokens: int) -> Callable[[str], Window]:
    return lambda _: Window(tokens)


@pytest.mark.parametrize(("times", "shown"), [(4, "context 25 %"), (10_000, "context 1 %")])
def test_the_fill_of_the_context_window_is_shown(tmp_path: Path, times: int, shown: str) -> None:
    session = open_session(tmp_path, ScriptedModel())
    session.history = [User("x" * 1_000)]
    session.resources.windows = window(session.expected_tokens * times)
    assert line(session) == f"scripted/model · {shown} · no sandbox · /help"


def test_of_an_unknown_window_the_tokens_are_shown(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel())
    session.history = [User("x" * 1_000)]
    assert line(session) == f"scripted/model · {session.expected_tokens:,} tokens · no sandbox · /help"


def test_before_a_message_nothing_is_said_of_the_context(tmp_path: Path) -> None:
    assert line(open_session(tmp_path, ScriptedModel())) == "scripted/model · no sandbox · /help"


@pytest.mark.parametrize(
    ("approval", "style"),
    [("never", ("runs without asking", "bad")), ("effect", ("asks at effects", "quiet"))],
)
def test_code_that_runs_without_a_question_is_shown_in_colour(
    tmp_path: Path, approval: str, style: tuple[str, str]
) -> None:
    parts = Toolbar().parts(open_session(tmp_path, ScriptedModel()), approval=approval)
    assert [(part.text, part.style) for part in parts[1:3]] == [("no sandbox", "warning"), style]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (40, ["model", "2 jobs", "no sandbox", "/help"]),
        (30, ["model", "2 jobs", "no sandbox"]),
        (5, ["no sandbox"]),
    ],
)
def test_parts_without_room_go_by_their_rank(width: int, shown: list[str]) -> None:
    parts = [
        ToolbarPart("model", 3),
        ToolbarPart("2 jobs", 1),
        ToolbarPart("no sandbox"),
        ToolbarPart("/help", 7),
    ]
    assert [part.text for part in fitted(parts, width)] == shown


def test_the_profile_of_the_configuration_is_named(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    (terp.home / "profiles").mkdir()
    (terp.home / "profiles" / "work.yaml").write_text("model: openai/m\napi_base: http://127.0.0.1:9/v1\n")
    (terp.home / "config.yaml").write_text("profile: work\n")
    environ = terp.environ | {"COLORFGBG": "15;0"}
    with Teletype([sys.executable, "-m", "terp_cli"], terp.cwd, environ) as teletype:
        # What the bar showed before that is not painted again.
        assert teletype.until("no sandbox").endswith("work · \x1b[;33mno sandbox")


def test_without_colours_what_is_quiet_is_dim(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    (terp.home / "config.yaml").write_text("model: openai/m\napi_base: http://127.0.0.1:9/v1\n")
    environ = terp.environ | {"NO_COLOR": "1", "COLORFGBG": "15;0"}
    with Teletype([sys.executable, "-m", "terp_cli"], terp.cwd, environ) as teletype:
        shown = teletype.until("no sandbox")
    assert set(re.findall(r"\x1b\[([\d;]*)m", shown)) == {"", "1", "2"}
