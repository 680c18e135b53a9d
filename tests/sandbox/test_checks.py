"""A check is held as a kernel is: it reads no secrets, writes in its copy alone, and tests run."""

import sys
from pathlib import Path

import pytest

from terp.checks.until.check_sandbox import CheckResult, CheckSandbox
from terp.checks.until.checking import why_not
from terp.checks.until.goal import Goal, check_of
from terp.kernels.jupyter.local import LocalKernels
from tests.core.checks.until.projects import RIGHT, TESTS
from tests.sandbox.held import TIERS
from tests.sandbox.world import World

EACH_TIER = pytest.mark.parametrize("tier", TIERS, indirect=True, scope="package")


async def ran(kernels: LocalKernels, text: str) -> tuple[str, CheckResult]:
    """Run a check; return the reason why it has not passed, and its result."""
    sandbox, goal = CheckSandbox(kernels), Goal(check_of(text), timeout_s=60.0, max_chars=4_000)
    originals = sandbox.originals(goal)
    result = await sandbox.run(goal, originals)
    return why_not(goal.check, result, originals, sandbox.root, 0), result


@EACH_TIER
@pytest.mark.parametrize(
    "code",
    [
        "cat HOME_/.ssh/id_rsa",
        "cat HOME_/.config/terp/config.yaml",
        "echo x > OUT_/kept",
        "echo x > HOME_/.bashrc",
        "rm -rf PROJ_/.git/hooks PROJ_/.terp",
        "echo x > .terp/profile.yaml; echo x > .git/config",
        "env",
    ],
)
async def test_a_check_is_held(world: World, with_network: LocalKernels, code: str) -> None:
    for name, path in world.names().items():
        code = code.replace(name, path)
    _, result = await ran(with_network, f"{code}; false")
    assert world.damage(result.process.output) == ""


@EACH_TIER
async def test_tests_run_and_report(world: World, with_network: LocalKernels) -> None:
    files = {"shop.py": RIGHT, "test_shop.py": TESTS}
    for name, text in files.items():
        Path(world.proj, name).write_text(text)
    try:
        why, result = await ran(with_network, f"{sys.executable} -m pytest -q test_shop.py")
    finally:
        for name in files:
            Path(world.proj, name).unlink()
    assert (why, result.tests and result.tests.passed) == ("", 2), result.process.output


@EACH_TIER
async def test_an_expression_is_evaluated(world: World, with_network: LocalKernels) -> None:
    assert (await ran(with_network, "py: sum([1, 2]) == 3"))[0] == ""
