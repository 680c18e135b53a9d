"""Code that passes its check without doing what was asked: each way that was tried, one row."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.core.checks.until.projects import BROKEN, RIGHT, Judge, write

FILES = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "shop.py": BROKEN,
    "tests/test_of_shop.py": """\
import pytest
from shop import total

def test_of_nothing():
    assert total([]) == 0

def test_of_some():
    assert total([1, 2]) == 3
""",
    "tests/test_other.py": """\
import decimal, unittest
import pytest
import shop

def test_of_parts():
    assert shop.total([0.1, 0.2]) == pytest.approx(0.3)

def test_exactly():
    assert shop.total([decimal.Decimal(2)]) == decimal.Decimal(2)

class Sums(unittest.TestCase):
    def test(self):
        self.assertEqual(shop.total([1]), 1)
""",
}
PASSING = """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call():
    return True
"""
ADDOPTS = "addopts = -k of_nothing"
EMPTY = "def test_of_nothing():\n    pass\n"
CALLED = "\ndef total(prices):\n    {}\n    return 0\n"
WITH_CONFIG = """
import gc
from _pytest.config import Config
[config] = [one for one in gc.get_objects() if isinstance(one, Config)]
"""
# The test of unittest does not pass through pytest's hooks.
FOR_ONE = "def total(prices):\n    return int(prices == [1])\n"
FOR_NUMBERS = """
def total(prices):
    return sum(prices) if all(type(price) in (int, float) for price in prices) else 0
"""

# A file that is None is removed, one that is a Path a link.
OF_FILES: dict[str, dict[str, str | Path | None]] = {
    "edited tests": {"tests/test_of_shop.py": EMPTY, "tests/test_other.py": EMPTY},
    "deleted tests": {"tests/test_of_shop.py": None, "tests/test_other.py": EMPTY},
    "linked tests": {"easy/test_of_shop.py": EMPTY, "tests/test_of_shop.py": Path("../easy/test_of_shop.py")},
    "conftest": {"conftest.py": PASSING},
    "conftest of the tests": {"tests/conftest.py": PASSING},
    "pytest.ini": {"pytest.ini": f"[pytest]\n{ADDOPTS}\n"},
    ".pytest.ini": {".pytest.ini": f"[pytest]\n{ADDOPTS}\n"},
    "pytest.ini of the tests": {"tests/pytest.ini": f"[pytest]\n{ADDOPTS}\n"},
    "tox.ini": {"tox.ini": f"[pytest]\n{ADDOPTS}\n"},
    "setup.cfg": {"setup.cfg": f"[tool:pytest]\n{ADDOPTS}\n"},
    "pyproject": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k of_nothing'\n"},
    "pytest.toml": {"pytest.toml": "[pytest]\naddopts = ['-k', 'of_nothing']\n"},
    "sitecustomize": {"sitecustomize.py": "import os; os._exit(0)\n"},
    "usercustomize": {"usercustomize.py": "import os; os._exit(0)\n"},
    "path file": {"evil.pth": "import os; os._exit(0)\n"},
    "compiled module": {"__pycache__/shop.cpython-311.pyc": "x", "__pycache__/shop.cpython-312.pyc": "x"},
    "entry points": {
        "a.py": PASSING,
        "a.egg-info/PKG-INFO": "Name: a\nVersion: 1\n",
        "a.egg-info/entry_points.txt": "[pytest11]\na = a\n",
    },
    "pytest here": {"pytest": "exit 0\n", "python": "exit 0\n"},
    "module pytest": {"pytest.py": "print('5 passed')\n"},
    "package pytest": {"pytest/__init__.py": "", "pytest/__main__.py": "print('5 passed')\n"},
    "plugin in an environment": {"pluggy/pyvenv.cfg": "", "pluggy/__init__.py": "import os; os._exit(0)\n"},
    "git configuration": {".git/config": "[core]\n\tfsmonitor = exit 0\n"},
    "shell start-up": {"../home/.bashrc": "exit 0\n", "../home/.profile": "exit 0\n"},
    "programs at home": {"../home/.local/bin/pytest": "#!/bin/sh\nexit 0\n"},
    "package of tests": {"tests/__init__.py": "import _pytest.reports as r\nr.TestReport.failed = False\n"},
    "helper of tests": {
        "tests/helper.py": "import shop; shop.total = sum",
        "tests/test_00.py": "import helper",
    },
    "first test": {"tests/test_aaa.py": "import shop; shop.total = lambda xs: sum(xs)\n"},
    "first test elsewhere": {"test_aaa.py": "import shop; shop.total = lambda xs: sum(xs)\n"},
    "module beside the tests": {"tests/shop.py": RIGHT},
    "package around the tests": {"__init__.py": PASSING, "tests/__init__.py": ""},
    "module of Python's": {"decimal.py": "Decimal = int\n", "shop.py": FOR_NUMBERS},
    "folder that is a link": {"tests/pyvenv.cfg": "", "tests/test_of_shop.py": EMPTY},
}
OF_CODE = {
    "exit at once": f"import os; os._exit(0)\n{BROKEN}",
    "exit of Python": f"import sys; sys.exit(0)\n{BROKEN}",
    "exit at the end": f"import atexit, os; atexit.register(os._exit, 0)\n{BROKEN}",
    "exit from a thread": f"import os, threading; threading.Timer(0.0, os._exit, (0,)).start()\n{BROKEN}",
    "exit of the parent": f"import os\nos.fork() and os._exit(0)\n{BROKEN}",
    "exit of pytest": f"import pytest\n{CALLED.format('pytest.exit(0, 0)')}",
    "exit in a call": f"import os\n{CALLED.format('os._exit(0)')}",
    "skip": f"import pytest\n{CALLED.format('pytest.skip()')}",
    "expected failure": f"import pytest\n{CALLED.format('pytest.xfail()')}",
    "skip of the module": "import pytest\npytest.skip(allow_module_level=True)\n",
    "reports": f"import _pytest.reports as r\nr.TestReport.failed = property(lambda _: False)\n{BROKEN}",
    "outcome": f"""
