"""Kernels that somebody else has started: found by their connection files, used, and left running."""
