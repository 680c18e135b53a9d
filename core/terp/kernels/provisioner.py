"""Starts a kernel process of this machine and ends it with all its children."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from terp.errors import KernelStartFailed
from terp.kernels.launch import Launch
from terp.sandbox.tier import Command


class GroupProvisioner(LocalProvisioner):
    """A kernel in a session of its own, confined, with its standard streams in a log file.

    The stock launcher leaves the kernel's file descriptors 1 and 2 on the person's terminal. `afterwards`
    is the command that ends what is left, once the kernel is started.
    """

    log_path: Path
    launch: Launch
    afterwards: tuple[str, ...] = ()

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the process. `kwargs` are those of `start_kernel` that Jupyter did not consume.

        Raises:
            KernelStartFailed: what confines it has no room for it.
        """
        env = dict(kwargs["env"])
        # ipykernel ends itself when this process is no longer its parent.
        env["JPY_PARENT_PID"] = str(os.getpid())
        command = self._wrapped(
            Command(tuple(cmd), env, kwargs["cwd"], self.log_path.parent, self.launch.transport)
        )
        self.afterwards = command.afterwards
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: ASYNC220 - returns once the program was found
                command.argv,
                env=command.environment,
                cwd=command.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.pid = self.pgid = self.process.pid
        self.cwd = kwargs["cwd"]
        return self.connection_info

    def _wrapped(self, command: Command) -> Command:
        confined = self.launch.confined
        tier, policy = confined.tier, confined.policy
        if why := tier.refuses(command, policy):
            raise KernelStartFailed(
                f"This kernel cannot run confined by {confined.what}. {why}",
                "Use another language, or /allow network.",
            )
        return tier.wrap(command, policy)

    async def poll(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        code: int | None = await super().poll()
        if code is None or code <= 128 or not self.launch.confined.tier.stands_between:
            return code
        # What stands between tells of the signal that ended the kernel as a shell does.
        return 128 - code

    def end_rest(self) -> None:
        """End what the end of the process leaves running."""
        if self.afterwards:
            quiet = subprocess.DEVNULL
            subprocess.run(self.afterwards, stdin=quiet, stdout=quiet, stderr=quiet, timeout=10, check=False)

    def signal_kernel(self, signum: int) -> None:
        """Signal the kernel alone."""
        if self.process is not None and self.process.poll() is None and (pid := self._kernel()):
            with suppress(ProcessLookupError):
                os.kill(pid, signum)

    async def send_signal(self, signum: int) -> None:
        """Signal the kernel and what it started in its process group."""
        if self.pgid is None or self.process is None:
            return
        try:
            # A signal that is meant for the code would end what stands between.
            kernel = 0 if signum == signal.SIGKILL else self._kernel()
            os.killpg(os.getpgid(kernel) if kernel else self.pgid, signum)
        except ProcessLookupError:
            return
        if signum == signal.SIGKILL and self.process is not None:
            self.process.kill()

    def _kernel(self) -> int:
        """The process of the kernel itself; 0 when it is not there."""
        return self.launch.confined.tier.process_of(self.process.pid) if self.process is not None else 0
