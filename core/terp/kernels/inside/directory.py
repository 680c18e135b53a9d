"""The working directory as a place of modules: from the first cell on, as no code of its is run unasked."""

from __future__ import annotations

import sys
from typing import Any


class Directory:
    """Comes on the path of imports once, and leaves it when the `kernel` ends, which imports then, too."""

    def __init__(self, kernel: Any) -> None:
        self._there = False
        end = kernel.do_shutdown

        def do_shutdown(*args: Any, **kwargs: Any) -> Any:
            sys.path[:] = [one for one in sys.path if one]
            return end(*args, **kwargs)

        kernel.do_shutdown = do_shutdown

    def join(self, *_: object) -> None:
        """Let imports look into the working directory, where IPython has them look."""
        if self._there:
            return
        self._there = True
        from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415 - a kernel that never runs code does without

        app: Any = IPKernelApp.instance()
        app.ignore_cwd = False
        app.init_path()
