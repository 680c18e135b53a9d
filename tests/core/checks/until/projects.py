"""What tests of checks share: a small project with tests, and one run of a check in it."""

from pathlib import Path

from terp.checks.until.check_sandbox import CheckResult, CheckSandbox
from terp.checks.until.checking import why_not
from terp.checks.until.goal import Goal, check_of
from terp.kernels.jupyter.local import LocalKernels

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
    """Checks a project as a turn does: the originals are read once."""

    def __init__(
        self,
        cwd: Path,
        text: str,
        *protect: str,
        environ: dict[str, str] | None = None,
        timeout_s: float = 60.0,
        max_chars: int = 4_000,
    ) -> None:
        self.sandbox = CheckSandbox(LocalKernels(str(cwd), environ=environ))
        self.goal = Goal(check_of(text), protect=protect, timeout_s=timeout_s, max_chars=max_chars)
        self.originals = self.sandbox.originals(self.goal)
        self.before = 0

    async def look(self) -> None:
        """Read the tests that exist now."""
        tests = await self.sandbox.tests_of(self.goal, self.originals)
        self.before = tests.collected if tests else 0
        self.originals = self.sandbox.originals(self.goal, tests)

    async def run(self) -> tuple[str, CheckResult]:
        """Return the reason why the check has not passed, and its result."""
        result = await self.sandbox.run(self.goal, self.originals)
        return why_not(self.goal.check, result, self.originals, self.sandbox.root, self.before), result

    async def why(self) -> str:
        """Return the reason why the check has not passed; "" when it has."""
        return (await self.run())[0]
