"""Kernels of Jupyter on this machine: their processes, their channels and their runs."""
