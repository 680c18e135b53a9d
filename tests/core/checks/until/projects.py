"""What tests of checks share: a small project with tests, and one run of a check in it."""

from pathlib import Path

from terp.checks.until.check import check_of
from terp.checks.until.check_sandbox import Bounds, CheckSandbox, Ran
from terp.checks.until.checking import why_not
from terp.checks.until.goal import Goal
from terp.kernels.jupyter.local import LocalKernels

BOUNDS = Bounds(60.0, 4_000)
BROKEN = "def total(prices):\n    return 0\n"
RIGHT = "def total(prices):\n    return sum(prices)\n"
TESTS = """\
from shop import total


def test_of_nothing():
    assert total([]) == 0


def test_of_some():
    assert total([1, 2]) == 3
"""


def project(folder: Path, **files: str) -> Path:
    """A folder with the file `shop.py` that is wrong, its tests, and other `files` (`a__b_py` is a/b.py)."""
    folder.mkdir(exist_ok=True)
    write(folder, {"shop.py": BROKEN, "test_shop.py": TESTS, ".git/HEAD": "ref: refs/heads/main\n", **files})
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files, with the folders above them."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Judge:
    """Checks a project as a turn does: what it is made of is looked at once."""

    def __init__(self, cwd: Path, text: str, *protect: str, environ: dict[str, str] | None = None) -> None:
        kernels = LocalKernels(str(cwd), environ=environ)
        self.ground = CheckSandbox(kernels)
        self.goal = Goal(check_of(text), protect=protect)
        self.originals = self.ground.originals(self.goal.check, protect)
        self.before = 0

    async def look(self) -> None:
        """Look at the tests there are now."""
        tests = await self.ground.tests_of(self.goal.check, self.originals, BOUNDS)
        self.before = tests.collected if tests else 0
        self.originals = self.ground.originals(self.goal.check, self.goal.protect, tests)

    async def run(self, bounds: Bounds = BOUNDS) -> tuple[str, Ran]:
        """Why the check has not passed, and how it ran."""
        ran = await self.ground.run(self.goal.check, self.originals, bounds)
        return why_not(self.goal.check, ran, self.originals, self.ground.root, self.before), ran

    async def why(self) -> str:
        """Why the check has not passed; "" when it has."""
        return (await self.run())[0]
