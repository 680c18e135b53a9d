"""`python -m terp_cli` is the command `terp`."""

import os
import sys

from terp_cli.line.isolation import close_memory, exclude_directory
from terp_cli.main import TYPE_CHECKING, main

if TYPE_CHECKING:
    from typing import NoReturn


def enter() -> "NoReturn":
    """Run the command line of this process, and exit without the interpreter's cleanup.

    All files are closed by then. The cleanup of imported modules takes a tenth of a second, on a busy machine
    more than one, and waits for an import that a thread has just begun.
    """
    if sys.argv[1:2] not in (["--version"], ["-V"], ["--help"], ["-h"]):
        # It imports, which could run a file of the working directory.
        exclude_directory()
        close_memory()
    code = main()
    try:
        for stream in (sys.stdout, sys.stderr):
            # A stream that the caller closed is None.
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)


if __name__ == "__main__":
    enter()
