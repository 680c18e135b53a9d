"""How a host's process begins."""

import ctypes
import signal
import sys

from ipykernel.kernelapp import IPKernelApp

from terp.kernels.hosts.kernel import HostKernel

_PR_SET_PDEATHSIG = 1


def serve(kernel: type[HostKernel]) -> None:
    """Be a kernel of this class until it is told to end, or whoever started it is gone."""
    end_with_parent()
    IPKernelApp.launch_instance(kernel_class=kernel)


def end_with_parent() -> None:
    """Have this process killed when the one that started it dies (Linux; elsewhere ipykernel polls)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
