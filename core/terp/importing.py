"""Imports that take long."""

import gc
from importlib import import_module
from types import ModuleType


def import_slow(name: str) -> ModuleType:
    """The module, imported with garbage collection put off. Meant for a thread.

    An import makes thousands of objects, none of which is garbage; looking for some again and again
    is a third of the import of litellm.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if enabled:
            gc.enable()
