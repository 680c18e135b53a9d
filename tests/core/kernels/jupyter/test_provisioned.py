"""Kernels that a kernel provisioner of somebody else starts: a real one, of a distribution of its own."""

import json
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.errors import KernelStartFailed, NoSandbox, SettingsError
from terp.kernels.jupyter.launch import KernelOptions, Provisioner, provisioner_of
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.policy import SandboxOptions
from tests.core.kernels.running import Listener, interrupted_at, ran

MODULE = """
import os
from pathlib import Path

from jupyter_client.provisioning import LocalProvisioner
from traitlets import Int, Unicode


class Tiny(LocalProvisioner):
    greeting = Unicode("", config=True)
    tries = Int(1, config=True)

    async def launch_kernel(self, cmd, **kwargs):
        if self.greeting == "refuse":
            raise RuntimeError("the cluster is full")
        kwargs["env"]["GREETING"] = f"{self.greeting} {self.tries}"
        return await super().launch_kernel(cmd, **kwargs)

    async def cleanup(self, restart=False):
        Path(os.environ["TINY_NOTES"]).write_text("cleaned up")
        await super().cleanup(restart)
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution with provisioners, installed; where the good one notes that it has cleaned up."""
    site = tmp_path / "site"
    metadata = site / "tiny_provisioner-1.0.dist-info"
    metadata.mkdir(parents=True)
    (site / "tiny_provisioner.py").write_text(MODULE)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-provisioner\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[jupyter_client.kernel_provisioners]\n"
        "tiny = tiny_provisioner:Tiny\nbroken = tiny_provisioner_that_is_not:Tiny\n"
    )
    monkeypatch.syspath_prepend(str(site))
    notes = tmp_path / "notes"
    monkeypatch.setenv("TINY_NOTES", str(notes))
    return notes


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


def provisioned(folder: Path, name: str, **config: object) -> LocalKernels:
    return LocalKernels(str(folder), KernelOptions(provisioner=Provisioner(name, config)))


@pytest.fixture
async def kernels(tiny: Path, folder: Path) -> AsyncGenerator[LocalKernels, None]:
    kernels = provisioned(folder, "tiny", greeting="hello", tries=3)
    yield kernels
    await kernels.aclose()


async def test_it_starts_the_kernel_with_its_settings_and_is_told(kernels: LocalKernels, tiny: Path) -> None:
    listener = Listener()
    kernels.listen(listener)
    kernel = kernels.get("python")
    run = await ran(kernel, "import os; print(os.environ['GREETING']); x = 1")
    assert (run.stdout, kernel.tier) == ("hello 3\n", "none")
    assert [change.name for change in run.ended.changes] == ["x"]
    assert listener.whys[0].endswith(", started by the kernel provisioner tiny")
    await kernels.aclose()
    assert tiny.read_text() == "cleaned up"


async def test_its_kernel_is_interrupted_restarted_and_mourned(kernels: LocalKernels) -> None:
    kernel = kernels.get("python")
    stopped = await interrupted_at(kernel, "import time\nprint('on', flush=True)\ntime.sleep(60)", "on")
    await kernel.restart()
    fresh = await ran(kernel, "print('time' in globals())")
    died = await ran(kernel, "import os; os._exit(3)")
    assert (stopped.ended.status, fresh.stdout, died.ended.status) == ("interrupted", "False\n", "died")
    assert died.ended.note.startswith("The kernel ended with exit code 3. Its variables are lost;")


async def test_it_starts_kernels_of_kernelspecs_too(tiny: Path, folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "jupyter"
    spec = data / "kernels" / "turtle"
    spec.mkdir(parents=True)
    argv = ["python3", "-c", "import os; print(os.environ['GREETING'], flush=True)", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "language": "Logo"}))
    kernels = LocalKernels(
        str(folder),
        KernelOptions(provisioner=Provisioner("tiny", {"greeting": "from tiny"})),
        environ={**os.environ, "JUPYTER_DATA_DIR": str(data)},
    )
    with pytest.raises(
        KernelStartFailed, match=r"did not start\. .*exit code 0\. Its last words:\nfrom tiny 1"
    ):
        await kernels.get("logo").start()
    await kernels.aclose()


async def test_who_requires_a_sandbox_has_nothing_started_by_it(tiny: Path, folder: Path) -> None:
    kernels = provisioned(folder, "tiny")
    kernels.confinement.options = SandboxOptions("auto", required=True)
    with pytest.raises(NoSandbox, match="started by the kernel provisioner tiny"):
        await kernels.get("python").start()
    await kernels.aclose()


@pytest.mark.parametrize(
    ("name", "config", "told", "remedy"),
    [
        ("huge", {}, "There is no kernel provisioner 'huge'. Installed are: broken, .*, tiny", "pip install"),
        ("broken", {}, "'broken' cannot be loaded: ModuleNotFoundError: No module named", "Install what it"),
        ("tiny", {"greting": "hi"}, "'tiny' has no setting 'greting'", "It has: greeting, tries."),
        ("tiny", {"tries": "often"}, "kernel_provisioner_config: The 'tries' trait", ""),
        (
            "tiny",
            {"greeting": "refuse"},
            "'tiny' has started no kernel: the cluster is full",
            "documentation",
        ),
    ],
)
async def test_what_is_wrong_with_it_is_put_into_words(
    tiny: Path, folder: Path, name: str, config: dict[str, object], told: str, remedy: str
) -> None:
    kernels = provisioned(folder, name, **config)
    with pytest.raises(KernelStartFailed, match=told) as caught:
        await kernels.get("python").start()
    assert remedy in caught.value.remedy
    await kernels.aclose()


async def test_a_shell_is_started_by_terp_itself(tiny: Path, folder: Path) -> None:
    kernels = provisioned(folder, "huge")
    assert (await ran(kernels.get("shell"), "echo here")).stdout == "here\n"
    await kernels.aclose()


def test_without_a_name_there_is_no_provisioner() -> None:
    assert provisioner_of("tiny", {"tries": 3}) == Provisioner("tiny", {"tries": 3})
    assert provisioner_of("", {}) is None


def test_a_configuration_without_a_provisioner_is_refused() -> None:
    with pytest.raises(SettingsError) as caught:
        provisioner_of("", {"tries": 3})
    assert caught.value.problems == (
        "kernel_provisioner_config: kernel_provisioner is not set, so it has no use.",
    )
