"""Jupyter's own tests of kernels, for a kernel of the table of languages."""

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from jupyter_kernel_test import KernelTests

from terp.kernels.launch import Launch
from terp.kernels.rundir import RunDir

START_S = 60


class Conformance(KernelTests):  # type: ignore[misc]
    """Set `launch` to how the kernel is started, and to None the tests for which a language has nothing."""

    launch: Launch
    folder: RunDir

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = RunDir()
        cls.km = KernelManager(
            connection_file=str(cls.folder.connection_file), transport=cls.launch.transport
        )
        cls.km._kernel_spec = KernelSpec(argv=list(cls.launch.argv), language=cls.launch.language)
        cls.km.start_kernel(cwd=cls.launch.cwd, env=dict(cls.launch.environment))
        cls.kc = cls.km.blocking_client()
        cls.kc.start_channels()
        cls.kc.wait_for_ready(timeout=START_S)

    @classmethod
    def tearDownClass(cls) -> None:
        super().tearDownClass()
        cls.km.cleanup_resources()
        cls.folder.close()
