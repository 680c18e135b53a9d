"""The limits of a server."""

from dataclasses import dataclass

_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class ServerLimits:
    """Sizes are in bytes, times in seconds.

    `sessions` may be open at a time, each with `queue` turns that wait and `watchers` that follow it.
    `memory` is what the server itself may take before it opens no more sessions (0: any). Kernels that did
    nothing for `idle_s` are closed (0: never). A question that nobody was there to answer for `patience_s` is
    answered with no. `connections` are those of all clients; `strangers` the WebSockets among them that have
    not shown the token yet, for which they have `greeting_s` and, in their first message, `greeting` bytes. A
    body of which nothing, or fewer than `slowest` bytes a second, came for `stall_s`, and a client that takes
    nothing for as long, are let go.
    """

    sessions: int = 100
    queue: int = 8
    watchers: int = 64
    memory: int = 2_000 * _MEGABYTE
    idle_s: float = 900.0
    patience_s: float = 120.0
    body: int = 4 * _MEGABYTE
    headers: int = 16_384
    upload: int = 2_000 * _MEGABYTE
    frame: int = 4 * _MEGABYTE
    greeting: int = 64_000
    connections: int = 2_000
    strangers: int = 128
    greeting_s: float = 5.0
    stall_s: float = 30.0
    slowest: int = 10_000
    keepalive_s: float = 15.0
    closing_s: float = 2.0
