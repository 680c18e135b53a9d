"""The working directory as a place of modules: from the first cell on, and not before."""

from pathlib import Path

import pytest

from terp.kernels.jupyter.local import LocalKernels
from terp.secrets.environment import kernel_environment
from tests.core.kernels.running import ran

# What a start imports, or what a quick look shows that it may: the standard library's and others'.
NAMES = (
    "runpy", "ipykernel_launcher", "ipykernel", "IPython", "traitlets", "zmq", "json", "logging", "asyncio",
    "debugpy", "comm", "sitecustomize", "usercustomize", "matplotlib", "pickleshare", "psutil", "appnope",
)  # fmt: skip


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')\n")
    (folder / "ours.py").write_text("VALUE = 42\n")
    return folder


async def test_no_module_of_the_directory_runs_because_a_kernel_starts(hostile: Path, tmp_path: Path) -> None:
    kernels = LocalKernels(str(hostile))
    kernel = kernels.get("python")
    await kernel.start()
    await kernel.complete("import j", 8)
    await kernel.complete("import json.", 12)
    await kernel.variables()
    started = (tmp_path / "ran").exists()
    run = await ran(kernel, "1 + 1")
    await kernels.aclose()
    assert (started, run.ended.status, (tmp_path / "ran").exists()) == (False, "ok", False)


async def test_code_imports_what_lies_beside_it_from_the_first_cell_on(hostile: Path) -> None:
    kernels = LocalKernels(str(hostile))
    kernel = kernels.get("python")
    missing = await kernel.missing(["ours", "not_there"])
    run = await ran(kernel, "import ours; print(ours.VALUE)")
    await kernels.aclose()
    assert (missing, run.stdout) == ((), "42\n")


async def test_a_module_that_lies_beside_the_code_is_not_missing(hostile: Path) -> None:
    kernels = LocalKernels(str(hostile))
    kernel = kernels.get("python")
    await kernel.start()
    missing = await kernel.missing(["ours", "not_there"])
    await kernels.aclose()
    assert missing == ("not_there",)


@pytest.mark.parametrize(("given", "passed"), [(":/a::.:/b", "/a:/b"), ("", ""), ("src", "src")])
def test_a_stray_colon_does_not_put_the_directory_on_the_path_of_a_kernel(given: str, passed: str) -> None:
    assert kernel_environment({"PYTHONPATH": given})["PYTHONPATH"] == passed


# Run in one kernel each: an import that has succeeded is not looked for again.
LOCAL = [
    ("import ours; print(ours.VALUE)", "42"),
    ("import importlib; print(importlib.import_module('ours').VALUE)", "42"),
    ("import theirs; print(theirs.VALUE)", "42"),
    ("import ours, importlib; print(importlib.reload(ours).VALUE)", "42"),
    ("import pickle; print(pickle.loads(b'cours\\nVALUE\\n.'))", "42"),
    ("%run script.py", "42"),
    ("import installed; print(installed.optional)", "None"),
    ("import installed; print(installed.named)", "None"),
    ("import sub.installed; print(sub.installed.optional)", "None"),
    ("%load_ext autoreload\nprint('autoreload' in vars())", "False"),
]


@pytest.mark.parametrize(("code", "printed"), LOCAL)
async def test_modules_of_the_directory_are_for_cells_and_for_each_other(
    code: str, printed: str, tmp_path: Path
) -> None:
    here, packages = tmp_path / "here", tmp_path / "here" / "lib" / "site-packages"
    (packages / "sub").mkdir(parents=True)
    (here / "ours.py").write_text("VALUE = 42\n")
    (here / "theirs.py").write_text("from ours import VALUE\n")
    (here / "script.py").write_text("import theirs\nprint(theirs.VALUE)\n")
    optional = (
        "try:\n    import ours as optional\nexcept ImportError:\n    optional = None\n"
        "import importlib\n"
        "try:\n    named = importlib.import_module('ours')\nexcept ImportError:\n    named = None\n"
    )
    for module in (packages / "installed.py", packages / "sub" / "installed.py"):
        module.write_text(optional)
    kernels = LocalKernels(str(here))
    kernel = kernels.get("python")
    await ran(kernel, f"import sys; sys.path.append({str(packages)!r})")
    run = await ran(kernel, code)
    await kernels.aclose()
    assert (run.stdout.strip(), run.ended.status) == (printed, "ok")


async def test_an_installed_package_runs_no_file_of_the_directory(hostile: Path, tmp_path: Path) -> None:
    for name in ("pyarrow", "numexpr", "bottleneck", "fastparquet"):
        (hostile / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')\n")
    for name in NAMES:
        (hostile / f"{name}.py").unlink()
    kernels = LocalKernels(str(hostile))
    run = await ran(kernels.get("python"), "import pandas")
    await kernels.aclose()
    assert (run.ended.status, (tmp_path / "ran").exists()) == ("ok", False)
