"""The destination of a web address: the public network, or this machine and its private network."""

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from terp.errors import TerpError
from terp.text.dataclasses import dataclass


class BadAddress(TerpError):
    """An address cannot be fetched."""


@dataclass(frozen=True, slots=True)
class Destination:
    """The host and port of an address, and the IP addresses of the host now, the best first.

    There are no `ips` behind a proxy, which resolves the name itself. `private` is True if it may
    be this machine or its private network.
    """

    host: str
    port: int
    ips: tuple[str, ...]
    private: bool


async def destination_of(url: str) -> Destination:
    """Return the destination of a request for `url`.

    Raises:
        BadAddress: it is no http or https address, or its host has no address.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise BadAddress(f"{url[:200]!r} is no address: {error}.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise BadAddress(f"{url[:200]!r} cannot be fetched: an address begins with http:// or https://.")
    port = port or (443 if parts.scheme == "https" else 80)
    if _asks_proxy(parts.scheme, host):
        return Destination(host, port, (), _is_private_name(host))
    ips = await _looked_up(host, port)
    # A name may mean several addresses; one that is private is enough to ask.
    private = any(not ipaddress.ip_address(ip.partition("%")[0]).is_global for ip in ips)
    return Destination(host, port, ips, private)


def _asks_proxy(scheme: str, host: str) -> bool:
    return bool(getproxies().get(scheme) or getproxies().get("all")) and not proxy_bypass(host)


def _is_private_name(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host.rstrip(".") or host.rstrip(".").endswith((".localhost", ".local", ".internal"))


async def _looked_up(host: str, port: int) -> tuple[str, ...]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", "") or str(error)
        raise BadAddress(f"{host} cannot be found: {why}.") from error
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))
