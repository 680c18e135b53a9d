"""A turn that is repeated until a check passes; `loop.ask` is the way in.

The check runs in a copy of the project, with its own files as they were before, in the sandbox. The turn does
not depend on it.
"""
