"""The names by which a model may call functions of the Python kernel as if they were tools."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from terp.tools.toolbox import Toolbox


class NamesCalls(Protocol):
    """What has functions in the kernel under more names than one."""

    @property
    def calls(self) -> Mapping[str, str]:
        """Every name that a model may use, and what that is in Python."""


class FunctionNames(Mapping[str, str]):
    """Each name, and what it is in Python: of the tools, and of servers whose functions may still change.

    A tool hides a function of a server that has the same name.
    """

    def __init__(self, toolbox: Toolbox, servers: NamesCalls | None = None) -> None:
        self._toolbox = toolbox
        self.servers = servers

    def __getitem__(self, name: str) -> str:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, str]:
        calls = self.servers.calls if self.servers else {}
        return {**calls, **{name: name for name in self._toolbox.names}}
