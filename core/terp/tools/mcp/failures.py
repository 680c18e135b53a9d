"""What went wrong with a server, in one line."""

import errno

from terp.errors import TerpError
from terp.settings.mcp_servers import McpServer

INSTALL = "pip install 'terp[mcp]'"
_LONGEST = 300


class ServerDown(TerpError):
    """A server cannot be reached, or has ended. The next call of it tries again."""


def no_library() -> ServerDown:
    """The library that speaks with servers is not installed."""
    return ServerDown(f"MCP servers need the library mcp, which is not installed: {INSTALL}")


def why(error: BaseException, server: McpServer) -> str:
    """The reason, to follow a colon."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "it does not answer."
    if isinstance(error, OSError) and error.errno == errno.ENOENT and server.command:
        directory = f", or no directory {server.cwd!r}" if server.cwd else ""
        return f"there is no program {server.command!r}{directory}."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    said = " ".join(str(error).split())[:_LONGEST] or type(error).__name__
    return said if said.endswith((".", "!", "?")) else f"{said}."
