"""MCP servers in a session: their functions in its kernel and its system prompt, their services for code."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from terp.person.dialog import UserDialog
from terp.settings.mcp_servers import McpServer
from terp.tools.mcp.questions import ServerQuestions
from terp.tools.mcp.servers import Servers, offer_servers
from terp.tools.mcp.transports import Programs
from terp.tools.toolbox import FunctionNames

if TYPE_CHECKING:
    from terp.session.session import Session

LOGS = "mcp"
"""The folder for the stderr of servers, in the folder of a session."""
START_TIMEOUT_S = 10.0
"""The time that the first request waits for servers to start."""


class TakesFunctions(Protocol):
    """Kernels whose Python is given the functions of servers."""

    cwd: str
    environ: Mapping[str, str]
    functions: Callable[[], str]


class ServersPrompt:
    """The part of the system prompt about MCP servers and their functions (`PromptPart`)."""

    def __init__(self, servers: Servers, dialog: UserDialog) -> None:
        self._servers = servers
        self._dialog = dialog
        self._waited = False

    async def text(self) -> str:
        """Return the functions that the servers have now.

        The first call waits for servers that are starting. The user is shown why one did not start.
        """
        if self._servers.starting and not self._waited:
            self._waited = True
            async with self._dialog.working(f"Starting MCP servers: {', '.join(self._servers.starting)}"):
                await self._servers.settled(START_TIMEOUT_S)
            for name in self._servers.starting:
                self._dialog.notify(
                    f"MCP server {name} has not started after {START_TIMEOUT_S:g} s; it may still come."
                )
        for failure in self._servers.news():
            self._dialog.notify(failure.message, failure.remedy)
        return self._servers.for_model()


def open_servers(
    session: "Session",
    kernels: TakesFunctions,
    declared: Mapping[str, McpServer],
    functions: FunctionNames,
) -> None:
    """Begin to connect to the servers, which end with the session; only the first request waits for them."""
    redacted = session.resources.redacted
    programs = Programs(kernels.environ, kernels.cwd, session.folder / LOGS, redacted)
    servers = Servers(declared, programs, ServerQuestions(session.dialog).elicit)
    functions.servers = session.resources.servers = servers
    kernels.functions = servers.prelude
    offer_servers(session, servers, session.dialog)
    session.resources.prompt_parts = [ServersPrompt(servers, session.dialog)]
    servers.start()
