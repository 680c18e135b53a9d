"""By which names a server may be called, and from which pages."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol

_PORT_OF_HTTP = 80


class Names(Protocol):
    """Decides which names are a server's own."""

    def is_host(self, host: str, came_in_on: str) -> bool:
        """Whether a request with this `Host` is meant for this server."""

    def is_origin(self, origin: str, came_in_on: str) -> bool:
        """Whether a page of this origin is one of this server."""


@dataclass(frozen=True)
class OwnNames:
    """The names of one server: what `Host` and `Origin` must be, letter by letter.

    A page elsewhere that has its own name point to this machine (DNS rebinding) sends its own name. An
    address cannot be bent like that, so one that a connection came in on is always right.
    """

    host: str
    port: int

    def is_host(self, host: str, came_in_on: str) -> bool:
        """Whether a request with this `Host` is meant for this server."""
        return host in self._hosts(came_in_on)

    def is_origin(self, origin: str, came_in_on: str) -> bool:
        """Whether a page of this origin is one of this server."""
        return origin in {f"http://{host}" for host in self._hosts(came_in_on)}

    def _hosts(self, came_in_on: str) -> frozenset[str]:
        names = {self.host, came_in_on} - {"", "0.0.0.0", "::"}  # noqa: S104  (these are no names)
        if is_loopback(self.host):
            names.add("localhost")
        written = {f"[{name}]" if ":" in name else name for name in names}
        bare = written if self.port == _PORT_OF_HTTP else set()
        return frozenset({*bare, *(f"{name}:{self.port}" for name in written)})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
