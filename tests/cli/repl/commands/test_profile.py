"""`/profile`, on a talk that notes what is done with it."""

from dataclasses import replace
from pathlib import Path

import pytest

from terp.opening.changing import Change
from terp.settings import Settings
from terp_cli.repl.commands.every import all_commands
from tests.cli.repl.commands.talking import Noted


def changed(folder: Path, **values: object) -> Noted:
    """A talk whose next profile sets these values."""
    talk = Noted(folder)
    origins = dict.fromkeys(values, "work.yaml:1")
    talk.changes = [Change(Settings(), replace(Settings(), **values, origins=origins))]  # type: ignore[arg-type]
    return talk


async def test_the_profiles_are_told(tmp_path: Path) -> None:
    first, *rest = await Noted(tmp_path).does("/profile")
    assert first == "The profile is default. /profile NAME takes another one:"
    assert [line.split()[0] for line in rest] == [
        "careful", "data", "default", "demo", "explain", "fast", "local", "shell", "solve", "vision",
    ]  # fmt: skip


async def test_what_another_profile_changes_is_told(tmp_path: Path) -> None:
    assert await changed(tmp_path, model="a/b", max_steps=5).does("/profile work") == [
        "The profile is work now.",
        "  model      – → a/b  work.yaml:1",
        "  max_steps  50 → 5   work.yaml:1",
    ]


async def test_long_values_leave_room_for_where_they_come_from(tmp_path: Path) -> None:
    [_, line] = await changed(tmp_path, instructions="Say it\nshortly, and in French.").does("/profile work")
    assert line == "  instructions  – → Say it shortly,…  work.yaml:1"


async def test_what_counts_only_from_the_next_start_on_is_told(tmp_path: Path) -> None:
    *_, last = await changed(tmp_path, theme="dark", retries=0).does("/profile work")
    assert last == "Only from the next start on (terp -p work): theme."


async def test_what_it_means_that_code_runs_unasked_is_told(tmp_path: Path) -> None:
    *_, last = await changed(tmp_path, auto_run=True).does("/profile work")
    assert last.startswith("Code runs without being asked about. Nothing confines it")


async def test_a_profile_that_changes_nothing_says_so(tmp_path: Path) -> None:
    assert await changed(tmp_path).does("/profile work") == [
        "The profile is work now. That changes nothing here."
    ]


async def test_who_does_not_want_to_lose_variables_keeps_the_profile(tmp_path: Path) -> None:
    talk = Noted(tmp_path)
    assert await talk.does("/profile work") == ["The profile is still default."]


@pytest.mark.parametrize(("begun", "offered"), [("wo", ["work"]), ("d", ["data", "default", "demo"])])
def test_the_names_of_profiles_are_offered(tmp_path: Path, begun: str, offered: list[str]) -> None:
    talk = Noted(tmp_path)
    talk.places.profiles.mkdir(parents=True)
    (talk.places.profiles / "work.yaml").write_text("model: openai/o3\n")
    assert [word for word, _ in all_commands().arguments(talk, "profile", begun)] == offered
