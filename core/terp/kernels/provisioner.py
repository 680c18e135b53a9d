"""Starts a kernel process of this machine and ends it with all its children."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner


class GroupProvisioner(LocalProvisioner):
    """A kernel in a session of its own, with its standard streams in a log file.

    The stock launcher leaves the kernel's file descriptors 1 and 2 on the person's terminal.
    """

    log_path: Path

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the process. `kwargs` are those of `start_kernel` that Jupyter did not consume."""
        env = dict(kwargs["env"])
        # ipykernel ends itself when this process is no longer its parent.
        env["JPY_PARENT_PID"] = str(os.getpid())
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: ASYNC220 - returns once the program was found
                cmd,
                env=env,
                cwd=kwargs["cwd"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.pid = self.pgid = self.process.pid
        self.cwd = kwargs["cwd"]
        return self.connection_info

    def signal_kernel(self, signum: int) -> None:
        """Signal the kernel alone."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signum)

    async def send_signal(self, signum: int) -> None:
        """Signal the kernel and what it started in its process group."""
        if self.pgid is None:
            return
        try:
            os.killpg(self.pgid, signum)
        except ProcessLookupError:
            return
        if signum == signal.SIGKILL and self.process is not None:
            self.process.kill()
