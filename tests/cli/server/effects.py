"""Code with an effect that the user is asked about, for servers with `approve: effect`."""

import pytest

from tests.effects.driver import TIERS, holding
from tests.loopback import Loopback

needs_holder = pytest.mark.skipif(
    not any(holding(name)[0] for name in TIERS), reason="effects of code cannot be held here"
)

_CONNECTS = """
import socket
for _ in range({times}):
    try:
        socket.create_connection(("127.0.0.1", {port})).close()
        print("connected")
    except PermissionError:
        print("refused")
"""


def connects(server: Loopback, times: int = 1) -> str:
    """Return code that connects to a server of this machine, and prints how that went."""
    return _CONNECTS.format(times=times, port=server.url.split(":")[2].split("/")[0])
