"""The tools and resources of the MCP server, over the sessions of its clients."""

import base64
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from terp import __version__
from terp.errors import TerpError, with_remedy
from terp_cli.mcp_server.client_session import ClientSession, installing, linked, type_of

Context = ServerRequestContext[Any, Any]
SessionOf = Callable[[Context], Awaitable[ClientSession]]
"""Returns the session of the client that sent a request; opens it with the first one."""
_LISTED = 200
_INSTRUCTIONS = """\
A live kernel: variables, imports and the working directory stay between calls, in {cwd}. \
Use it for all computing: load data once, then ask about it. Pictures come back as images. \
{safety} The result names a refused effect and the reason: do not work around it."""
_RUN = "Run code in the live kernel; variables stay for the next call. Returns output, the value of the last \
expression, pictures, and which variables and files changed."


def _field(kind: str, about: str) -> dict[str, Any]:
    return {"type": kind, "description": about}


def tool_list(languages: Sequence[str]) -> list[types.Tool]:
    """Return the tools; code runs in one of the `languages`, the first by default."""
    language = {"language": _field("string", f"one of {', '.join(languages)}; default {languages[0]}")}
    names = {**_field("array", "names, such as pandas or numpy>=2"), "items": {"type": "string"}}
    parts = {
        "n": _field("integer", "number of the run; -1 is the last"),
        "grep": _field("string", "only lines with this text; a|b for several"),
        "lines": _field("string", "only these lines: 1-50, 200-, or -20 for the last 20"),
    }
    rows: tuple[tuple[str, str, dict[str, Any], list[str]], ...] = (
        ("execute", _RUN, {"code": _field("string", "the code"), **language}, ["code"]),
        ("variables", "List the variables: name, type, shape, beginning.", {}, []),
        ("output", "Read the whole output of an earlier run, of which the result was cut.", parts, ["n"]),
        ("interrupt", "Stop the running code; variables stay.", {}, []),
        ("restart", "Restart the kernel: variables are lost.", language, []),
        ("install", "Install packages into the Python of the kernel.", {"packages": names}, ["packages"]),
    )
    return [
        types.Tool(
            name=name,
            description=about,
            input_schema={"type": "object", "properties": fields, "required": required},
            annotations=types.ToolAnnotations(read_only_hint=name in ("variables", "output")),
        )
        for name, about, fields, required in rows
    ]


def mcp_server(session_of: SessionOf, cwd: Path, safety: str) -> Server[Any]:
    """Return the server; `safety` is a sentence on the sandbox and on what is asked."""

    async def list_tools(ctx: Context, _: types.RequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tool_list((await session_of(ctx)).session.kernels.languages))

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        client, given = await session_of(ctx), params.arguments or {}
        try:
            return await _called(ctx, client, params.name, given)
        except TerpError as error:
            said = with_remedy(error.message, error.remedy)
        except KeyError as missing:
            said = f"The argument {missing} is missing."
        content = types.TextContent(text=client.session.resources.redacted(said))
        return types.CallToolResult(content=[content], is_error=True)

    async def list_resources(
        ctx: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        files = [linked(one) for one in (await session_of(ctx)).files()[:_LISTED]]
        return types.ListResourcesResult(resources=[types.Resource(**one) for one in files])

    async def read_resource(
        ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return _content_of(await session_of(ctx), str(params.uri))

    async def discover(_: Context, __: types.RequestParams | None) -> types.DiscoverResult:
        # Of all versions, only these have sessions: kernels live as long as they do.
        versions = list(HANDSHAKE_PROTOCOL_VERSIONS)
        return types.DiscoverResult(supported_versions=versions, capabilities=server.get_capabilities())

    instructions = _INSTRUCTIONS.format(cwd=cwd, safety=safety)
    calls: dict[str, Any] = {"on_list_tools": list_tools, "on_call_tool": call_tool}
    resources: dict[str, Any] = {"on_list_resources": list_resources, "on_read_resource": read_resource}
    server = Server[Any]("terp", version=__version__, instructions=instructions, **calls, **resources)
    server.add_request_handler("server/discover", types.RequestParams, discover)
    return server


async def _called(ctx: Context, client: ClientSession, tool: str, given: Any) -> types.CallToolResult:
    language = str(given.get("language") or client.session.kernels.languages[0])
    match tool:
        case "execute":
            return await _run(ctx, client, language, str(given["code"]))
        case "install":
            return await _run(ctx, client, "python", installing(given["packages"]))
        case "variables":
            said = await client.variables()
        case "output":
            said = client.output(str(given["n"]), str(given.get("grep") or ""), str(given.get("lines") or ""))
        case "interrupt":
            said = "Interrupted; variables stay." if await client.interrupt() else "Nothing is running."
        case "restart":
            said = await client.restart(language)
        case _:
            raise TerpError(f"There is no tool {tool!r}.")
    return types.CallToolResult(content=[types.TextContent(text=said)])


async def _run(ctx: Context, client: ClientSession, language: str, code: str) -> types.CallToolResult:
    capabilities, session = ctx.session.client_capabilities, ctx.session
    asks = capabilities is not None and capabilities.elicitation is not None
    elicit = partial(session.elicit_form, related_request_id=ctx.request_id) if asks else None
    return await client.run(language, code, elicit, session.report_progress)


def _content_of(client: ClientSession, uri: str) -> types.ReadResourceResult:
    about: dict[str, Any] = {"uri": uri, "mime_type": type_of(uri)}
    try:
        content = client.read(Path(unquote(urlsplit(uri).path)))
        text = client.session.resources.redacted(content.decode())
    except UnicodeDecodeError:
        blob = base64.b64encode(content).decode()
        return types.ReadResourceResult(contents=[types.BlobResourceContents(blob=blob, **about)])
    except (OSError, ValueError) as error:
        raise MCPError(types.INVALID_PARAMS, f"{uri} cannot be read: {error}") from error
    return types.ReadResourceResult(contents=[types.TextResourceContents(text=text, **about)])
