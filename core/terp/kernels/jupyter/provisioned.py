"""A kernel that a kernel provisioner of Jupyter starts, signals and ends."""

import sys
import uuid
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from terp.errors import KernelStartFailed
from terp.kernels.jupyter.channels import Route
from terp.kernels.jupyter.launch import Launch, Provisioner
from terp.kernels.jupyter.sockets import Pace, StartedKernel

GROUP = "jupyter_client.kernel_provisioners"
# A provisioner may have to ask another machine.
_PACE = Pace(poll_s=0.5, quick_poll_s=0.05, farewell_s=5.0)


class ProvisionedKernel(StartedKernel):
    """Implements `Connection` with Jupyter's manager and the provisioner that the launch names."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch, _PACE)
        assert launch.provisioner is not None
        self._named = launch.provisioner
        self._manager: AsyncKernelManager | None = None

    async def open(self, route: Route) -> None:
        """Have the provisioner start the kernel, and connect to the address that it returns."""
        manager = self._managed()
        try:
            with self._dir.log.open("ab") as log:
                await manager.start_kernel(
                    cwd=self._launch.cwd, env=dict(self._launch.environment), stdout=log, stderr=log
                )
        except Exception as error:  # a provisioner of another package may raise anything
            words = self._quoted_log()
            raise KernelStartFailed(
                f"The kernel provisioner '{self._named.name}' has started no kernel: {error}{words}",
                "Its documentation lists the settings of kernel_provisioner_config.",
            ) from error
        self._connect(manager, route)

    async def kill(self) -> None:
        """Have the provisioner kill the kernel."""
        if self._provisioner is not None and self._provisioner.has_process:
            await self._provisioner.kill()
            await self._watch.until_gone()

    def not_up(self, seconds: float) -> KernelStartFailed:
        """Return the error for a kernel that did not answer."""
        name, words = self._named.name, self._quoted_log()
        if self.gone.done():
            return KernelStartFailed(
                f"The kernel of the provisioner '{name}' did not start. {self.gone.result()}{words}"
            )
        return KernelStartFailed(
            f"The kernel of the provisioner '{name}' did not answer within {seconds:.0f} s.{words}",
            "Its machine may not be reachable from here.",
        )

    async def _end(self) -> None:
        await self.kill()
        await self._watch.end()
        if self._manager is not None:
            await self._manager.cleanup_resources()
        self._ended("The kernel was ended.")

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


def found_class(name: str) -> type[KernelProvisionerBase]:
    """Return the class of an installed provisioner.

    Raises:
        KernelStartFailed: there is none of that name, or it cannot be loaded.
    """
    installed = entry_points(group=GROUP)
    if name not in installed.names:
        raise KernelStartFailed(
            f"There is no kernel provisioner '{name}'. Installed are: {', '.join(sorted(installed.names))}.",
            f"Install the package that provides it, with `{sys.executable} -m pip install …`.",
        )
    try:
        kind: type[KernelProvisionerBase] = installed[name].load()
    except Exception as error:  # modules of another package may raise anything
        raise KernelStartFailed(
            f"The kernel provisioner '{name}' cannot be loaded: {type(error).__name__}: {error}",
            "Install what it needs, or repair the package that provides it.",
        ) from error
    return kind


def _checked(named: Provisioner, kind: type[KernelProvisionerBase]) -> Mapping[str, Any]:
    """Return the configuration, or raise for a misspelt setting, which Jupyter would ignore."""
    own = set(kind.class_traits(config=True))
    unknown = [name for name in named.config if name not in kind.class_traits()]
    if unknown and kind.__init__ is KernelProvisionerBase.__init__:
        raise KernelStartFailed(
            f"The kernel provisioner '{named.name}' has no setting '{unknown[0]}'.",
            f"It has: {', '.join(sorted(own)) or 'none'}.",
        )
    return named.config
