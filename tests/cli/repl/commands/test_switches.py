import dataclasses
from contextlib import aclosing
from pathlib import Path

import pytest

from terp.checks.until.goal import current_goal
from terp.errors import SettingsError
from terp.events import CodeDeclined
from terp.events.effects import NOT_ANALYSED
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.tier import Unconfined
from terp.testing import call
from terp_cli.repl.commands.table import Misused
from tests.cli.repl.commands.here import Here

DOCKER = dataclasses.replace(Unconfined(), name="docker")


def held(tmp_path: Path) -> Here:
    here = Here(tmp_path)
    here.session.resources.confinement = Confinement(
        SandboxOptions(),
        str(tmp_path),
        {"HOME": str(tmp_path)},
        lambda: here.auto_run,
        tiers=lambda *_: [DOCKER],
    )
    here.session.resources.confinement.options = SandboxOptions("auto")
    return here


async def test_what_is_allowed_counts_for_the_next_kernel(tmp_path: Path) -> None:
    here = held(tmp_path)
    assert await here.does("/allow /etc") == ["Code may read and write /etc in this session."]
    assert here.session.resources.confinement is not None
    assert here.session.resources.confinement.allowed.paths == ("/etc",)


async def test_the_model_is_told_what_is_allowed_and_which_variables_that_cost(tmp_path: Path) -> None:
    here = held(tmp_path)
    await here.does("/allow network")
    here.kernel.tier = "docker"
    await here.kernel.start()
    here.user.yes = True
    await here.does("/allow /etc")
    here.user.yes = False
    await here.does("/allow /usr")
    assert await here.taught() == [
        "[The user lets code use the network now.]",
        "[The user restarted the python kernel: its variables and imports are gone.]",
        "[The user lets code read and write /etc now.]",
        "[The user lets code read and write /usr, once its kernel restarts.]",
    ]


async def test_the_network_is_allowed_by_its_name(tmp_path: Path) -> None:
    here = held(tmp_path)
    assert await here.does("/allow network") == ["Code may use the network in this session."]


async def test_a_kernel_that_has_the_network_need_not_start_anew_for_it(tmp_path: Path) -> None:
    here = held(tmp_path)
    here.user.yes = True
    here.kernel.tier = "docker"
    await here.kernel.start()
    confinement = here.session.resources.confinement
    assert confinement is not None
    confinement.options = SandboxOptions("strict")
    confinement.now(language="python")
    opened = await here.does("/allow network")
    assert "? Restart python now? Variables there are lost; files stay." in opened
    confinement.now(language="python")
    assert await here.does("/allow network") == ["Code may use the network in this session."]


async def test_allow_wants_to_know_what(tmp_path: Path) -> None:
    with pytest.raises(Misused, match="a path, or the word network"):
        await held(tmp_path).does("/allow")


async def test_a_kernel_that_runs_unconfined_is_offered_a_new_start(tmp_path: Path) -> None:
    here = held(tmp_path)
    await here.kernel.start()
    here.user.yes = True
    did = await here.does("/auto_run on")
    assert did == [
        "Code runs without asking. No sandbox: it can do whatever you can do on this "
        "machine and over the network.",
        "The sandbox (docker) applies to kernels that start now; these run without it.",
        "? Restart python now? Variables there are lost; files stay.",
        "Restarted: python.",
    ]


async def test_a_check_is_set_told_and_ended(tmp_path: Path) -> None:
    here = Here(tmp_path)
    told = ["Each turn continues until this passes, at most 4 times more: pytest -q"]
    assert await here.does("/until") == [
        "There is no check: a turn ends with the answer. /until CHECK sets one."
    ]
    assert await here.does("/until pytest -q") == told
    assert await here.does("/until") == told
    assert await here.does("/until off") == ["Turns end with the answer now."]
    assert here.session.resources.goal is None


async def test_a_check_that_is_typed_needs_no_other_question(tmp_path: Path) -> None:
    here = Here(tmp_path)
    await here.does("/until py: 1 == 1")
    goal = current_goal(here.session.resources)
    assert goal is not None
    assert (goal.check.expression, goal.agreed, goal.by_person) == ("1 == 1", True, True)


async def test_what_is_no_check_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is no Python expression"):
        await Here(tmp_path).does("/until py: 1 +")


def changed(folder: Path, *lines: str) -> Here:
    """A REPL with a profile "work" that has these lines."""
    here = Here(folder, environ={"OPENAI_API_KEY": "none"})
    here.places.profiles.mkdir(parents=True)
    (here.places.profiles / "work.yaml").write_text("".join(f"{line}\n" for line in lines))
    return here


