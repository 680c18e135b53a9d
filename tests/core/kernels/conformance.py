"""Jupyter's own tests of kernels, for a kernel of the table of languages."""

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from jupyter_kernel_test import KernelTests

from terp.kernels.jupyter.launch import Launch
from terp.kernels.jupyter.rundir import RunDir
from terp.kernels.sandbox.tier import ProcessCommand, unconfined

START_S = 60


class Conformance(KernelTests):  # type: ignore[misc]
    """Set `launch` to how the kernel is started, and to None the tests for which a language has nothing.

    `confined` is what holds it.
    """

    launch: Launch
    confined = unconfined()
    folder: RunDir

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = RunDir()
        cls.km = KernelManager(
            connection_file=str(cls.folder.connection_file), transport=cls.launch.transport
        )
        launch, confined = cls.launch, cls.confined
        wrapped = confined.tier.wrap(
            ProcessCommand(tuple(launch.argv), launch.environment, launch.cwd, cls.folder.path),
            confined.policy,
        )
        cls.km._kernel_spec = KernelSpec(argv=list(wrapped.argv), language=launch.language)
        # The parent that Jupyter names is not seen where something stands between.
        cls.km.start_kernel(
            cwd=wrapped.cwd, env=dict(wrapped.environment), independent=confined.tier.stands_between
        )
        cls.kc = cls.km.blocking_client()
        cls.kc.start_channels()
        cls.kc.wait_for_ready(timeout=START_S)

    @classmethod
    def tearDownClass(cls) -> None:
        super().tearDownClass()
        cls.km.cleanup_resources()
        cls.folder.close()
