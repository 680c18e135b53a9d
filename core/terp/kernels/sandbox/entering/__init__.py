"""Restrictions that a process applies to itself, before it becomes the kernel (`exec`).

These modules import nothing else of terp and run in its Python without `site`. They run before every start
of a kernel, so they import little: `typing` takes 10 ms.
"""
