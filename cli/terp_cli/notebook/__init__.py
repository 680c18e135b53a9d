"""terp's process beside a notebook's kernel: the session, its keys and its model; code runs in that kernel.

The extension in the kernel (`terp.notebook`) starts it. Messages between them are lines of JSON.
"""
