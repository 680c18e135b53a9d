"""Entry: serve the kernel at the other end of the socket on stdin."""

import asyncio
import os
import socket

from terp_cli.notebook.conversation import NotebookConversation
from terp_cli.notebook.pipe import KernelPipe


def main() -> None:
    """Serve one kernel until it ends."""
    end = socket.socket(fileno=os.dup(0))
    # Nothing else may read the messages.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    asyncio.run(NotebookConversation(KernelPipe(end), os.environ).run())


if __name__ == "__main__":
    main()
