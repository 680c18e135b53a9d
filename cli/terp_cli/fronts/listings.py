"""Listings of languages, tools and MCP servers: their rows, and the commands that print them."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from terp.events.kernel import KnownLanguage
from terp.settings import Settings
from terp.tools.files.declared import Tool
from terp_cli.fronts.invocation import Invocation
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from mcp.types import ElicitRequestParams, ElicitResult

    from terp.tools.mcp.connection import ServerConnection
    from terp.tools.mcp.servers import Servers
    from terp.tools.toolbox import Toolbox

T = TypeVar("T")

NO_SERVERS = "There are no MCP servers: a profile or config.yaml names them under mcp_servers."


def language_rows(known: Sequence[KnownLanguage]) -> list[tuple[str, str, str]]:
    """Return names, state, and program or remedy of each language; missing languages come last."""
    return [_language_row(language) for language in sorted(known, key=lambda one: not one.by)]


def _language_row(language: KnownLanguage) -> tuple[str, str, str]:
    names = ", ".join(language.names)
    if not language.by:
        return names, "missing", language.remedy
    remarks = [] if language.keeps_state else ["each run starts fresh"]
    if language.keeps_state and not language.tells_variables:
        remarks.append("no /vars")
    if not language.tested:
        remarks.append("not tested")
    return names, "here", "; ".join([language.by, *remarks])


def tool_rows(tools: Sequence[Tool]) -> list[tuple[str, str, str]]:
    """Return name, arguments, and source of each tool; tools that lack something come last, with what."""
    return [_tool_row(tool) for tool in sorted(tools, key=lambda one: bool(one.missing))]


def _tool_row(tool: Tool) -> tuple[str, str, str]:
    source = f"{tool.source}, answered by you" if tool.how == "manual" else tool.source
    return tool.name, f"({tool.arguments})", f"missing: {tool.missing}" if tool.missing else source


def server_rows(servers: "Servers", redacted: Callable[[str], str]) -> list[tuple[str, str, str]]:
    """Return name, state, and description or failure of each server.

    `redacted` removes keys, such as one in the arguments of a program.
    """
    return [(one.name, one.state, redacted(_server_text(one))) for one in servers.connections.values()]


def function_rows(connection: "ServerConnection") -> list[tuple[str, str, str]]:
    """Return name in code, arguments, and the server's claim for each function of a server."""
    return [
        (one.declared.name, f"({one.declared.arguments})", "says it only reads" if one.read_only else "")
        for one in connection.functions.values()
    ]


def _server_text(one: "ServerConnection") -> str:
    if one.failure is not None:
        return one.failure.message.removeprefix(f"MCP server {one.name}: ")
    number = len(one.functions)
    offers = f"{number} function{'' if number == 1 else 's'}" if one.state == "ready" else ""
    return ", ".join(part for part in (offers, one.version, one.declared.where) if part)


def list_languages(call: Invocation) -> int:
    """Print the languages (`terp languages`); return the exit code."""
    from terp.kernels.jupyter.local import LocalKernels  # noqa: PLC0415  (/languages has a session's)
    from terp.opening.workbench import kernel_options  # noqa: PLC0415

    settings = call.settings()
    if settings.gateway_url:
        known, _ = asyncio.run(_at_gateway(call, settings))
    else:
        known = LocalKernels(str(call.cwd), kernel_options(settings), environ=call.environ).known()
    rows = language_rows(known)
    width = max(len(names) for names, _, _ in rows)
    call.out.writelines(f"{names:{width}}  {state:7}  {one_line(how)}\n" for names, state, how in rows)
    return 0


def list_tools(call: Invocation) -> int:
    """Print the functions that the model can call (`terp tools`); return the exit code."""
    from terp.kernels.jupyter.local import LocalKernels  # noqa: PLC0415  (/tools has a session's)
    from terp.opening.workbench import kernel_options  # noqa: PLC0415
    from terp.tools.files.reading import read_toolbox  # noqa: PLC0415

    settings = call.settings()
    if settings.gateway_url:
        _, toolbox = asyncio.run(_at_gateway(call, settings))
    else:
        kernels = LocalKernels(str(call.cwd), kernel_options(settings), environ=call.environ)
        toolbox = read_toolbox(settings, call.environ, call.places, kernels, call.project.tools)
    tools = (*toolbox.tools, *(_server_tools(call, settings) if toolbox.tools else ()))
    rows = [tuple(map(one_line, row)) for row in tool_rows(tools)]
    if not rows:
        call.note(
            "there are no tools: they are functions of the Python kernel, and Python does not run here."
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    call.out.writelines(
        f"{name:{widths[0]}}  {arguments:{widths[1]}}  {source}\n" for name, arguments, source in rows
    )
    for problem in toolbox.problems:
        call.note(problem)
    return 0


async def _at_gateway(call: Invocation, settings: Settings) -> "tuple[Sequence[KnownLanguage], Toolbox]":
    """Return the languages and the tools behind the gateway of this call; start no kernel."""
    from terp.opening.remote_workbench import open_gateway  # noqa: PLC0415  (most code runs here)
    from terp.store.places import Place  # noqa: PLC0415

    place = Place(call.places.sessions)
    bench = await open_gateway(settings, project=call.project, environ=call.environ, place=place)
    try:
        return bench.kernels.known(), bench.toolbox
    finally:
        await bench.kernels.aclose()


def check_servers(call: Invocation) -> int:
    """Connect to every MCP server and print its functions (`terp mcp`); return 1 if one cannot be reached."""
    settings = call.settings()
    if not settings.mcp_servers:
        call.note(NO_SERVERS)
        return 0
    return asyncio.run(_with_servers(call, settings, partial(_print_servers, call)))


def _server_tools(call: Invocation, settings: Settings) -> tuple[Tool, ...]:
    """Return the functions of all servers that can be reached; report the others."""
    if not settings.mcp_servers:
        return ()
    return asyncio.run(_with_servers(call, settings, partial(_reached, call)))


async def _with_servers(call: Invocation, settings: Settings, use: "Callable[[Servers], T]") -> T:
    """Connect to the servers, return `use(servers)`, and close them."""
    from terp.tools.mcp.connection import START_S  # noqa: PLC0415  (most calls have no server)
    from terp.tools.mcp.servers import Servers  # noqa: PLC0415
    from terp.tools.mcp.transports import Programs  # noqa: PLC0415

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


def _print_servers(call: Invocation, servers: "Servers") -> int:
    for name, state, about in server_rows(servers, call.secrets.redacted):
        call.out.write(f"{name}  {state}  {one_line(about)}\n")
        rows = [tuple(map(one_line, row)) for row in function_rows(servers.connections[name])]
        width = max((len(row[0]) for row in rows), default=0)
        call.out.writelines(
            f"  {function:{width}}  {arguments}{f'  [{claim}]' if claim else ''}\n"
            for function, arguments, claim in rows
        )
    return int(any(one.failure for one in servers.connections.values()))


def _reached(call: Invocation, servers: "Servers") -> tuple[Tool, ...]:
    for failure in servers.news():
        call.note(failure.message)
    return servers.tools


async def _nobody_answers(_: str, __: "ElicitRequestParams") -> "ElicitResult":
    from mcp.types import ElicitResult  # noqa: PLC0415  (a server that asks has loaded it)

    return ElicitResult(action="cancel")
