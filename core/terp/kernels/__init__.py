"""Kernels behind one protocol."""

from terp.kernels.protocol import Kernel, KernelListener, Kernels, Variable

__all__ = ["Kernel", "KernelListener", "Kernels", "Variable"]