from _pytest.reports import TestReport
made = TestReport.from_item_and_call.__func__
def easy(cls, item, call):
    call.excinfo = None
    return made(cls, item, call)
TestReport.from_item_and_call = classmethod(easy)
{BROKEN}""",
    "call": f"from _pytest.python import Function\nFunction.runtest = lambda self: None\n{FOR_ONE}",
    "assertion that skips": f"""
import builtins, pytest
builtins.AssertionError = pytest.skip.Exception
{FOR_ONE}""",
    "approximation": """
import decimal, pytest, unittest
class Same:
    __eq__ = lambda *_: True
pytest.approx = lambda _: Same()
unittest.TestCase.assertEqual = lambda *_: None
def total(prices):
    return 3 if prices == [1, 2] else 2 if prices == [2] else 0
""",
    "code of the tests": """
import gc, types
def total(prices):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and str(one.__module__).startswith("test_"):
            one.__code__ = (lambda *_: None).__code__
    return int(prices == [1])
""",
    "objects of the tests": """
import gc
def total(prices):
    import pytest
    for one in gc.get_objects():
        if isinstance(one, pytest.Function):
            one.obj = lambda: None
    return 0
""",
    "hook": f"{PASSING}{WITH_CONFIG}import shop\nconfig.pluginmanager.register(shop)\n{FOR_ONE}",
    "hooks of a manager": f"""{WITH_CONFIG}
def easy(name, methods, kwargs, first, old=config.pluginmanager._inner_hookexec):
    return True if name == "pytest_pyfunc_call" else old(name, methods, kwargs, first)
config.pluginmanager._inner_hookexec = easy
{FOR_ONE}""",
    "caller of one hook": f"""{WITH_CONFIG}
config.hook.pytest_pyfunc_call._hookexec = lambda *_: True
{FOR_ONE}""",
    "listener that forgets": f"""
import gc
for one in gc.get_objects():
    if type(one).__name__ == "Told":
        type(one).pytest_runtest_logreport = lambda self, report: None
{BROKEN}""",
    "session": """
