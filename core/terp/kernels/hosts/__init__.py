"""Kernels that are terp's own: processes of terp's Python, each in front of another language's program.

They implement Jupyter's protocol with ipykernel's base class, and are connected to the program by pipes.
Nothing of terp's own environment is given on to it.
"""
