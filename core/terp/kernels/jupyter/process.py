"""A kernel process of this machine, from its start to its end."""

import asyncio
import os
import signal
import socket
import subprocess
import time
import uuid
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from terp.errors import KernelKilled, KernelStartFailed
from terp.kernels.hosts.processes import children
from terp.kernels.jupyter.channels import Route
from terp.kernels.jupyter.launch import Launch
from terp.kernels.jupyter.orphans import MARK, end_marked, supervised
from terp.kernels.jupyter.sockets import Pace, StartedKernel
from terp.kernels.sandbox.bubblewrap import VANISHED
from terp.kernels.sandbox.effects import QUIET_ENVIRONMENT
from terp.kernels.sandbox.tier import ProcessCommand


class GroupProvisioner(LocalProvisioner):
    """A kernel in a separate process session, sandboxed and supervised, with its standard streams in a log.

    The stock launcher leaves the kernel's file descriptors 1 and 2 on the user's terminal. `process` is
    the supervisor, which ends when and how the kernel does, and `pid` the kernel, or its sandbox program,
    once that is started. `afterwards` is the command that ends processes that are left even then.
    """

    log_path: Path
    launch: Launch
    afterwards: tuple[str, ...] = ()
    line: socket.socket | None = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the process. `kwargs` are those of `start_kernel` that Jupyter did not consume.

        Raises:
            KernelStartFailed: the sandbox has no room for it.
            OSError: there is no such program, or no such directory.
        """
        # ipykernel ends itself when the one who started it is no longer its parent.
        env = {**kwargs["env"], "JPY_PARENT_PID": str(os.getpid())}
        directory = self.log_path.parent
        # The holder keeps its end; this one is closed below.
        holder = self.launch.effects.connect() if self.launch.confined.held else None
        env = {**QUIET_ENVIRONMENT, **env} if holder else env
        command = self._wrapped(
            ProcessCommand(
                tuple(cmd),
                env,
                kwargs["cwd"],
                directory,
                self.launch.transport,
                line=holder.fileno() if holder else -1,
            )
        )
        self.afterwards = command.afterwards
        self.cwd = kwargs["cwd"]
        self.line, theirs = socket.socketpair()
        self.line.setblocking(False)
        with theirs, holder or nullcontext(), self.log_path.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: ASYNC220 - returns once the program was found
                supervised(command.argv, str(directory), command.afterwards),
                env=command.environment,
                cwd=command.cwd,
                stdin=theirs.fileno(),
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(holder.fileno(),) if holder else (),
            )
        self.pid = self.pgid = await self._pid_from(self.line, command.argv[0])
        return self.connection_info

    def let_go(self) -> None:
        """Close the line to the supervisor, which then ends itself and all below it."""
        if self.line is not None:
            self.line.close()

    def _wrapped(self, command: ProcessCommand) -> ProcessCommand:
        confined = self.launch.confined
        tier, policy = confined.tier, confined.policy
        if why := tier.refuses(command, policy):
            raise KernelStartFailed(
                f"This kernel cannot run in the sandbox ({confined.what}). {why}",
                "Use another language, or /allow network.",
            )
        return tier.wrap(command, policy)

    async def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the process runs."""
        code: int | None = await super().poll()
        if code is None or code <= 128 or not self.launch.confined.tier.stands_between:
            return code
        # The sandbox's process reports the signal that ended the kernel as a shell does.
        return 128 - code

    def end_rest(self) -> None:
        """End processes that outlived the kernel."""
        if self.afterwards:
            quiet = subprocess.DEVNULL
            subprocess.run(self.afterwards, stdin=quiet, stdout=quiet, stderr=quiet, timeout=10, check=False)

    def signal_kernel(self, signum: int) -> None:
        """Signal only the kernel."""
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
        """Return the pid of the kernel itself; 0 if it does not run."""
        confined = self.launch.confined
        process = confined.tier.process_of(self.pid) if self.pid is not None else 0
        # A holder of effects is the kernel's parent, and orphans come to it later.
        return min(children(process), default=0) if confined.held and process else process

    @staticmethod
    async def _pid_from(line: socket.socket, program: str) -> int:
        """Return the kernel's pid, which its supervisor sends."""
        answer = await asyncio.get_running_loop().sock_recv(line, 64)
        number = int(answer or 0)
        if number < 0:
            raise OSError(-number, os.strerror(-number), program)
        if not number:
            raise KernelKilled("The kernel was ended before it had started.", "Try it again.")
        return number


