"""Starts a kernel process of this machine and ends it with all its children."""

import asyncio
import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from terp.errors import KernelKilled, KernelStartFailed
from terp.kernels.jupyter.launch import Launch
from terp.kernels.jupyter.orphans import supervised
from terp.kernels.sandbox.tier import Command


class GroupProvisioner(LocalProvisioner):
    """A kernel in a session of its own, confined and supervised, with its standard streams in a log file.

    The stock launcher leaves the kernel's file descriptors 1 and 2 on the person's terminal. `process` is
    the supervisor, which ends when and how the kernel does, and `pid` the kernel, or what confines it, once
    that is started. `afterwards` is the command that ends what even then is left.
    """

    log_path: Path
    launch: Launch
    afterwards: tuple[str, ...] = ()
    line: socket.socket | None = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the process. `kwargs` are those of `start_kernel` that Jupyter did not consume.

        Raises:
            KernelStartFailed: what confines it has no room for it.
            OSError: there is no such program, or no such directory.
        """
        # ipykernel ends itself when the one who started it is no longer its parent.
        env = {**kwargs["env"], "JPY_PARENT_PID": str(os.getpid())}
        directory = self.log_path.parent
        command = self._wrapped(Command(tuple(cmd), env, kwargs["cwd"], directory, self.launch.transport))
        self.afterwards = command.afterwards
        self.cwd = kwargs["cwd"]
        self.line, theirs = socket.socketpair()
        self.line.setblocking(False)
        with theirs, self.log_path.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: ASYNC220 - returns once the program was found
                supervised(command.argv, str(directory), command.afterwards),
                env=command.environment,
                cwd=command.cwd,
                stdin=theirs.fileno(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.pid = self.pgid = await self._told(self.line, command.argv[0])
        return self.connection_info

    def let_go(self) -> None:
        """Leave the rest to the supervisor: it ends, and everything with it."""
        if self.line is not None:
            self.line.close()

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

    def _kernel(self) -> int:
        """The process of the kernel itself; 0 when it is not there."""
        return self.launch.confined.tier.process_of(self.pid) if self.pid is not None else 0

    @staticmethod
    async def _told(line: socket.socket, program: str) -> int:
        """The number of the kernel's process, from its supervisor."""
        told = await asyncio.get_running_loop().sock_recv(line, 64)
        number = int(told or 0)
        if number < 0:
            raise OSError(-number, os.strerror(-number), program)
        if not number:
            raise KernelKilled("The kernel was ended before it had started.", "Try it again.")
        return number
