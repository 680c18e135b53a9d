"""What terp adds to a Python kernel. Runs inside the kernel, as the module `terp_home`.

It works with any Python from 3.8 that has IPython, imports nothing of terp, touches no name of the
person and never changes their code.
"""

from __future__ import annotations

from typing import Any


def install(shell: Any, token: str) -> None:
    """Prepare this kernel; `token` marks the calls home."""