_PACE = Pace(poll_s=0.1, quick_poll_s=0.01, farewell_s=1.0)
# Time limit for the stack of a kernel that is about to be killed: usually it takes milliseconds, on a busy
# machine some hundred.
_STACK_S = 1.0


class KernelProcess(StartedKernel):
    """Implements `Connection` with a child process, over sockets in a private directory."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch, _PACE)
        self._mark = uuid.uuid4().hex
        self._provisioner: GroupProvisioner | None = None
        self._killed = False

    async def open(self, route: Route) -> None:
        """Start the process."""
        self._connect(await self._spawn(), route)

    async def stack(self) -> str:
        """Return the stack of the code, also in C code, without values."""
        if self._provisioner is not None:
            self._provisioner.signal_kernel(signal.SIGUSR1)
        deadline = time.monotonic() + _STACK_S
        while not (stack := self._dir.stack()) and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_PACE.quick_poll_s)
        return stack

    async def kill(self) -> None:
        """Kill the process and its group."""
        if self._provisioner is None or self._provisioner.process is None:
            return
        if self._provisioner.pid is None:
            self._provisioner.let_go()
        await self._provisioner.send_signal(signal.SIGKILL)
        await self._watch.until_gone()

    def not_up(self, seconds: float) -> KernelStartFailed:
        """Return the error for a kernel that did not start."""
        python = self._launch.argv[0]
        if not self.gone.done():
            return KernelStartFailed(
                f"The kernel did not answer within {seconds:.0f} s.",
                "Run `terp doctor` to check its environment.",
            )
        if "No module named ipykernel" in self._dir.log_tail():
            return KernelStartFailed(
                f"{python} has no ipykernel, which runs the code.",
                f"Install it with `{python} -m pip install ipykernel`, or choose another with --python.",
            )
        again = self._killed or VANISHED in self._dir.log_tail()
        failed = KernelKilled if again else KernelStartFailed
        return failed(
            f"The kernel did not start. {self.gone.result()}{self._quoted_log()}",
            "Run `terp doctor` to check its environment.",
        )

    async def _end(self) -> None:
        # Also after an orderly end: what the kernel left running ends with it.
        await self.kill()
        if self._launch.confined.held:
            self._launch.effects.close()
        if self._provisioner is not None:
            self._provisioner.let_go()
            await asyncio.to_thread(self._provisioner.end_rest)
        # The supervisor, which ends the children, may have been killed before.
        await asyncio.to_thread(end_marked, self._mark)

    async def _spawn(self) -> AsyncKernelManager:
        spec = KernelSpec(argv=list(self._launch.argv), language=self._launch.language)
        manager = AsyncKernelManager(
            connection_file=str(self._dir.connection_file),
            transport=self._launch.transport,
            context=self._context,
        )
        manager._kernel_spec = spec
        self._provisioner = GroupProvisioner(kernel_id="", kernel_spec=spec, parent=manager)
        self._provisioner.log_path = self._dir.log
        self._provisioner.launch = self._launch
        manager.provisioner = self._provisioner
        try:
            await manager.start_kernel(
                cwd=self._launch.cwd, env={**self._launch.environment, MARK: self._mark}
            )
        except OSError as error:
            raise KernelStartFailed(
                f"The kernel cannot be started: {error}", "Check --python and the working directory."
            ) from error
        return manager

    async def _exit_code(self) -> int | None:
        code = await super()._exit_code()
        self._killed = code is not None and code < 0
        return code
