"""A turn that is repeated until a check passes; `loop.ask` is the way in.

The check runs in a copy of the project, with the files it is made of as they were, in the sandbox. The turn
does not know of it.
"""
