"""Rows of the listings of languages, tools and MCP servers."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from terp.events.kernel import KnownLanguage
from terp.settings.profile_file import short_path
from terp.text.plain import counted
from terp.tools.files.declared import Tool
from terp.tools.skills import Skills

if TYPE_CHECKING:
    from terp.tools.mcp.connection import ServerConnection
    from terp.tools.mcp.servers import Servers

NO_SERVERS = "There are no MCP servers: add them to mcp_servers in a profile or config.yaml."


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
    """Return name, arguments, and source of each tool; tools that lack a dependency come last."""
    return [_tool_row(tool) for tool in sorted(tools, key=lambda one: bool(one.missing))]


def skill_rows(skills: Skills) -> list[tuple[str, str, str]]:
    """Return name, description, and folder of each skill, with the tools that it asks for."""
    return [
        (one.name, one.description, f"{short_path(one.folder)}{one.not_granted}")
        for one in skills.by_name.values()
    ]


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
    offers = counted(len(one.functions), "function") if one.state == "ready" else ""
    return ", ".join(part for part in (offers, one.version, one.declared.where) if part)