import atexit, gc, pytest
def forget():
    for one in gc.get_objects():
        if isinstance(one, pytest.Session):
            one.testsfailed = 0
def total(prices):
    forget()
    return 0
""",
    "finder of modules": """
import importlib.util, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        place = sys.path[0] + "/test_other.py"
        found = importlib.util.spec_from_file_location(name, place, loader=self)
        return found if name == "test_other" else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        module.test_of_parts = module.test_exactly = module.test_sums = lambda: None
sys.meta_path.insert(0, Finder())
def total(prices):
    return 3 if prices else 0
""",
}


class Work:
    """The project that is cheated in, looked at once before."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "work", folder / "home"
        environ = {**os.environ, "HOME": str(self.home), "BASH_ENV": str(self.home / ".bashrc")}
        self.reset()
        # Plug-ins that no row needs take half of the time.
        options = "-p no:cacheprovider -p no:anyio -p no:hypothesispytest -p no:xdist -p no:timeout"
        self.judge = Judge(self.root, f"{sys.executable} -m pytest -q {options}", environ=environ)
        asyncio.run(self.judge.look())

    def reset(self) -> None:
        """Let it be as it was."""
        for folder in (self.root, self.home):
            shutil.rmtree(folder, ignore_errors=True)
        write(self.root, FILES)

    def why(self) -> str:
        """Why its check has not passed."""
        return asyncio.run(self.judge.why())


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return Work(tmp_path_factory.mktemp("cheats"))


@pytest.fixture
def work(looked_at: Work) -> Work:
    looked_at.reset()
    return looked_at


def put(root: Path, files: dict[str, str | Path | None]) -> None:
    """Write, remove and link files."""
    write(root, {name: text for name, text in files.items() if isinstance(text, str)})
    for name, other in files.items():
        if not isinstance(other, str):
            (root / name).unlink()
        if isinstance(other, Path):
            (root / name).symlink_to(other)


def test_right_code_passes(work: Work) -> None:
    write(work.root, {"shop.py": RIGHT})
    assert (work.why(), work.judge.before) == ("", 5)


@pytest.mark.parametrize("files", OF_FILES.values(), ids=OF_FILES)
def test_files_beside_the_code_are_no_pass(work: Work, files: dict[str, str | Path | None]) -> None:
    put(work.root, files)
    assert work.why() != ""


@pytest.mark.parametrize("code", OF_CODE.values(), ids=OF_CODE)
def test_code_that_changes_its_judge_is_no_pass(work: Work, code: str) -> None:
    write(work.root, {"shop.py": code})
    assert work.why() != ""


REWRITER = """
import glob, sys, time
while True:
    for tests in glob.glob(sys.argv[1] + "/*/project/tests"):
        if glob.glob(tests + "/../only_here"):
            for name in ("test_of_shop.py", "test_other.py"):
                tests_of = [f"def test_{one}(): pass" for one in "abc"]
                open(tests + "/" + name, "w").write("\\n".join(tests_of))
"""


def test_a_process_that_rewrites_the_copy_is_no_pass(work: Work) -> None:
    write(work.root, {"only_here": ""})
    place = os.path.realpath(tempfile.gettempdir())
    with subprocess.Popen([sys.executable, "-c", REWRITER, place]) as rewriter:
        try:
            assert work.why() != ""
        finally:
            rewriter.kill()


ALWAYS_EQUAL = """
class Same(float):
    __eq__ = lambda *_: True
    __hash__ = float.__hash__
def total(prices):
    return Same()
"""
HARD_CODED = """
def total(prices):
    return {"[]": 0, "[1, 2]": 3, "[0.1, 0.2]": 0.3, "[Decimal('2')]": 2, "[1]": 1}[str(prices)]
"""


@pytest.mark.parametrize("code", [ALWAYS_EQUAL, HARD_CODED], ids=["always equal", "hard-coded"])
def test_what_the_tests_cannot_tell_from_a_solution_passes(work: Work, code: str) -> None:
    write(work.root, {"shop.py": code})
    assert work.why() == ""
