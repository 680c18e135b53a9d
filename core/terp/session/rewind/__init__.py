"""Undoing turns with the changes of their code, and resuming a stored session.

Before a cell the kernel keeps a shallow state of each object that the cell can reach, and a function that
restores it into the same object; an object of which neither is known is named as not restored.
"""
