import dataclasses
from dataclasses import replace
from pathlib import Path

import pytest

from terp.checks.until.goal import current_goal
from terp.errors import SettingsError
from terp.kernels.sandbox.confinement import Confinement, SandboxOptions
from terp.kernels.sandbox.tier import Unconfined
from terp.opening.changing import Change
from terp.settings import Settings
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.table import Misused
from tests.cli.repl.commands.talking import Noted

DOCKER = dataclasses.replace(Unconfined(), name="docker")


def held(tmp_path: Path) -> Noted:
    talk = Noted(tmp_path)
    talk.session.equipment.confinement = Confinement(
        SandboxOptions(),
        str(tmp_path),
        {"HOME": str(tmp_path)},
        lambda: talk.auto_run,
        tiers=lambda *_: [DOCKER],
    )
    talk.session.equipment.confinement.options = SandboxOptions("auto")
    return talk


async def test_what_is_allowed_counts_for_the_next_kernel(tmp_path: Path) -> None:
    talk = held(tmp_path)
    assert await talk.does("/allow /etc") == ["Code may read and write /etc in this session."]
    assert talk.session.equipment.confinement is not None
    assert talk.session.equipment.confinement.allowed.paths == ("/etc",)


async def test_the_model_is_told_what_is_allowed_and_which_variables_that_cost(tmp_path: Path) -> None:
    talk = held(tmp_path)
    await talk.does("/allow network")
    talk.session.kernels.tier = "docker"
    await talk.session.kernels.start()
    talk.yes = True
    await talk.does("/allow /etc")
    talk.yes = False
    await talk.does("/allow /usr")
    assert talk.session.taught == [
        "[The user lets code use the network now.]",
        "[The user had the python kernel started anew: its variables and imports are gone.]",
        "[The user lets code read and write /etc now.]",
        "[The user lets code read and write /usr, once its kernel starts anew.]",
    ]


async def test_the_network_is_allowed_by_its_name(tmp_path: Path) -> None:
    talk = held(tmp_path)
    assert await talk.does("/allow network") == ["Code may use the network in this session."]


async def test_a_kernel_that_has_the_network_need_not_start_anew_for_it(tmp_path: Path) -> None:
    talk = held(tmp_path)
    talk.yes = True
    talk.session.kernels.tier = "docker"
    await talk.session.kernels.start()
    confinement = talk.session.equipment.confinement
    assert confinement is not None
    confinement.options = SandboxOptions("strict")
    confinement.now(language="python")
    opened = await talk.does("/allow network")
    assert ("ask", "Start python anew now? Variables there are lost; files stay.") in opened
    confinement.now(language="python")
    assert await talk.does("/allow network") == ["Code may use the network in this session."]


async def test_allow_wants_to_know_what(tmp_path: Path) -> None:
    with pytest.raises(Misused, match="a path, or the word network"):
        await held(tmp_path).does("/allow")


async def test_a_kernel_that_runs_unconfined_is_offered_a_new_start(tmp_path: Path) -> None:
    talk = held(tmp_path)
    await talk.session.kernels.start()
    talk.yes = True
    did = await talk.does("/auto_run on")
    assert did == [
        "Code runs without being asked about. Nothing confines it: it can do whatever you can do on this "
        "machine and over the network.",
        "The sandbox (docker) holds kernels from their start; these run without it.",
        ("ask", "Start python anew now? Variables there are lost; files stay."),
        "Started anew: python.",
    ]


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
