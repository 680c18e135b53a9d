import dataclasses
from pathlib import Path

import pytest

from terp.kernels.sandbox.confinement import Confinement, SandboxOptions
from terp.kernels.sandbox.tier import Unconfined
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