async def test_the_profiles_are_told(tmp_path: Path) -> None:
    here = Here(tmp_path)
    first, *rest = await here.does("/profile")
    assert first == "The profile is default. Use which?"
    assert [line for line in rest if line.startswith("*")] == [rest[2]]
    assert [line[2:].split()[0] for line in rest] == [
        "careful", "data", "default", "demo", "explain", "fast", "local", "shell", "solve", "vision",
    ]  # fmt: skip


async def test_a_picked_profile_is_used(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.picking.picked = 5
    await here.does("/profile")
    assert here.profile == "fast"


async def test_what_another_profile_changes_is_told(tmp_path: Path) -> None:
    first, *rows = await changed(tmp_path, "model: openai/o3", "max_steps: 5").does("/profile work")
    assert first == "The profile is work now."
    assert [row.partition("  /")[0].rstrip() for row in rows] == [
        "  model      – → openai/o3",
        "  max_steps  50 → 5",
    ]


async def test_a_model_that_was_found_stays_if_the_profile_names_none(tmp_path: Path) -> None:
    here = changed(tmp_path, "max_steps: 5")
    here.settings = dataclasses.replace(here.settings, model="ollama/qwen3", api_base="http://127.0.0.1:1/v1")
    first, *rows = await here.does("/profile work")
    assert first == "The profile is work now."
    assert [row.partition("  /")[0].rstrip() for row in rows] == ["  max_steps  50 → 5"]
    assert (here.settings.model, here.settings.api_base) == ("ollama/qwen3", "http://127.0.0.1:1/v1")


async def test_long_values_leave_room_for_where_they_come_from(tmp_path: Path) -> None:
    here = changed(tmp_path, 'instructions: "Say it\\nshortly, and in French."')
    _, line = await here.does("/profile work")
    assert line.startswith(f"  instructions  – → Say it shortly,…  {tmp_path.root}")


async def test_what_counts_only_from_the_next_start_on_is_told(tmp_path: Path) -> None:
    *_, last = await changed(tmp_path, "theme: dark", "retries: 0").does("/profile work")
    assert last == "Takes effect at the next start (terp -p work): theme."


async def test_what_it_means_that_code_runs_unasked_is_told(tmp_path: Path) -> None:
    *_, last = await changed(tmp_path, "auto_run: true").does("/profile work")
    assert last.startswith("Code runs without asking. No sandbox")


async def test_a_profile_that_changes_nothing_says_so(tmp_path: Path) -> None:
    assert await changed(tmp_path).does("/profile work") == [
        "The profile is work now. That changes nothing here."
    ]


async def test_who_does_not_want_to_lose_variables_keeps_the_profile(tmp_path: Path) -> None:
    here = changed(tmp_path, "env_pass: [HOME]")
    await here.kernel.start()
    assert await here.does("/profile work") == [
        "? Restart the kernel (python)? Its variables will be gone.",
        "The profile is still default.",
    ]


@pytest.mark.parametrize(("begun", "offered"), [("wo", ["work"]), ("d", ["data", "default", "demo"])])
def test_the_names_of_profiles_are_offered(tmp_path: Path, begun: str, offered: list[str]) -> None:
    here = Here(tmp_path)
    here.places.profiles.mkdir(parents=True)
    (here.places.profiles / "work.yaml").write_text("model: openai/o3\n")
    assert here.offered("profile", begun) == offered


class Holding(Confinement):
    """A sandbox that can hold effects, whatever this machine can do."""

    @property
    def not_held(self) -> str:
        return ""


def holding(tmp_path: Path) -> tuple[Here, Confinement]:
    """A REPL whose kernels start in a sandbox that can hold effects."""
    here = Here(tmp_path)
    confinement = Holding(
        SandboxOptions("workspace"),
        str(tmp_path),
        {"HOME": str(tmp_path)},
        lambda: here.auto_run,
        tiers=lambda *_: [DOCKER],
    )
    here.session.resources.confinement = confinement
    return here, confinement


async def test_approval_at_effects_starts_code_at_once_until_it_is_switched_back(tmp_path: Path) -> None:
    here, confinement = holding(tmp_path)
    assert await here.does("/approve effect") == ["Code starts at once; you are asked at its effects."]
    assert (here.approval, confinement.at_once) == ("effect", True)
    assert await here.does("/approve before") == ["You are asked before code runs."]
    assert (here.approval, confinement.at_once, confinement.holds) == ("before", False, False)


async def test_effects_that_rules_are_about_stay_held_while_the_user_is_asked_before_code_runs(
    tmp_path: Path,
) -> None:
    here, confinement = holding(tmp_path)
    here.session.resources.rules.add(["writes: ./out/**"])
    await here.does("/approve before")
    assert (here.approval, confinement.holds) == ("before", True)


PLANNING = "Planning: code may only read and compute. /go carries the plan out, /plan off ends planning."


async def test_code_that_would_change_something_is_declined_while_planning(tmp_path: Path) -> None:
    here = Here(tmp_path, replies=[call("open('x', 'w')"), "1. Write x."])
    await here.does("/plan")
    await here.asked("go")
    reason = "a rule of the user denies `effects: writes`."
    assert here.happened(CodeDeclined) == [CodeDeclined("c1", reason)]
    assert here.kernel.ran == []


async def test_where_effects_are_not_held_unknown_code_is_asked_about_even_with_auto_run(
    tmp_path: Path,
) -> None:
    here = Here(tmp_path)
    assert (await here.does("/plan"))[0] == PLANNING
    ruling = here.session.resources.rules.ruling("python", "x", NOT_ANALYSED, held=False)
    assert ruling.verdict == "ask"


async def test_where_effects_are_held_the_system_decides_about_unknown_code(tmp_path: Path) -> None:
    here, confinement = holding(tmp_path)
    assert await here.does("/plan") == [PLANNING]
    assert (here.approval, confinement.at_once) == ("plan", True)
    ruling = here.session.resources.rules.ruling("python", "x", NOT_ANALYSED)
    assert ruling.verdict == ""


RESTART = "? Restart python now? Variables there are lost; files stay."


async def test_an_unused_kernel_restarts_for_a_plan_without_a_question(tmp_path: Path) -> None:
    here, _ = holding(tmp_path)
    await here.kernel.start()
    assert RESTART not in await here.does("/plan")
    assert here.kernel.generation == 2


async def test_a_kernel_that_has_run_code_restarts_for_a_plan_if_the_user_agrees(tmp_path: Path) -> None:
    here, _ = holding(tmp_path)
    async with aclosing(here.session.run("python", "x = 1")) as events:
        assert [event async for event in events]
    assert RESTART in await here.does("/plan")
    assert here.kernel.generation == 1


async def test_a_plan_is_carried_out_with_the_approval_of_before(tmp_path: Path) -> None:
    here, confinement = holding(tmp_path)
    await here.does("/plan tidy up")
    assert await here.does("/go only step 1") == ["You are asked before code runs."]
    assert [prompt for prompt, _ in here.next] == ["tidy up", "Carry out the plan. only step 1"]
    assert (here.session.resources.rules.all, confinement.holds) == ((), False)


async def test_a_profile_does_not_end_the_planning(tmp_path: Path) -> None:
    here = Here(tmp_path)
    await here.does("/plan")
    await here.does("/profile careful")
    assert here.approval == "plan"


async def test_a_plan_of_a_stored_session_is_carried_out_too(tmp_path: Path) -> None:
    here = Here(tmp_path, replies=["1. Write x.", "Done."])
    await here.does("/plan")
    await here.asked("how?")
    # As in a session that was resumed.
    here.session.resources.rules.restrict()
    await here.does("/go")
    assert [prompt for prompt, _ in here.next] == ["Carry out the plan."]
    assert "[Planning has ended: code may change things again, as the user allows.]" in await here.taught()


async def test_there_is_nothing_to_carry_out_without_a_plan(tmp_path: Path) -> None:
    with pytest.raises(Misused, match="there is no plan: /plan TASK begins one"):
        await Here(tmp_path).does("/go")


async def test_conditions_are_added_listed_and_ended_all_at_once(tmp_path: Path) -> None:
    here = Here(tmp_path)
    assert await here.does("/watch") == ["No condition is watched. /watch CONDITION adds one."]
    assert await here.does("/watch len(df) > 3") == ["A turn stops when a run breaks:", "    len(df) > 3"]
    assert (await here.does("/watch x == 1"))[1:] == ["    len(df) > 3", "    x == 1"]
    with pytest.raises(SettingsError, match="watch: 'x = 1' is no Python expression"):
        await here.does("/watch x = 1")
    assert here.session.resources.watch == ("len(df) > 3", "x == 1")
    assert await here.does("/watch off") == ["No condition is watched. /watch CONDITION adds one."]


async def test_the_setting_watch_takes_effect_at_once(tmp_path: Path) -> None:
    here = Here(tmp_path)
    await here.does("/settings watch len(df) > 3")
    assert here.session.resources.watch == ("len(df) > 3",)
