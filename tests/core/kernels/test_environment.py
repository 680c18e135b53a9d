import sys
from pathlib import Path

from terp.events.kernel import Kernel
from terp.kernels.jupyter import launch
from terp.kernels.jupyter.launch import bootstrap_code
from terp.secrets.environment import find_python, kernel_environment
from terp.settings.interpreter import Interpreter
from tests.core.kernels.running import ran

KEYS = {"OPENAI_API_KEY": "sk-1", "AWS_SECRET_ACCESS_KEY": "2", "GH_TOKEN": "3", "TERP_MODEL": "m"}


def environment_with(prefix: Path, *, ipykernel: bool) -> Path:
    packages = prefix / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    (prefix / "bin").mkdir()
    (prefix / "bin" / "python").touch(mode=0o755)
    if ipykernel:
        (packages / "ipykernel_launcher.py").touch()
    return prefix


def test_keys_stay_out_and_the_harmless_passes() -> None:
    harmless = {
        "PATH": "/bin",
        "HOME": "/home/x",
        "LC_ALL": "C",
        "CUDA_VISIBLE_DEVICES": "0",
        "TERM": "xterm",
    }
    passed = kernel_environment({**KEYS, **harmless})
    assert {name: passed.get(name) for name in harmless} == harmless
    assert not KEYS.keys() & passed.keys()


def test_names_and_patterns_can_be_passed() -> None:
    passed = kernel_environment(KEYS, ["GH_TOKEN", "AWS_*"])
    assert {name: passed.get(name) for name in KEYS} == {
        "OPENAI_API_KEY": None,
        "AWS_SECRET_ACCESS_KEY": "2",
        "GH_TOKEN": "3",
        "TERP_MODEL": None,
    }


def test_a_persons_pager_comes_through_when_passed() -> None:
    assert kernel_environment({"PAGER": "less"}, ["PAGER"])["PAGER"] == "less"
    assert kernel_environment({"PAGER": "less"})["PAGER"] == "cat"
    assert kernel_environment({"GIT_PAGER": "less"}, ["GIT_*"])["GIT_PAGER"] == "less"


def test_a_configured_python_wins(tmp_path: Path) -> None:
    active = environment_with(tmp_path, ipykernel=True)
    found = find_python("/opt/python", {"VIRTUAL_ENV": str(active)})
    assert found == Interpreter("/opt/python", "as configured")


def test_the_active_environment_is_used_when_it_has_ipykernel(tmp_path: Path) -> None:
    active = environment_with(tmp_path, ipykernel=True)
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        found = find_python("", {variable: str(active)})
        assert found == Interpreter(str(active / "bin" / "python"), f"of {variable}")


def test_without_ipykernel_there_it_is_terps_own_and_that_is_told(tmp_path: Path) -> None:
    active = environment_with(tmp_path, ipykernel=False)
    found = find_python("", {"VIRTUAL_ENV": str(active)})
    assert found == Interpreter(sys.executable, f"terp's own: {active} has no ipykernel")
    assert find_python("", {}) == Interpreter(sys.executable, "terp's own")


async def test_no_key_is_found_in_a_kernel_or_its_children(kernel: Kernel) -> None:
    code = "import os\nprint([name for name in os.environ if 'KEY' in name])\n!env | grep -c API_KEY"
    assert (await ran(kernel, code)).stdout.split() == ["[]", "0"]


async def test_code_has_garbage_collection_and_debugpy(kernel: Kernel) -> None:
    run = await ran(
        kernel, "import gc, importlib.util\ngc.isenabled(), bool(importlib.util.find_spec('debugpy'))"
    )
    assert run.results == ["(True, True)"]


async def test_a_kernel_of_this_machine_reads_compiled_modules(kernel: Kernel) -> None:
    run = await ran(
        kernel, "import terp_home.cells as c; type(c.__loader__).__base__.__name__, c.PASSING.__class__"
    )
    assert run.results == ["('SourceFileLoader', tuple)"]


def test_a_kernel_elsewhere_gets_the_sources() -> None:
    assert "def install(" in bootstrap_code("token", away=True)
    assert "def install(" not in bootstrap_code("token", files=True)


def test_terp_compiles_the_modules_of_its_kernels() -> None:
    bootstrap_code("token", files=True)
    folder = Path(launch.__file__).parents[1] / "inside"
    compiled = {path.name.partition(".")[0] for path in (folder / "__pycache__").glob("*.pyc")}
    assert sys.dont_write_bytecode or {path.stem for path in folder.glob("*.py")} <= compiled
