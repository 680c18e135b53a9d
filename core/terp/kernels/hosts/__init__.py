"""Kernels that are terp's own: processes of terp's Python, each in front of another language's program.

They speak Jupyter's protocol through ipykernel's base class and hold the program by pipes. Nothing of
terp's own environment is given on to it.
"""
