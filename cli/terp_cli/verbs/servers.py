"""`terp mcp`: connect to the MCP servers of the settings, and list their functions."""

import asyncio
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from terp.settings import Settings
from terp.tools.files.declared import Tool
from terp.tools.mcp.connection import START_S
from terp.tools.mcp.servers import Servers
from terp.tools.mcp.transports import Programs
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.listings import NO_SERVERS, function_rows, server_rows
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from mcp.types import ElicitRequestParams, ElicitResult

T = TypeVar("T")


def check_servers(call: Invocation) -> int:
    """Connect to every MCP server and print its functions (`terp mcp`); return 1 if one cannot be reached."""
    settings = call.settings()
    if not settings.mcp_servers:
        call.note(NO_SERVERS)
        return 0
    return asyncio.run(_with_servers(call, settings, partial(_print_servers, call)))


def server_tools(call: Invocation, settings: Settings) -> tuple[Tool, ...]:
    """Return the tools of all MCP servers that can be reached; report the others."""
    return asyncio.run(_with_servers(call, settings, partial(_reached, call)))


async def _with_servers(call: Invocation, settings: Settings, use: Callable[[Servers], T]) -> T:
    """Connect to the servers, return `use(servers)`, and close them."""
    with tempfile.TemporaryDirectory(prefix="terp-mcp-") as folder:
        programs = Programs(call.environ, str(call.cwd), Path(folder), call.secrets.redacted)
        servers = Servers(settings.mcp_servers, programs, _nobody_answers)
        with call.stopping.watching(servers.aclose, servers.aclose):
            try:
                servers.start()
                await servers.settled(START_S)
                return use(servers)
            finally:
                await servers.aclose()


def _print_servers(call: Invocation, servers: Servers) -> int:
    for name, state, about in server_rows(servers, call.secrets.redacted):
        call.out.write(f"{name}  {state}  {one_line(about)}\n")
        rows = [tuple(map(one_line, row)) for row in function_rows(servers.connections[name])]
        width = max((len(row[0]) for row in rows), default=0)
        call.out.writelines(
            f"  {function:{width}}  {arguments}{f'  [{claim}]' if claim else ''}\n"
            for function, arguments, claim in rows
        )
    return int(any(one.failure for one in servers.connections.values()))


def _reached(call: Invocation, servers: Servers) -> tuple[Tool, ...]:
    for failure in servers.news():
        call.note(failure.message)
    return servers.tools


async def _nobody_answers(_: str, __: "ElicitRequestParams") -> "ElicitResult":
    from mcp.types import ElicitResult  # noqa: PLC0415  (a server that asks has loaded it)

    return ElicitResult(action="cancel")
