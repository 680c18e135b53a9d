"""Run inside, before the code's own process takes over: what a process can only take from itself.

These modules know nothing else of terp, and run in its Python without any site. They come before every
start of a kernel, so they import little: `typing` alone would take 10 ms.
"""
