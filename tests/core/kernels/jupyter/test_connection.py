"""The places where a kernel can be."""

from collections.abc import Callable

import pytest

from terp.kernels.attached.kernel import AttachedKernel
from terp.kernels.jupyter.channels import Connection
from terp.kernels.jupyter.process import KernelProcess
from terp.kernels.jupyter.provisioned import ProvisionedKernel
from terp.kernels.remote.kernel import GatewayKernel

# They are imported by name where they are needed, which hides from the type check what they lack.
CONNECTIONS: list[Callable[..., Connection]] = [
    KernelProcess,
    ProvisionedKernel,
    AttachedKernel,
    GatewayKernel,
]


@pytest.mark.parametrize("connection", CONNECTIONS)
def test_a_connection_says_what_it_implements(connection: type[Connection]) -> None:
    assert (connection.__doc__ or "").startswith("Implements `Connection` with ")
