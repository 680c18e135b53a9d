import dataclasses
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from terp.errors import NoSandbox, SettingsError
from terp.kernels.sandbox.confinement import Confinement, options_of
from terp.kernels.sandbox.policy import Mode, ResourceLimits, SandboxOptions
from terp.kernels.sandbox.tier import Tier, Unconfined
from terp.settings import Settings

FREE = "none"


def holding(options: SandboxOptions, environ: Mapping[str, str]) -> Sequence[Tier]:
    """A tier that is taken as it is: Docker's is not tried."""
    return [dataclasses.replace(Unconfined(), name="docker")]


def nothing(options: SandboxOptions, environ: Mapping[str, str]) -> Sequence[Tier]:
    return []


def confinement(
    tmp_path: Path, options: SandboxOptions, *, unasked: bool = False, works: bool = True
) -> Confinement:
    home = {"HOME": str(tmp_path)}
    return Confinement(options, str(tmp_path), home, lambda: unasked, tiers=holding if works else nothing)


@pytest.mark.parametrize(
    ("mode", "unasked", "what"),
    [
        ("auto", False, FREE),
        ("auto", True, "docker"),
        ("off", True, FREE),
        ("workspace", False, "docker"),
        ("strict", False, "docker without network"),
        ("docker", False, "docker"),
    ],
)
def test_the_mode_and_who_is_asked_decide(tmp_path: Path, mode: Mode, unasked: bool, what: str) -> None:
    assert confinement(tmp_path, SandboxOptions(mode), unasked=unasked).what == what


def test_a_closed_network_wants_a_sandbox(tmp_path: Path) -> None:
    assert confinement(tmp_path, SandboxOptions("auto", network=False)).what == "docker without network"


@pytest.mark.parametrize(
    "options", [SandboxOptions("strict"), SandboxOptions("docker"), SandboxOptions("auto", required=True)]
)
def test_who_requires_a_sandbox_gets_no_kernel_without(tmp_path: Path, options: SandboxOptions) -> None:
    with pytest.raises(NoSandbox, match="so no code runs") as refused:
        confinement(tmp_path, options, works=False).now()
    assert refused.value.stop_reason == "no_sandbox"


def test_off_and_required_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(NoSandbox, match="sandbox_required is on, and sandbox is off"):
        confinement(tmp_path, SandboxOptions("off", required=True)).check()


def test_without_a_sandbox_code_runs_unconfined_and_that_is_said(tmp_path: Path) -> None:
    free = confinement(tmp_path, SandboxOptions("workspace"), works=False)
    assert (free.now().what, free.warning.split(" (")[0]) == (FREE, "No sandbox works here")


def test_root_is_told_of_the_limit_that_does_not_hold(tmp_path: Path) -> None:
    told = confinement(tmp_path, SandboxOptions("workspace", limits=ResourceLimits(processes=9))).warning
    of_root = "You are root, whose processes max_processes does not limit."
    assert told == (of_root if os.geteuid() == 0 else "")


def test_what_a_person_allows_can_be_written(tmp_path: Path) -> None:
    held = confinement(tmp_path, SandboxOptions("workspace"))
    held.allow("/etc")
    assert held.now().policy.writable == (str(tmp_path), "/etc")


def test_what_a_kernel_is_held_to_stays_until_it_starts_anew(tmp_path: Path) -> None:
    held = confinement(tmp_path, SandboxOptions("workspace"))
    before = held.now(language="python").policy
    held.allow("/etc")
    assert (held.policy_of("python"), held.policy_of("r")) == (before, held.policy)
    held.now(language="python")
    assert held.policy_of("python") == held.policy != before


@pytest.mark.parametrize(
    ("options", "differs"),
    [
        (SandboxOptions("off", network=False), False),
        (SandboxOptions("off", limits=ResourceLimits(file_mb=1)), True),
        (SandboxOptions("workspace"), True),
    ],
)
def test_another_wish_may_hold_kernels_to_the_same(
    tmp_path: Path, options: SandboxOptions, *, differs: bool
) -> None:
    held = confinement(tmp_path, SandboxOptions())
    assert (held.differs(held.with_options(options)), held.options) == (differs, SandboxOptions())


def test_a_directory_that_has_become_a_link_runs_no_code(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    held = Confinement(
        SandboxOptions("workspace"), str(tmp_path / "proj"), {"HOME": str(tmp_path)}, tiers=holding
    )
    (tmp_path / "proj").rename(tmp_path / "gone")
    (tmp_path / "proj").symlink_to(tmp_path)
    with pytest.raises(NoSandbox, match="has become a link"):
        held.now()


def test_another_directory_may_be_named_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    (tmp_path / "link").symlink_to("proj")
    elsewhere = confinement(tmp_path, SandboxOptions("workspace")).elsewhere(str(tmp_path / "link"))
    assert elsewhere.now().policy.cwd == str(tmp_path / "proj")


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        (SandboxOptions("strict"), True),
        (SandboxOptions("docker"), True),
        (SandboxOptions("auto", required=True), True),
        (SandboxOptions("workspace"), False),
        (SandboxOptions("auto"), False),
    ],
)
def test_who_requires_a_sandbox_gets_no_kernel_of_somebody_else(
    tmp_path: Path, options: SandboxOptions, *, refused: bool
) -> None:
    with pytest.raises(NoSandbox, match="around a gateway") if refused else nullcontext():
        confinement(tmp_path, options).check_elsewhere("a gateway")


def test_what_is_not_there_cannot_be_allowed(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="create it first"):
        confinement(tmp_path, SandboxOptions("workspace")).allow("/no/such")


def test_a_person_can_open_the_network_of_strict(tmp_path: Path) -> None:
    held = confinement(tmp_path, SandboxOptions("strict"))
    held.allow_network()
    assert held.what == "docker"


def test_settings_become_a_wish() -> None:
    settings = Settings(sandbox="strict", network=False, sandbox_required=True, max_processes=7)
    options = options_of(settings)
    assert (options.mode, options.network, options.required, options.limits.processes) == (
        "strict",
        False,
        True,
        7,
    )
