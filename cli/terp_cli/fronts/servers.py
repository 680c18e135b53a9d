"""MCP servers as people are told of them: which there are, how they are, what they offer."""

import asyncio
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from terp.settings import Settings
from terp.tools.files.declared import Tool
from terp.tools.mcp.connection import START_S, Connection
from terp.tools.mcp.programs import Programs
from terp.tools.mcp.servers import Servers
from terp_cli.fronts.call import Call
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from mcp.types import ElicitRequestParams, ElicitResult

T = TypeVar("T")

NONE = "There are no MCP servers: a profile or config.yaml names them under mcp_servers."


def listed(servers: Servers, redacted: Callable[[str], str]) -> list[tuple[str, str, str]]:
    """For each server its name, its state, and what it is or why it is down.

    `redacted` takes keys out, such as one that a program gets as an argument.
    """
    return [(one.name, one.state, redacted(_about(one))) for one in servers.connections.values()]


def functions(connection: Connection) -> list[tuple[str, str, str]]:
    """For each function of a server its name in code, its arguments, and what the server claims."""
    return [
        (one.declared.name, f"({one.declared.arguments})", "says it only reads" if one.read_only else "")
        for one in connection.functions.values()
    ]


def _about(one: Connection) -> str:
    if one.failure is not None:
        return one.failure.message.removeprefix(f"MCP server {one.name}: ")
    number = len(one.functions)
    offers = f"{number} function{'' if number == 1 else 's'}" if one.state == "ready" else ""
    return ", ".join(part for part in (offers, one.version, one.declared.where) if part)


def check(call: Call) -> int:
    """Connect to every server and say what it offers; 1 when one of them cannot be reached."""
    settings = call.settings()
    if not settings.mcp_servers:
        call.tell(NONE)
        return 0
    return asyncio.run(_with_servers(call, settings, partial(_told, call)))


def tools_of(call: Call, settings: Settings) -> tuple[Tool, ...]:
    """The functions of all servers that can be reached; why one cannot is told."""
    if not settings.mcp_servers:
        return ()
    return asyncio.run(_with_servers(call, settings, partial(_found, call)))


async def _with_servers(call: Call, settings: Settings, use: Callable[[Servers], T]) -> T:
    """What `use` makes of the servers, which are asked what they offer and let go again."""
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


def _told(call: Call, servers: Servers) -> int:
    for name, state, about in listed(servers, call.secrets.redacted):
        call.out.write(f"{name}  {state}  {one_line(about)}\n")
        rows = [tuple(map(one_line, row)) for row in functions(servers.connections[name])]
        width = max((len(row[0]) for row in rows), default=0)
        call.out.writelines(
            f"  {function:{width}}  {arguments}{f'  [{claim}]' if claim else ''}\n"
            for function, arguments, claim in rows
        )
    return int(any(one.failure for one in servers.connections.values()))


def _found(call: Call, servers: Servers) -> tuple[Tool, ...]:
    for failure in servers.news():
        call.tell(failure.message)
    return servers.tools


async def _nobody_answers(_: str, __: "ElicitRequestParams") -> "ElicitResult":
    from mcp.types import ElicitResult  # noqa: PLC0415  (who is asked has it)

    return ElicitResult(action="cancel")
