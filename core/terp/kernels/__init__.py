"""Kernels behind one protocol."""

from terp.events.kernel import Kernel, KernelListener, Kernels, Variable

__all__ = ["Kernel", "KernelListener", "Kernels", "Variable"]
