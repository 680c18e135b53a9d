"""A kernel process of our own, from its start to its end."""

import asyncio
import signal
import time
import uuid
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from terp.errors import KernelKilled, KernelStartFailed
from terp.kernels.jupyter.connection import Route
from terp.kernels.jupyter.launch import Launch
from terp.kernels.jupyter.orphans import MARK, end_marked
from terp.kernels.jupyter.provisioner import GroupProvisioner
from terp.kernels.jupyter.requests import new_request
from terp.kernels.jupyter.rundir import RunDir
from terp.kernels.jupyter.sockets import Sockets, new_context
from terp.kernels.jupyter.watch import Pace, Watch

_PACE = Pace(poll_s=0.1, quick_poll_s=0.01, farewell_s=1.0)
# How long a kernel that is about to be killed may take to write its stack: one that can takes milliseconds,
# on a busy machine some hundred.
_STACK_S = 1.0


class KernelProcess:
    """Implements `Connection` with a child process, over sockets in a private directory."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._dir = RunDir()
        self._context = new_context(keeps_unread=launch.keeps_unread)
        self._mark = uuid.uuid4().hex
        self._provisioner: GroupProvisioner | None = None
        self._sockets: Sockets | None = None
        self._closed = self._killed = False
        self._last_words = ""
        self.gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._watch = Watch(self._exit_code, self.gone, _PACE)
        self.may_live = False

    @property
    def connection_file(self) -> str:
        """The file in the private directory."""
        return str(self._dir.connection_file)

    async def open(self, route: Route) -> None:
        """Start the process."""
        manager = await self._spawn()
        client = manager.client(context=self._context)
        assert isinstance(client, AsyncKernelClient)
        self._sockets = Sockets(client, route)
        self._watch.begin()

    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message."""
        assert self._sockets is not None
        self._sockets.send(channel, message)

    async def interrupt(self) -> None:
        """Send SIGINT to the kernel and its children, or the message that a kernel wants instead."""
        if self._launch.interrupt_by == "message":
            self.send("control", new_request("interrupt_request"))
        elif self._provisioner is not None:
            await self._provisioner.send_signal(signal.SIGINT)

    async def stack(self) -> str:
        """Where the code stands; it works in C code too, and without values."""
        if self._provisioner is not None:
            self._provisioner.signal_kernel(signal.SIGUSR1)
        deadline = time.monotonic() + _STACK_S
        while not (stack := self._dir.stack()) and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_PACE.quick_poll_s)
        return stack

    async def kill(self) -> None:
        """End the process and its group at once."""
        if self._provisioner is None or self._provisioner.process is None:
            return
        if self._provisioner.pid is None:
            self._provisioner.let_go()
        await self._provisioner.send_signal(signal.SIGKILL)
        await self._watch.until_gone()

    async def close(self) -> None:
        """Ask the process to end, end it if it does not, and remove its traces."""
        if self._closed:
            return
        self._closed = True
        if self._sockets is not None and not self.gone.done():
            self.send("control", new_request("shutdown_request", {"restart": False}))
            await self._watch.until_gone()
        # Also after a farewell: what the kernel left running ends with it.
        await self.kill()
        if self._provisioner is not None:
            self._provisioner.let_go()
            await asyncio.to_thread(self._provisioner.end_rest)
        # Somebody may have killed the supervisor before.
        await asyncio.to_thread(end_marked, self._mark)
        await self._watch.end()
        if self._sockets is not None:
            await self._sockets.close()
        self._context.destroy(linger=0)
        self.last_words()
        self._dir.close()

    def last_words(self) -> str:
        """The end of the log."""
        self._last_words = self._last_words or self._dir.log_tail()
        return self._last_words

    def not_up(self, seconds: float) -> KernelStartFailed:
        """Why the kernel did not come up."""
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
        words = self.last_words()
        quoted = f" Its last words:\n{words}" if words else ""
        failed = KernelKilled if self._killed else KernelStartFailed
        return failed(
            f"The kernel did not come up. {self.gone.result()}{quoted}",
            "Run `terp doctor` to check its environment.",
        )

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
        assert self._provisioner is not None
        code: int | None = await self._provisioner.poll()
        self._killed = code is not None and code < 0
        return code
