"""`${VARIABLE}` in what settings say: the value comes from terp's environment, so no key stands in a file."""

import re
from collections.abc import Mapping
from dataclasses import replace

from terp.errors import TerpError
from terp.settings.mcp_servers import McpServer

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def between_variables(text: str) -> list[str]:
    """The pieces of a text between the variables that it names."""
    return _VARIABLE.sub("\0", text).split("\0")


class NoVariable(TerpError):
    """A variable that settings name is not set."""


def variables_in(server: McpServer) -> frozenset[str]:
    """The variables that the server names."""
    texts = (
        server.command,
        *server.args,
        *server.env.values(),
        server.cwd,
        server.url,
        *server.headers.values(),
    )
    return frozenset(name for text in texts for name in _VARIABLE.findall(text))


def filled_in(server: McpServer, environ: Mapping[str, str]) -> McpServer:
    """The server with the values of the variables that it names.

    Raises:
        NoVariable: one of them is not set, or empty.
    """

    def value(found: re.Match[str]) -> str:
        if not environ.get(found[1]):
            raise NoVariable(f"${{{found[1]}}} is not set in terp's environment.")
        return environ[found[1]]

    def filled(text: str) -> str:
        return _VARIABLE.sub(value, text)

    return replace(
        server,
        command=filled(server.command),
        args=tuple(map(filled, server.args)),
        env={name: filled(text) for name, text in server.env.items()},
        cwd=filled(server.cwd),
        url=filled(server.url),
        headers={name: filled(text) for name, text in server.headers.items()},
    )
