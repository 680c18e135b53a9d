"""Kernels behind one protocol.

A `Connection` carries messages and holds power over life and death: of a process of terp's own, of a
provisioner's, of somebody else's kernel (`attached`), of one behind a gateway (`remote`). A running kernel is
one life of a kernel; its one reader routes what arrives by the id of the request.
"""

from terp.events.kernel import Kernel, KernelListener, Kernels, Variable

__all__ = ["Kernel", "KernelListener", "Kernels", "Variable"]
