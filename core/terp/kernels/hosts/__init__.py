"""Kernels of terp for other languages: each is a Python process that controls the language's program.

They implement Jupyter's protocol with ipykernel's base class, and are connected to the program by pipes.
Nothing of terp's own environment is given on to it.
"""
