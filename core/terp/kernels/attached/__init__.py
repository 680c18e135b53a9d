"""Kernels that another program has started: found by their connection files, used, and left running."""
