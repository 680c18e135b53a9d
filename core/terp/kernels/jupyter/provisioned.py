"""A kernel that a kernel provisioner of Jupyter starts, signals and ends."""

import asyncio
import signal
import sys
import uuid
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from terp.errors import KernelStartFailed
from terp.kernels.jupyter.channels import new_request
from terp.kernels.jupyter.connection import Route
from terp.kernels.jupyter.launch import Launch, Provisioner
from terp.kernels.jupyter.process import Pace, Watch
from terp.kernels.jupyter.rundir import RunDir
from terp.kernels.jupyter.sockets import Sockets, new_context

GROUP = "jupyter_client.kernel_provisioners"
# A provisioner may have to ask another machine.
_PACE = Pace(poll_s=0.5, quick_poll_s=0.05, farewell_s=5.0)


class ProvisionedKernel:
    """Implements `Connection` with Jupyter's manager and the provisioner that the user named."""

    def __init__(self, launch: Launch, provisioner: Provisioner) -> None:
        self._launch = launch
        self._named = provisioner
        self._dir = RunDir()
        self._context = new_context(keeps_unread=launch.keeps_unread)
        self._manager: AsyncKernelManager | None = None
        self._provisioner: KernelProvisionerBase | None = None
        self._sockets: Sockets | None = None
        self._closed = False
        self._last_words = ""
        self.gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._watch = Watch(self._exit_code, self.gone, _PACE)
        self.may_live = False

    @property
    def connection_file(self) -> str:
        """The file in the private directory, if the provisioner has kept to it."""
        return str(self._dir.connection_file) if self._dir.connection_file.exists() else ""

    async def open(self, route: Route) -> None:
        """Have the kernel started, and connect to where the provisioner says it is."""
        manager = self._managed()
        try:
            with self._dir.log.open("ab") as log:
                await manager.start_kernel(
                    cwd=self._launch.cwd, env=dict(self._launch.environment), stdout=log, stderr=log
                )
        except Exception as error:  # whatever somebody else's provisioner raises
            words = self.last_words()
            quoted = f" Its last words:\n{words}" if words else ""
            raise KernelStartFailed(
                f"The kernel provisioner '{self._named.name}' has started no kernel: {error}{quoted}",
                "Its documentation lists the settings of kernel_provisioner_config.",
            ) from error
        client = manager.client(context=self._context)
        assert isinstance(client, AsyncKernelClient)
        self._sockets = Sockets(client, route)
        self._watch.begin()

    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message."""
        assert self._sockets is not None
        self._sockets.send(channel, message)

    async def interrupt(self) -> None:
        """Have the provisioner send SIGINT, or send the message that the kernel wants instead."""
        if self._launch.interrupt_by == "message":
            self.send("control", new_request("interrupt_request"))
        elif self._provisioner is not None:
            await self._provisioner.send_signal(signal.SIGINT)

    async def stack(self) -> str:
        """Return "": the provisioner may know no other signals."""
        return ""

    async def kill(self) -> None:
        """Have the kernel ended at once."""
        if self._provisioner is not None and self._provisioner.has_process:
            await self._provisioner.kill()
            await self._watch.until_gone()

    async def close(self) -> None:
        """Ask the kernel to end, have it ended if it does not, and remove the traces."""
        if self._closed:
            return
        self._closed = True
        if self._sockets is not None and not self.gone.done():
            self.send("control", new_request("shutdown_request", {"restart": False}))
            await self._watch.until_gone()
        await self.kill()
        await self._watch.end()
        if self._sockets is not None:
            await self._sockets.close()
        if self._manager is not None:
            await self._manager.cleanup_resources()
        self._context.destroy(linger=0)
        self.last_words()
        self._dir.close()
        if not self.gone.done():
            self.gone.set_result("The kernel was ended.")

    def last_words(self) -> str:
        """The end of the log, where the kernel is on this machine."""
        self._last_words = self._last_words or self._dir.log_tail()
        return self._last_words

    def not_up(self, seconds: float) -> KernelStartFailed:
        """Why the kernel did not answer."""
        name, words = self._named.name, self.last_words()
        quoted = f" Its last words:\n{words}" if words else ""
        if self.gone.done():
            return KernelStartFailed(
                f"The kernel of the provisioner '{name}' did not come up. {self.gone.result()}{quoted}"
            )
        return KernelStartFailed(
            f"The kernel of the provisioner '{name}' did not answer within {seconds:.0f} s.{quoted}",
            "Its machine may not be reachable from here.",
        )

    def _managed(self) -> AsyncKernelManager:
        kind = found_class(self._named.name)
        spec = KernelSpec(
            argv=list(self._launch.argv),
            language=self._launch.language,
            interrupt_mode=self._launch.interrupt_by,
        )
        # Sockets in a directory reach no other machine.
        manager = AsyncKernelManager(
            connection_file=str(self._dir.connection_file), transport="tcp", context=self._context
        )
        manager._kernel_spec = spec
        config = _checked(self._named, kind)
        try:
            self._provisioner = kind(kernel_id=str(uuid.uuid4()), kernel_spec=spec, parent=manager, **config)
        except Exception as error:  # see `open`
            raise KernelStartFailed(f"kernel_provisioner_config: {error}") from error
        manager.provisioner = self._provisioner
        self._manager = manager
        return manager

    async def _exit_code(self) -> int | None:
        assert self._provisioner is not None
        code: int | None = await self._provisioner.poll()
        return code


def found_class(name: str) -> type[KernelProvisionerBase]:
    """The class of an installed provisioner.

    Raises:
        KernelStartFailed: there is none of that name, or it cannot be loaded.
    """
    installed = entry_points(group=GROUP)
    if name not in installed.names:
        raise KernelStartFailed(
            f"There is no kernel provisioner '{name}'. Installed are: {', '.join(sorted(installed.names))}.",
            f"Install the package that brings it, with `{sys.executable} -m pip install …`.",
        )
    try:
        kind: type[KernelProvisionerBase] = installed[name].load()
    except Exception as error:  # whatever the modules of somebody else raise when they are imported
        raise KernelStartFailed(
            f"The kernel provisioner '{name}' cannot be loaded: {type(error).__name__}: {error}",
            "Install what it needs, or repair the package that brings it.",
        ) from error
    return kind


def _checked(named: Provisioner, kind: type[KernelProvisionerBase]) -> Mapping[str, Any]:
    """The configuration; a misspelt setting would be dropped without a word."""
    own = set(kind.class_traits(config=True))
    unknown = [name for name in named.config if name not in kind.class_traits()]
    if unknown and kind.__init__ is KernelProvisionerBase.__init__:
        raise KernelStartFailed(
            f"The kernel provisioner '{named.name}' has no setting '{unknown[0]}'.",
            f"It has: {', '.join(sorted(own)) or 'none'}.",
        )
    return named.config
